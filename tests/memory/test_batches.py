"""Several messages at once: asked for each or once, entered as added or as given."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import BudgetError, MessageError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import assistant, system, tool_output, user
from chatmem_lab.policies import KeepAll, MessageWindow, Preset, Rules, TokenWindow, policy_from
from chatmem_lab.stores import MemoryStore
from chatmem_lab.testing.length_counter import LengthCounter
from replaying import calls, chat

# Over four messages, down to two.
POLICY = MessageWindow(4, low=2)


def memory_of(policy=POLICY, id="test", store=None, **rules):
    preset = Preset(policy, Rules(**rules))
    return ChatMemory(preset, id=id, store=store, counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


def evictions(memory):
    return [(event.position, event.units) for event in memory.events if event.kind == "evict"]


def test_asked_after_each():
    memory = memory_of(batch="each")
    memory.add_all(chat("uauaua"))
    assert texts(memory.messages) == ["3", "4", "5"]
    assert evictions(memory) == [(4, ((0,), (1,), (2,)))]


def test_asked_once_at_the_end():
    memory = memory_of(batch="once")
    memory.add_all(chat("uauaua"))
    assert texts(memory.messages) == ["4", "5"]
    assert evictions(memory) == [(5, ((0,), (1,), (2,), (3,)))]


def test_one_message_at_a_time_is_asked_for_each_whatever_the_rule():
    memory = memory_of(batch="once")
    for message in chat("uauaua"):
        memory.add(message)
    assert texts(memory.messages) == ["3", "4", "5"]


def test_each_batch_is_asked_for_once():
    memory = memory_of(batch="once")
    memory.add_all(chat("uau"))
    memory.add_all([assistant("3"), user("4"), assistant("5")])
    memory.add_all([user("6")])
    assert texts(memory.messages) == ["4", "5", "6"]
    assert evictions(memory) == [(5, ((0,), (1,), (2,), (3,)))]


def test_a_batch_that_ends_with_an_open_call_is_asked_for_when_it_closes():
    memory = memory_of(MessageWindow(2), batch="once")
    memory.add_all([user("0"), user("1"), calls("c1", text="2")])
    assert texts(memory.messages) == ["0", "1", "2"]
    memory.add_all([tool_output("c1", "3")])
    assert texts(memory.messages) == ["2", "3"]


@pytest.mark.parametrize("batch", ["each", "once"])
def test_a_batch_that_is_refused_leaves_nothing_behind(batch):
    store = MemoryStore()
    memory = memory_of(batch=batch, store=store)
    memory.add_all(chat("sua"))
    before = (memory.snapshot(), store.read("test").commits)
    with pytest.raises(MessageError, match=r"^messages\[5\]: this assistant message says nothing"):
        memory.add_all([*chat("uauau"), assistant("")])
    assert (memory.snapshot(), store.read("test").commits) == before
    memory.add_all(chat("ua"))
    assert texts(memory.messages) == ["0", "1", "2", "0", "1"]


@pytest.mark.parametrize("batch", ["each", "once"])
def test_an_empty_batch_writes_nothing(batch):
    store = MemoryStore()
    memory = memory_of(batch=batch, store=store)
    memory.add_all([])
    memory.add_all(iter(()))
    assert store.version("test") == 0


@pytest.mark.parametrize("batch", ["each", "once"])
def test_a_batch_is_one_commit_and_comes_back_the_same(batch):
    store = MemoryStore()
    memory = memory_of(batch=batch, store=store)
    memory.add_all(chat("suauaua"))
    assert len(store.read("test").commits) == 1
    again = memory_of(batch=batch, store=store)
    assert again.snapshot() == memory.snapshot()
    assert again.messages == memory.messages


def test_within_one_batch_the_rules_see_what_came_before():
    for batch in ("each", "once"):
        memory = memory_of(KeepAll(), id=batch, batch=batch)
        memory.add_all([system("A"), user("u"), system("A"), system("B"), calls("c1")])
        memory.add_all([tool_output("c1", "r"), system("B")])
        assert texts(memory.history) == ["A", "u", "B", "", "r"]
        assert texts(memory.messages) == ["B", "u", "", "r"]


# --- set


def test_set_as_added():
    memory = memory_of(MessageWindow(2), set_as="added")
    memory.set([user("a"), system("S"), system("S"), user("b"), system("T"), user("c")])
    assert texts(memory.history) == ["a", "S", "b", "T", "c"]
    assert texts(memory.messages) == ["T", "b", "c"]


def test_set_as_given():
    memory = memory_of(MessageWindow(2), set_as="given")
    memory.set([user("a"), system("S"), system("S"), user("b"), system("T"), user("c")])
    assert texts(memory.history) == ["a", "S", "S", "b", "T", "c"]
    assert texts(memory.messages) == ["S", "S", "b", "T", "c"]
    assert evictions(memory) == [(5, ((0,),))]


def test_set_as_given_asks_once():
    given = memory_of(set_as="given")
    given.set(chat("uauaua"))
    assert texts(given.messages) == ["4", "5"]
    added = memory_of(set_as="added")
    added.set(chat("uauaua"))
    assert texts(added.messages) == ["3", "4", "5"]


def test_set_as_given_does_not_change_what_is_added():
    memory = memory_of(KeepAll(), set_as="given")
    memory.set([system("A"), user("u"), system("B")])
    memory.add_all([system("A"), system("C")])
    assert texts(memory.history) == ["A", "u", "B", "C"]
    assert texts(memory.messages) == ["C", "u", "B"]


def all_of_them(messages):
    return list(messages)


@pytest.mark.parametrize(
    "policy", [KeepAll(), policy_from(all_of_them, sees="history")], ids=["window", "history"]
)
def test_what_was_given_stays_as_given_wherever_it_goes(policy):
    store = MemoryStore()
    memory = memory_of(policy, set_as="given", store=store)
    memory.add_user("left")
    memory.set([user("a"), system("S"), system("T"), system("S")])
    wanted = ["a", "S", "T", "S"]
    assert texts(memory.messages) == wanted
    assert texts(memory_of(policy, set_as="given", store=store).messages) == wanted
    other = memory_of(policy, id="other", set_as="given")
    other.restore(memory.snapshot())
    assert texts(other.messages) == wanted
    assert texts(memory.fork("fork").messages) == wanted
    fork = memory.fork("fork at", 3)
    assert (texts(fork.history), texts(fork.messages)) == (wanted[:3], wanted[:3])


# --- oversize: a budget of 20 holds 3 of reply priming, 1 of the message and 16 letters


def test_oversize_error_refuses_what_alone_exceeds_the_budget():
    memory = memory_of(TokenWindow(20), oversize="error")
    memory.add_user("x" * 16)
    before = memory.snapshot()
    with pytest.raises(BudgetError, match=r"20 tokens.*21 tokens.*this message 18.*priming 3"):
        memory.add_user("y" * 17)
    with pytest.raises(BudgetError, match=r"^messages\[1\]: .*20 tokens"):
        memory.add_all([user("a"), user("y" * 17)])
    assert memory.snapshot() == before
    memory.add_user("z" * 16)
    assert texts(memory.messages) == ["z" * 16]


def test_oversize_error_counts_the_tool_schemas_too():
    preset = Preset(TokenWindow(34), Rules(oversize="error"))
    # 14 characters of schema: [{"name":"f"}]
    memory = ChatMemory(preset, id="test", counter=LengthCounter(), tools=[{"name": "f"}])
    memory.add_user("x" * 16)
    with pytest.raises(BudgetError, match=r"this message 18, tool schemas 14, reply priming 3"):
        memory.add_user("x" * 17)


def test_oversize_evict_leaves_it_to_the_history():
    memory = memory_of(TokenWindow(20), oversize="evict")
    memory.add_user("small")
    memory.add_user("y" * 17)
    assert texts(memory.history) == ["small", "y" * 17]
    assert texts(memory.messages) == ["small"]
    assert evictions(memory) == [(1, ((1,),))]
    assert texts(memory.request()) == ["small"]
    memory.add_user("x" * 16)
    assert texts(memory.messages) == ["x" * 16]


def test_oversize_evict_never_parts_a_call_from_its_result():
    memory = memory_of(TokenWindow(20), oversize="evict")
    memory.add(calls("c1", text="x" * 30))
    memory.add_tool_output("c1", "y" * 30)
    assert texts(memory.messages) == ["x" * 30, "y" * 30]
    assert "over_budget" in [event.kind for event in memory.events]
    memory.add_user("small")
    assert texts(memory.messages) == ["small"]


def test_oversize_keep_stays_and_is_marked():
    memory = memory_of(TokenWindow(20), oversize="keep")
    memory.add_user("small")
    memory.add_user("y" * 17)
    assert texts(memory.messages) == ["y" * 17]
    assert [event.kind for event in memory.events] == ["evict", "over_budget"]
    with pytest.raises(BudgetError, match="20 tokens"):
        memory.request()
    assert len(memory.to_chat()) == 1


@pytest.mark.parametrize("oversize", ["error", "evict"])
def test_without_a_budget_nothing_is_oversize(oversize):
    memory = memory_of(MessageWindow(3), oversize=oversize)
    memory.add_user("y" * 10_000)
    assert len(memory.messages) == 1
