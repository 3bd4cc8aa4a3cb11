"""`turn`: what is added inside is there as a whole, or it never was."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import ConflictError, MessageError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import user
from chatmem_lab.policies import KeepAll, MessageWindow, policy_from
from chatmem_lab.stores import MemoryStore
from chatmem_lab.testing.length_counter import LengthCounter
from replaying import calls, chat


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def memory(store):
    return ChatMemory(MessageWindow(2), id="test", store=store, counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


def everything(memory, store):
    return (memory.snapshot(), memory.messages, memory.branches, store.read(memory.id).commits)


def test_reads_inside_show_what_is_staged_and_the_store_knows_it_at_the_end(memory, store):
    memory.add_user("a")
    before = store.read("test").commits
    other = ChatMemory(id="test", store=store, counter=LengthCounter())
    with memory.turn() as inside:
        assert inside is memory
        memory.add_assistant("b")
        memory.add_user("c")
        assert texts(memory.history) == ["a", "b", "c"]
        assert texts(memory.messages) == ["b", "c"]
        assert (memory.tokens, len(memory)) == (2 + 2 + 3, 3)
        assert [event.kind for event in memory.events] == ["evict"]
        assert texts(memory.request()) == ["b", "c"]
        assert store.read("test").commits == before
        assert texts(other.history) == ["a"]
    assert texts(other.history) == ["a", "b", "c"]
    assert texts(memory.messages) == ["b", "c"]


@pytest.mark.parametrize("error", [TimeoutError, KeyboardInterrupt, GeneratorExit, SystemExit])
def test_an_error_discards_the_whole_turn_and_goes_on_its_way(memory, store, error):
    memory.add_all(chat("uaua"))
    before = everything(memory, store)
    with pytest.raises(error):
        fail_in_a_turn(memory, error)
    assert everything(memory, store) == before
    memory.add_user("goes on")
    assert texts(memory.history) == ["0", "1", "2", "3", "goes on"]
    assert texts(memory.messages) == ["3", "goes on"]


def fail_in_a_turn(memory, error):
    with memory.turn():
        memory.add_user("staged")
        assert texts(memory.messages)[-1] == "staged"
        memory.add(calls("c1"))
        memory.add_tool_output("c1", "x")
        raise error("the model did not answer")


@pytest.mark.parametrize(
    "change",
    [
        lambda memory, snapshot: memory.clear(),
        lambda memory, snapshot: memory.clear(keep_system=True),
        lambda memory, snapshot: memory.set([user("x")]),
        lambda memory, snapshot: memory.restore(snapshot),
        lambda memory, snapshot: memory.add_all([user("x"), user("y")]),
    ],
    ids=["clear", "clear but system", "set", "restore", "add_all"],
)
def test_other_changes_inside_are_kept_or_discarded_too(memory, store, change):
    memory.add_user("first")
    snapshot = memory.snapshot()
    memory.add_all(chat("sua"))
    before = everything(memory, store)
    with pytest.raises(TimeoutError):
        change_and_fail(memory, snapshot, change)
    assert everything(memory, store) == before
    with memory.turn():
        memory.add_user("staged")
        change(memory, snapshot)
        memory.add_user("staged, too")
        wanted = (memory.snapshot(), memory.messages, memory.branches)
    assert (memory.snapshot(), memory.messages, memory.branches) == wanted
    again = ChatMemory(MessageWindow(2), id="test", store=store, counter=LengthCounter())
    assert (again.snapshot(), again.messages, again.branches) == wanted


def change_and_fail(memory, snapshot, change):
    with memory.turn():
        memory.add_user("staged")
        change(memory, snapshot)
        memory.add_user("staged, too")
        raise TimeoutError


def test_a_refusal_that_is_caught_inside_leaves_the_rest_of_the_turn(memory):
    with memory.turn():
        memory.add_user("a")
        with pytest.raises(MessageError, match="says nothing"):
            memory.add_user(" ")
        with pytest.raises(MessageError, match=r"messages\[1\]"):
            memory.add_all([user("b"), user("")])
        assert texts(memory.history) == ["a"]
        memory.add_assistant("c")
    assert texts(memory.history) == ["a", "c"]


def test_a_refusal_that_is_not_caught_discards_the_turn(memory, store):
    with pytest.raises(MessageError, match="says nothing"):
        add_in_a_turn(memory, "a", " ")
    assert (memory.history, store.version("test")) == ((), 0)


def add_in_a_turn(memory, *added):
    with memory.turn():
        for text in added:
            memory.add_user(text)


def test_turns_do_not_nest(memory):
    with memory.turn():
        memory.add_user("a")
        with pytest.raises(MessageError, match="a turn is open already"):
            add_in_a_turn(memory, "b")
        memory.add_assistant("c")
    assert texts(memory.history) == ["a", "c"]
    add_in_a_turn(memory, "d")
    assert texts(memory.history) == ["a", "c", "d"]


def test_a_turn_in_which_nothing_happens_writes_nothing(memory, store):
    with memory.turn():
        assert memory.messages == ()
    assert store.version("test") == 0


def test_a_turn_that_was_overtaken_is_discarded_and_the_other_writer_loses_nothing(memory, store):
    memory.add_user("a")
    other = ChatMemory(MessageWindow(2), id="test", store=store, counter=LengthCounter())
    with pytest.raises(ConflictError, match=r"'test' is at version \d+.*knew version \d+"):
        be_overtaken(memory, other)
    assert texts(memory.history) == ["a", "theirs"]
    assert texts(memory.messages) == ["a", "theirs"]
    add_in_a_turn(memory, "mine")
    assert texts(other.history) == ["a", "theirs", "mine"]
    assert texts(other.messages) == ["theirs", "mine"]


def be_overtaken(memory, other):
    with memory.turn():
        memory.add_user("mine")
        other.add_user("theirs")
        assert texts(memory.history) == ["a", "mine"]


def test_what_was_handed_out_inside_changes_nothing_inside(memory):
    with memory.turn():
        memory.add_user("a", metadata={"tags": ["t"]})
        memory.history[0].metadata["tags"].append("u")
        memory.messages[0].metadata.clear()
    assert memory.history[0].metadata == {"tags": ["t"]}


def test_a_fork_inside_a_turn_begins_with_what_is_staged_and_outlives_the_turn(memory):
    with pytest.raises(TimeoutError):
        fork_and_fail(memory)
    assert memory.history == ()


def fork_and_fail(memory):
    with memory.turn():
        memory.add_user("a")
        fork = memory.fork("fork")
        assert texts(fork.history) == ["a"]
        raise TimeoutError


def every_second(messages):
    return messages[::2]


def test_readings_in_a_turn_that_fails_are_forgotten_with_it(store):
    policy = policy_from(every_second, sees="history")
    memory = ChatMemory(policy, id="test", store=store, counter=LengthCounter())
    memory.add_all([user(letter) for letter in "abc"])
    assert texts(memory.messages) == ["a", "c"]
    events = memory.events
    with pytest.raises(TimeoutError):
        read_and_fail(memory)
    assert texts(memory.messages) == ["a", "c"]
    assert [event.kind for event in memory.events] == [event.kind for event in events] == ["evict"]


def read_and_fail(memory):
    with memory.turn():
        memory.add_all([user("d"), user("e")])
        assert texts(memory.messages) == ["a", "c", "e"]
        raise TimeoutError


def test_a_policy_set_in_a_turn_that_fails_goes_or_stays_with_its_window(store):
    memory = ChatMemory(KeepAll(), id="test", store=store, counter=LengthCounter())
    memory.add_all(chat("uaua"))
    with pytest.raises(TimeoutError):
        set_policy_and_fail(memory, MessageWindow(1))
    assert (memory.policy, texts(memory.messages)) in (
        (KeepAll(), ["0", "1", "2", "3"]),
        (MessageWindow(1), ["3"]),
    )


def set_policy_and_fail(memory, policy):
    with memory.turn():
        memory.set_policy(policy)
        raise TimeoutError
