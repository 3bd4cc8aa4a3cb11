"""`fork`: another memory with the same past."""

from __future__ import annotations

from uuid import UUID

import pytest

from chatmem_lab.errors import MessageError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import system, tool_output, user
from chatmem_lab.policies import KeepAll, Messages, MessageWindow, Preset, Rules, Summarize
from chatmem_lab.stores import MemoryStore
from chatmem_lab.summarizers import Summary
from chatmem_lab.testing.length_counter import LengthCounter
from replaying import calls, chat


def memory_of(policy=None, id="test", **options):
    return ChatMemory(policy, id=id, counter=LengthCounter(), **options)


def texts(messages):
    return [message.text for message in messages]


def test_a_fork_begins_with_the_past_and_shares_nothing_from_there_on():
    memory = memory_of()
    memory.add_user("a", metadata={"tags": ["t"]})
    fork = memory.fork("what-if")
    memory.add_assistant("b")
    fork.add_assistant("c")
    assert (texts(memory.history), texts(fork.history)) == (["a", "b"], ["a", "c"])
    assert (texts(memory.messages), texts(fork.messages)) == (["a", "b"], ["a", "c"])
    fork.clear()
    assert texts(memory.history) == ["a", "b"]
    fork.branches[0].messages[0].metadata["tags"].append("u")
    assert memory.history[0].metadata == {"tags": ["t"]}


def test_a_fork_has_the_policy_model_counter_and_tools_and_lies_in_the_same_store():
    store = MemoryStore()
    memory = memory_of(MessageWindow(2), store=store, tools=[{"name": "f"}])
    memory.add_all(chat("uaua"))
    fork = memory.fork("what-if")
    assert (fork.id, fork.policy, fork.tools) == ("what-if", MessageWindow(2), ({"name": "f"},))
    assert fork.counter is memory.counter
    assert (fork.model, fork.tokens) == (memory.model, memory.tokens)
    again = memory_of(MessageWindow(2), id="what-if", store=store)
    assert (texts(again.history), texts(again.messages)) == (["0", "1", "2", "3"], ["2", "3"])


@pytest.mark.parametrize(
    ("at", "history", "window"),
    [
        (0, [], []),
        (1, ["0"], ["0"]),
        (2, ["0", "1"], ["0", "1"]),
        (3, ["0", "1", "2"], ["0", "1", "2"]),
        (4, ["0", "1", "2", "3"], ["0", "2", "3"]),
        (5, ["0", "1", "2", "3", "4"], ["0", "3", "4"]),
        (None, ["0", "1", "2", "3", "4"], ["0", "3", "4"]),
    ],
)
def test_at_gives_history_and_window_as_they_were_then(at, history, window):
    memory = memory_of(MessageWindow(2))
    memory.add_all(chat("suaua"))
    fork = memory.fork("fork", at)
    assert (texts(fork.history), texts(fork.messages)) == (history, window)
    assert fork.branches == ()
    fork.add_user("next")
    assert texts(fork.history) == [*history, "next"]


def test_a_system_message_that_was_replaced_since_is_there_again():
    memory = memory_of()
    memory.add_all([system("A"), user("u"), system("B")])
    assert texts(memory.messages) == ["B", "u"]
    assert texts(memory.fork("before", 2).messages) == ["A", "u"]
    assert memory.fork("before-2", 2).events == ()
    assert [event.kind for event in memory.fork("after", 3).events] == ["system_replaced"]


def test_a_fork_in_the_middle_of_a_call_group_can_be_answered():
    memory = memory_of()
    memory.add_all([calls("c1", "c2"), tool_output("c1", "one"), tool_output("c2", "two")])
    fork = memory.fork("fork", 2)
    with pytest.raises(MessageError, match="tool result for 'c1'"):
        fork.add_tool_output("c1", "again")
    fork.add_tool_output("c2", "another two")
    assert texts(fork.history) == ["", "one", "another two"]


class Counted:
    """Notes its calls."""

    def __init__(self):
        self.calls = 0

    def summarize(self, request):
        self.calls += 1
        return Summary(text=f"summary {self.calls}")


def test_no_summarizer_is_called_for_a_fork_and_its_window_has_the_summary_of_then():
    summarizer = Counted()
    memory = memory_of(Summarize(summarizer, trigger=Messages(3), keep=Messages(2)))
    windows = {}
    for number in range(8):
        memory.add_user(f"a message long enough {number}")
        windows[number + 1] = texts(memory.messages)
    called = summarizer.calls
    assert called == 5
    for at, window in windows.items():
        assert texts(memory.fork(f"fork-{at}", at).messages) == window
    assert windows[4] == ["summary 1", "a message long enough 2", "a message long enough 3"]
    assert summarizer.calls == called


@pytest.mark.parametrize("at", [-1, 3, 2.0, True, "1"])
def test_an_at_that_there_is_not(at):
    memory = memory_of()
    memory.add_all(chat("ua"))
    with pytest.raises(MessageError, match="at must be a number of messages from 0 to 2"):
        memory.fork("fork", at)
    assert memory.fork("fork").history == memory.history


def test_an_id_that_is_taken_is_refused_and_what_has_it_stays():
    store = MemoryStore()
    memory = memory_of(store=store)
    memory.add_user("a")
    memory_of(id="taken", store=store).add_user("b")
    for id in ("test", "taken"):
        with pytest.raises(MessageError, match=f"a session '{id}' already"):
            memory.fork(id)
    assert texts(memory_of(id="taken", store=store).history) == ["b"]
    assert texts(memory_of(store=store).history) == ["a"]


def test_a_memory_that_nothing_was_added_to_has_its_id_too():
    memory = memory_of()
    with pytest.raises(MessageError, match="a session 'test' already"):
        memory.fork("test")


@pytest.mark.parametrize("id", ["", " ", None, True])
def test_an_id_is_required(id):
    with pytest.raises(MessageError, match="an id is required"):
        memory_of().fork(id)


def test_numbers_and_uuids_are_ids():
    memory = memory_of()
    uuid = UUID("0f4b1a52-6d0c-4c5e-9a31-0d8f1c2b3a49")
    assert (memory.fork(7).id, memory.fork(uuid).id) == ("7", str(uuid))


def test_a_fork_of_nothing_and_a_fork_of_a_fork():
    memory = memory_of()
    empty = memory.fork("empty")
    assert (empty.history, empty.messages) == ((), ())
    memory.add_user("a")
    fork = memory.fork("one")
    fork.add_assistant("b")
    second = fork.fork("two", 1)
    assert texts(second.history) == ["a"]


def test_the_branches_stay_behind():
    memory = memory_of()
    memory.add_user("left")
    memory.set([user("a")])
    assert texts(memory.fork("fork").history) == ["a"]
    assert memory.fork("fork-2").branches == ()


def test_before_a_restore_the_window_is_made_anew():
    memory = memory_of(MessageWindow(2))
    memory.add_all(chat("suaua"))
    memory.restore(memory.snapshot())
    memory.add_user("5")
    fork = memory.fork("fork", 4)
    assert (texts(fork.history), texts(fork.messages)) == (["0", "1", "2", "3"], ["0", "2", "3"])
    assert texts(memory.fork("at", 5).messages) == ["0", "3", "4"]
    assert texts(memory.fork("after", 6).messages) == ["0", "4", "5"]


def test_at_a_restore_the_window_is_that_of_the_restore():
    narrow = memory_of(MessageWindow(2), id="narrow")
    narrow.add_all(chat("uauau"))
    memory = memory_of()
    memory.restore(narrow.snapshot())
    memory.add_assistant("5")
    assert texts(memory.fork("at", 5).messages) == ["3", "4"]
    assert texts(memory.fork("after", 6).messages) == ["3", "4", "5"]
    assert texts(memory.fork("before", 4).messages) == ["0", "1", "2", "3"]


LOOSE = Preset(
    KeepAll(), Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep")
)


@pytest.mark.parametrize("fact", [system("S"), user(" "), tool_output("c9", "nobody's")])
def test_before_a_restore_every_fact_is_there_whatever_the_rules_are_now(fact):
    loose = memory_of(LOOSE, id="loose")
    loose.add_all([system("S"), fact, user("u")])
    memory = memory_of()
    memory.restore(loose.snapshot())
    assert memory.fork("at-the-restore", 3).history == memory.history
    assert memory.fork("before-it", 2).history == memory.history[:2]
