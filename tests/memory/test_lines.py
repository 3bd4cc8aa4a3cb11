"""`clear`, `set` and `restore` begin a new line; the one that is left stays as a branch."""

from __future__ import annotations

import pytest

from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.errors import MessageError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import assistant, developer, system, tool_output, user
from chatmem_lab.policies import KeepAll, Messages, MessageWindow, Preset, Rules, Summarize
from chatmem_lab.stores import MemoryStore
from chatmem_lab.summarizers import Truncate
from chatmem_lab.testing.length_counter import LengthCounter
from replaying import calls, chat


def memory_of(policy=None, id="test", **options):
    return ChatMemory(policy, id=id, counter=LengthCounter(), **options)


def texts(messages):
    return [message.text for message in messages]


def branches(memory):
    return [texts(branch.messages) for branch in memory.branches]


def test_a_new_memory_is_empty():
    memory = memory_of()
    assert (memory.history, memory.messages, memory.branches, memory.events) == ((), (), (), ())
    assert (len(memory), memory.tokens) == (0, 3)
    assert memory.request() == ()


# --- clear


def test_clear_leaves_nothing_and_the_old_line_as_a_branch():
    memory = memory_of(MessageWindow(1))
    memory.add_all(chat("sua"))
    memory.clear()
    assert (memory.history, memory.messages, memory.events, memory.tokens) == ((), (), (), 3)
    assert branches(memory) == [["0", "1", "2"]]
    memory.add_user("again")
    assert (texts(memory.history), texts(memory.messages)) == (["again"], ["again"])


def test_clear_of_nothing_leaves_no_branch():
    memory = memory_of()
    memory.clear()
    memory.clear(keep_system=True)
    assert (memory.history, memory.branches) == ((), ())


def test_clear_keeps_the_system_and_developer_messages_that_the_window_holds():
    memory = memory_of()
    memory.add_all([system("old"), developer("be kind"), user("u"), system("new"), assistant("a")])
    assert texts(memory.messages) == ["new", "be kind", "u", "a"]
    memory.clear(keep_system=True)
    assert texts(memory.messages) == ["new", "be kind"]
    assert sorted(texts(memory.history)) == ["be kind", "new"]
    assert branches(memory) == [["old", "be kind", "u", "new", "a"]]


def test_clear_keeps_no_summary_though_its_role_is_system():
    policy = Summarize(Truncate(20), trigger=Messages(3), keep=Messages(1), role="system")
    memory = memory_of(policy)
    memory.add_system("S")
    memory.add_all(user(f"a message long enough {number}") for number in range(4))
    assert [m.role for m in memory.messages] == ["system", "system", "user"]
    memory.clear(keep_system=True)
    assert texts(memory.messages) == texts(memory.history) == ["S"]


def test_clear_keeps_facts_of_the_system_message():
    memory = memory_of()
    memory.add(system("S"))
    memory.clear(keep_system=True)
    assert memory.history == (system("S"),)


def test_clear_ends_an_open_call():
    memory = memory_of()
    memory.add(calls("c1"))
    memory.clear()
    with pytest.raises(MessageError, match=r"'c1'.*open calls: none"):
        memory.add_tool_output("c1", "late")
    assert memory.history == ()


def test_clear_takes_keep_system_by_name_only():
    with pytest.raises(TypeError):
        memory_of().clear(True)


# --- set


def test_set_begins_anew_with_the_messages_as_if_added_one_by_one():
    memory = memory_of(MessageWindow(2))
    memory.add_user("old")
    memory.set([system("S"), system("S"), user("a"), user("b"), system("T"), user("c")])
    assert texts(memory.history) == ["S", "a", "b", "T", "c"]
    assert texts(memory.messages) == ["T", "b", "c"]
    assert [event.kind for event in memory.events] == ["system_replaced", "evict"]
    assert branches(memory) == [["old"]]


def test_set_of_nothing_is_a_clear():
    memory = memory_of()
    memory.add_user("a")
    memory.set([])
    assert (memory.history, branches(memory)) == ((), [["a"]])


@pytest.mark.parametrize(
    ("messages", "wanted"),
    [
        ([user("a"), user(" ")], r"messages\[1\]: this user message says nothing"),
        ([user("a"), tool_output("c1", "x")], r"messages\[1\]: tool result for 'c1'"),
        ([calls("c1"), user("a"), tool_output("c1", "x")], r"messages\[2\]"),
        ([user("a"), "b"], r"messages\[1\]: a Message is wanted, not str"),
        ("ab", "a list of messages is wanted, not str"),
        (user("a"), "a list of messages is wanted, not Message"),
        (None, "a list of messages is wanted, not NoneType"),
    ],
)
def test_a_set_that_is_refused_changes_nothing_at_all(messages, wanted):
    store = MemoryStore()
    memory = memory_of(MessageWindow(2), store=store)
    memory.add_all(chat("suaua"))
    before = (memory.snapshot(), memory.branches, store.read("test").commits)
    with pytest.raises(MessageError, match=wanted):
        memory.set(messages)
    assert (memory.snapshot(), memory.branches, store.read("test").commits) == before
    memory.add_user("goes on")
    assert texts(memory.messages) == ["0", "4", "goes on"]


def test_a_list_that_is_made_on_the_way_and_fails_changes_nothing():
    def failing():
        yield user("a")
        raise OSError("the file ended")

    memory = memory_of()
    memory.add_user("old")
    for change in (memory.set, memory.add_all):
        with pytest.raises(OSError, match="the file ended"):
            change(failing())
    assert (texts(memory.history), memory.branches) == (["old"], ())


# --- restore and branches


def test_restore_of_long_ago_leaves_what_came_since_as_a_branch():
    memory = memory_of()
    memory.add_user("a")
    long_ago = memory.snapshot()
    memory.add_assistant("b")
    memory.clear()
    memory.add_user("c")
    memory.restore(long_ago)
    assert texts(memory.messages) == ["a"]
    assert branches(memory) == [["a", "b"], ["c"]]


def test_restore_goes_on_with_an_open_call():
    memory = memory_of()
    memory.add(calls("c1"))
    snapshot = memory.snapshot()
    memory.add_tool_output("c1", "first")
    memory.restore(snapshot)
    memory.add_tool_output("c1", "second")
    assert texts(memory.messages) == ["", "second"]
    assert branches(memory) == [["", "first"]]


def test_restore_asks_at_once_where_another_policy_left_the_snapshot():
    wide = memory_of(MessageWindow(4))
    wide.add_all(chat("uauaua"))
    assert texts(wide.messages) == ["2", "3", "4", "5"]
    narrow = memory_of(MessageWindow(3), id="narrow")
    narrow.restore(wide.snapshot())
    assert texts(narrow.messages) == ["3", "4", "5"]
    wider = memory_of(KeepAll(), id="wider")
    wider.restore(wide.snapshot())
    assert texts(wider.messages) == ["2", "3", "4", "5"]
    assert texts(wider.history) == ["0", "1", "2", "3", "4", "5"]


def test_what_a_restore_evicts_is_told_once():
    wide = memory_of(MessageWindow(4))
    wide.add_all(chat("uauaua"))
    store = MemoryStore()
    narrow = memory_of(MessageWindow(3), store=store)
    narrow.restore(wide.snapshot())
    narrow.add_user("6")
    for memory in (narrow, memory_of(MessageWindow(3), store=store)):
        assert [event.units for event in memory.events] == [((0,),), ((1,),), ((2,),), ((3,),)]
        assert texts(memory.messages) == ["4", "5", "6"]


def test_a_snapshot_of_another_memory_brings_its_history_and_not_its_id_tools_or_branches():
    one = memory_of(id="one", tools=[{"name": "f"}])
    one.add_user("left")
    one.clear()
    one.add_user("a")
    two = memory_of(id="two")
    two.restore(one.snapshot())
    two.add_assistant("b")
    assert (two.id, two.tools, branches(two)) == ("two", (), [])
    assert texts(one.history) == ["a"]


def test_branches_are_conversations_that_can_be_replayed():
    memory = memory_of(MessageWindow(2), tools=[{"name": "f"}])
    memory.add_all(chat("uaua"))
    window = memory.messages
    memory.clear()
    memory.add_user("b")
    memory.clear()
    first, second = memory.branches
    assert first.id != second.id
    assert first.tools == ({"name": "f"},)
    assert first.requests == [1, 3]
    assert [event.kind for event in first.recorded_events] == ["evict", "evict"]
    trace = replay_stepwise(Layout(first, LengthCounter()), MessageWindow(2), model=None)
    assert [m.key for m in trace.window(-1).messages] == [m.key for m in window]


def test_branches_and_lines_are_there_after_the_session_is_opened_again():
    store = MemoryStore()
    memory = memory_of(store=store)
    memory.add_user("a")
    memory.set([user("b")])
    memory.add_assistant("c")
    again = memory_of(store=store)
    assert (texts(again.history), branches(again)) == (["b", "c"], [["a"]])
    assert [branch.id for branch in again.branches] == [branch.id for branch in memory.branches]


def test_a_thousand_lines_stay_in_order():
    memory = memory_of()
    for number in range(1_000):
        memory.add_user(str(number))
        memory.clear()
    assert branches(memory) == [[str(number)] for number in range(1_000)]


def test_what_a_looser_memory_left_is_restored_as_it_was():
    rules = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep")
    loose = memory_of(Preset(KeepAll(), rules), id="loose")
    loose.add_all([system("S"), system("S"), tool_output("c9", "nobody's"), user(" "), user("u")])
    memory = memory_of()
    memory.restore(loose.snapshot())
    assert texts(memory.history) == ["S", "S", "nobody's", " ", "u"]
    assert texts(memory.messages) == ["S", "S", "nobody's", " ", "u"]
    memory.clear(keep_system=True)
    assert branches(memory) == [["S", "S", "nobody's", " ", "u"]]
