"""Every policy and preset, found and not listed: live it leaves what a replay leaves."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings

from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.errors import BudgetError, MessageError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import Conversation
from chatmem_lab.policies import split_preset
from chatmem_lab.testing import LengthCounter
from chatmem_lab.testing.strategies import message_lists
from recipes import LIVE, small


def sent(memory):
    """The keys of what a request would send; None where it does not fit."""
    try:
        return [message.key for message in memory.request()]
    except BudgetError:
        return None


def shown(trace, request):
    return [message.key for message in trace.window(request).messages]


@pytest.mark.parametrize("name", LIVE)
@settings(max_examples=60, deadline=None)
@given(messages=message_lists(max_size=30))
def test_live_equals_replay_at_every_step(name, messages):
    policy = small(name)
    _, rules = split_preset(policy)
    memory = ChatMemory(policy, id="live", counter=LengthCounter())
    seen = []
    for message in messages:
        # A read asks the policies that wait for requests: here as in a replay, before each.
        taken = rules.blank == "keep" or not message.is_blank
        if message.role == "assistant" and message.generated and taken:
            seen.append(sent(memory))
        with suppress(MessageError):
            memory.add(message)
    seen.append(sent(memory))
    conversation = Conversation("live", memory.history)
    trace = replay_stepwise(Layout(conversation, LengthCounter()), policy, model=None)
    replayed = [shown(trace, request) for request in (*range(trace.requests), -1)]
    assert len(seen) == len(replayed)
    for live, again in zip(seen, replayed):
        assert live is None or live == again
    live = [(e.kind, e.position, e.request, e.units, e.reason) for e in memory.events]
    assert live == [(e.kind, e.position, e.request, e.units, e.reason) for e in trace.events]
