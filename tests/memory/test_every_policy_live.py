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
from chatmem_lab.policies.registry import parse_policy, policies_by_name, presets_by_name
from chatmem_lab.testing import LengthCounter
from chatmem_lab.testing.strategies import message_lists

#: Small enough that something leaves.
RECIPES = {
    "message-window": "message-window:4",
    "token-window": "token-window:90",
    "turn-window": "turn-window:2",
    "clear-tool-results": "clear-tool-results:1,placeholder=[x]",
    "summarize": "summarize:truncate:30,trigger=messages:5,keep=messages:2",
    "langchain4j-message-window": "langchain4j-message-window:4,first_request=untrimmed",
    "langchain4j-token-window": "langchain4j-token-window:90,keep_system_first=true",
    "ai4j-message-window": "ai4j-message-window:3",
    "ai4j-summary": "ai4j-summary:truncate:40,max_recent=2,trigger=5",
    "ai4j-turn-compaction": "ai4j-turn-compaction:truncate:40,max_items=4",
    "ai4j-tool-result-stub": "ai4j-tool-result-stub:1,max_tokens=0,target_tokens=5",
    "ai4j-agent-window": "ai4j-agent-window:4,summary=earlier",
    "ai4j-agent-unbounded": "ai4j-agent-unbounded:earlier",
    "ai4j-context-projection": "ai4j-context-projection:5,max_chars=150,pinned_prefix_items=1",
    "spring-ai-message-window": "spring-ai-message-window:5,first_request=untrimmed",
    "book-message-window": "book-message-window:4",
    "book-token-window": "book-token-window:90",
    "summarizing-token-window": "summarizing-token-window:truncate:30,max_tokens=90,"
    "keep=messages:2",
}
NAMES = sorted({**policies_by_name(), **presets_by_name()})


def sent(memory):
    """The keys of what a request would send; None where it does not fit."""
    try:
        return [message.key for message in memory.request()]
    except BudgetError:
        return None


def shown(trace, request):
    return [message.key for message in trace.window(request).messages]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(messages=message_lists(max_size=30))
def test_live_equals_replay_at_every_step(name, messages):
    policy = parse_policy(RECIPES.get(name, name))
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
