"""A memory that was forked, restored or opened again goes on as if nothing had happened."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.errors import SummarizerError
from chatmem_lab.memory import ChatMemory, Snapshot
from chatmem_lab.messages import Conversation
from chatmem_lab.policies import KeepAll, Messages, Summarize, TokenWindow, policy_from
from chatmem_lab.stores import MemoryStore
from chatmem_lab.summarizers import Summary
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.testing.strategies import message_lists
from replaying import calls
from test_memory import POLICIES


@dataclass(frozen=True)
class FailsOften:
    """Fails for an even number of messages, is silent for a multiple of three."""

    def summarize(self, request):
        held = len(request.messages)
        if held % 2 == 0:
            raise SummarizerError(f"{held} messages are too even")
        return Summary(text="" if held % 3 == 0 else f"{held}")


FAILING = Summarize(FailsOften(), trigger=Messages(4), keep=Messages(2))
EVERY_POLICY = [*POLICIES, FAILING, FAILING | TokenWindow(60)]


def reopened(memory, at, policy):
    return ChatMemory(policy, id=memory.id, store=memory._session.store, counter=LengthCounter())


def restored_elsewhere(memory, at, policy):
    other = ChatMemory(policy, id="other", counter=LengthCounter())
    other.add_user("what is left as a branch")
    other.restore(Snapshot.from_json(memory.snapshot().to_json()))
    return other


def restored_here(memory, at, policy):
    snapshot = memory.snapshot()
    memory.add_user("what might have been")
    memory.restore(snapshot)
    return memory


def forked(memory, at, policy):
    return memory.fork("fork")


def forked_from_before(memory, at, policy):
    return memory.fork("fork", at)


def aborted(memory, at, policy):
    with pytest.raises(TimeoutError):
        abort_a_turn(memory)
    return memory


def abort_a_turn(memory):
    with memory.turn():
        memory.add_user("staged")
        memory.add_assistant("staged, too")
        raise TimeoutError


DETOURS = [reopened, restored_elsewhere, restored_here, forked, forked_from_before, aborted]


def entries(messages):
    return [message.key for message in messages]


def event_facts(events):
    """Without those kinds whose repetition and loss have tests of their own, below."""
    return [
        (e.kind, e.position, e.request, e.units, e.reason)
        for e in events
        if e.kind not in ("over_budget", "repair")
    ]


@pytest.mark.parametrize("policy", EVERY_POLICY, ids=repr)
@given(messages=message_lists(tidy=True, max_size=24), data=st.data())
def test_after_a_detour_every_window_is_that_of_a_replay(policy, messages, data):
    memory = ChatMemory(policy, id="test", store=MemoryStore(), counter=LengthCounter())
    cut = data.draw(st.integers(0, len(messages)), label="cut")
    seen = add_and_read(memory, messages[:cut])
    detour = data.draw(st.sampled_from(DETOURS), label="detour")
    at = data.draw(st.integers(0, len(memory)), label="at")
    gone = memory.history[at:] if detour is forked_from_before else ()
    memory = detour(memory, at, policy)
    known = sum(m.role == "assistant" and m.generated for m in memory.history)
    seen = seen[:known] + add_and_read(memory, [*gone, *messages[cut:]])
    trace = replay_stepwise(
        Layout(Conversation("test", memory.history), LengthCounter()), policy, model=None
    )
    replayed = [entries(trace.window(request).messages) for request in range(trace.requests)]
    assert seen == replayed
    assert entries(memory.messages) == entries(trace.window(-1).messages)
    assert event_facts(memory.events) == event_facts(trace.events)


def add_and_read(memory, messages):
    """The window at each request, in order."""
    seen = []
    for message in messages:
        if message.role == "assistant" and message.generated:
            seen.append(entries(memory.messages))
        memory.add(message)
    return seen


def over_budget_while_open(detour):
    """The kinds of events of a call group over its budget, with a detour before its end."""
    policy = TokenWindow(20)
    memory = ChatMemory(policy, id="test", store=MemoryStore(), counter=LengthCounter())
    memory.add(calls("c1", "c2"))
    memory.add_tool_output("c1", "x" * 30)
    memory = detour(memory, 2, policy)
    memory.add_tool_output("c2", "done")
    return [event.kind for event in memory.events]


def test_a_group_that_outgrows_the_budget_is_told():
    assert over_budget_while_open(lambda memory, at, policy: memory) == ["over_budget"]


@pytest.mark.parametrize("detour", DETOURS, ids=lambda detour: detour.__name__)
def test_a_group_that_outgrows_the_budget_is_told_after_a_detour(detour):
    assert over_budget_while_open(detour) == ["over_budget"]


def repaired(detour):
    """What is told of a window that is read before a detour and after it."""
    policy = policy_from(last_two, sees="history")
    memory = ChatMemory(policy, id="test", store=MemoryStore(), counter=LengthCounter())
    memory.add_user("look")
    memory.add(calls("c1"))
    memory.add_tool_output("c1", "found")
    memory.add_assistant("here")
    assert [m.role for m in memory.messages] == ["assistant", "tool", "assistant"]
    memory = detour(memory, 4, policy)
    assert [m.role for m in memory.messages] == ["assistant", "tool", "assistant"]
    return [event.kind for event in memory.events if event.kind == "repair"]


def last_two(messages):
    return messages[-2:]


def test_a_window_that_is_repaired_is_told_once():
    assert repaired(lambda memory, at, policy: memory) == ["repair"]
    assert repaired(reopened) == ["repair"]


@pytest.mark.parametrize("detour", [restored_elsewhere, restored_here, forked])
def test_a_window_that_is_repaired_is_told_once_whatever_the_detour(detour):
    assert repaired(detour) == ["repair"]


def test_the_policies_are_there():
    assert len(POLICIES) >= 12
    assert any(isinstance(policy, KeepAll) for policy in POLICIES)
