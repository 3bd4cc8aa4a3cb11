"""What becomes of a message that is added, and what a read shows, rule by rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

import pytest

from chatmem_lab.errors import MessageError, PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import developer, system, tool_output, user
from chatmem_lab.policies import KeepAll, MessageWindow, Policy, Preset, Rules
from chatmem_lab.stores import MemoryStore
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.window import Revision
from replaying import calls


def memory_of(policy=None, id="test", store=None, **rules):
    preset = Preset(policy or KeepAll(), Rules(**rules))
    return ChatMemory(preset, id=id, store=store, counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


# --- blank, orphan, duplicate_call


def test_blank_messages():
    with pytest.raises(MessageError, match="says nothing"):
        memory_of(blank="error").add_user(" \n")
    ignoring = memory_of(blank="ignore")
    keeping = memory_of(blank="keep")
    for memory in (ignoring, keeping):
        memory.add_user(" \n")
        memory.add_all([user("a"), user("")])
    assert (texts(ignoring.history), texts(ignoring.messages)) == (["a"], ["a"])
    assert (texts(keeping.history), texts(keeping.messages)) == ([" \n", "a", ""],) * 2


def test_what_is_ignored_does_not_close_a_call_group():
    memory = memory_of(blank="ignore")
    memory.add(calls("c1"))
    memory.add_user("")
    memory.add_system("  ")
    memory.add_tool_output("c1", "r")
    assert texts(memory.history) == ["", "r"]


def test_orphan_results():
    with pytest.raises(MessageError, match="'c9'"):
        memory_of(orphan="error").add_tool_output("c9", "r")
    memory = memory_of(MessageWindow(2), orphan="keep")
    memory.add_all([user("u"), tool_output("c9", "r"), user("v")])
    assert texts(memory.messages) == ["r", "v"]


def test_two_calls_with_the_same_id():
    with pytest.raises(MessageError, match="two calls with the id 'c1'"):
        memory_of(duplicate_call="error").add(calls("c1", "c2", "c1"))
    memory = memory_of(duplicate_call="keep")
    memory.add(calls("c1", "c1"))
    memory.add_tool_output("c1", "first")
    memory.add_tool_output("c1", "second")
    with pytest.raises(MessageError, match="message 1 is its result already"):
        memory.add_tool_output("c1", "third")
    assert texts(memory.messages) == ["", "first", "second"]


@pytest.mark.parametrize("rule", ["keep", "error"])
def test_the_same_call_id_later_on_is_no_duplicate(rule):
    memory = memory_of(duplicate_call=rule)
    for answer in ("first", "second"):
        memory.add(calls("c1"))
        memory.add_tool_output("c1", answer)
    assert texts(memory.history) == ["", "first", "", "second"]


# --- equal_system, new_system

EXPECTED = {
    # rule: after u A, then B, then v A
    "front": (["u", "A"], ["B", "u"], ["A", "u", "v"]),
    "append": (["u", "A"], ["u", "B"], ["u", "v", "A"]),
    "append_front": (["A", "u"], ["B", "u"], ["A", "u", "v"]),
    "replace_all": (["u", "A"], ["u", "B"], ["u", "v", "A"]),
    "keep": (["u", "A"], ["u", "A", "B"], ["u", "A", "B", "v", "A"]),
}


@pytest.mark.parametrize("equal", ["ignore", "keep"])
@pytest.mark.parametrize("rule", EXPECTED)
def test_where_a_new_system_message_goes(rule, equal):
    first, second, third = EXPECTED[rule]
    memory = memory_of(new_system=rule, equal_system=equal)
    memory.add_all([user("u"), system("A")])
    assert texts(memory.messages) == first
    memory.add_system("B")
    assert texts(memory.messages) == second
    memory.add_all([user("v"), system("A")])
    if rule == "keep" and equal == "ignore":
        third = third[:-1]
    assert texts(memory.messages) == third
    replaced = [event.kind for event in memory.events].count("system_replaced")
    assert replaced == (0 if rule == "keep" else 2)


@pytest.mark.parametrize(
    ("rule", "window"),
    [
        ("front", ["A", "u"]),
        ("append", ["u", "A"]),
        ("append_front", ["A", "u"]),
        ("replace_all", ["A", "u", "A"]),
        ("keep", ["A", "u", "A"]),
    ],
)
def test_an_equal_system_message_that_is_not_ignored(rule, window):
    memory = memory_of(new_system=rule, equal_system="keep")
    memory.add_all([system("A"), user("u"), system("A")])
    assert texts(memory.history) == ["A", "u", "A"]
    assert texts(memory.messages) == window


@pytest.mark.parametrize("rule", EXPECTED)
def test_an_equal_system_message_that_is_ignored(rule):
    memory = memory_of(new_system=rule, equal_system="ignore")
    memory.add_all([system("A"), user("u"), system("A")])
    assert texts(memory.history) == ["A", "u"]
    assert texts(memory.messages) == ["A", "u"]


@pytest.mark.parametrize(
    ("rule", "window"),
    [
        ("front", ["C", "B", "u"]),
        ("append", ["B", "u", "C"]),
        ("append_front", ["C", "B", "u"]),
        ("replace_all", ["u", "C"]),
        ("keep", ["A", "B", "u", "C"]),
    ],
)
def test_a_new_system_message_where_there_are_two(rule, window):
    memory = memory_of(new_system=rule, set_as="given")
    memory.set([system("A"), system("B"), user("u")])
    memory.add_system("C")
    assert texts(memory.messages) == window


def test_replace_all_in_a_batch_asked_once_leaves_the_new_ones():
    memory = memory_of(new_system="replace_all", batch="once")
    memory.add_all([system("A"), user("u")])
    memory.add_all([system("B"), user("v"), system("C")])
    assert texts(memory.messages) == ["u", "B", "v", "C"]


@pytest.mark.parametrize("rule", EXPECTED)
def test_developer_messages_are_never_replaced(rule):
    memory = memory_of(new_system=rule)
    memory.add_all([developer("D"), user("u"), developer("D"), developer("E")])
    assert texts(memory.messages) == ["D", "u", "D", "E"]


# --- read


@dataclass(frozen=True)
class ChangingLimit(Policy):
    """Keeps as many messages as a list says, which may change at any time."""

    limits: list = field(default_factory=lambda: [4], compare=False)

    contract: ClassVar = "loose"

    def revise(self, window):
        over = len(window) - self.limits[0]
        return Revision(evict=tuple(islice(window.units, max(over, 0))), reason="over")


def lowered(rule):
    policy = ChangingLimit()
    memory = memory_of(policy, read=rule)
    memory.add_all([user(letter) for letter in "abcd"])
    policy.limits[0] = 2
    return policy, memory


def test_a_read_shows_the_window_though_the_limit_is_lower_now():
    _, memory = lowered("window")
    assert texts(memory.messages) == ["a", "b", "c", "d"]
    memory.add_user("e")
    assert texts(memory.messages) == ["d", "e"]


def test_a_read_shows_what_the_policy_would_leave_now_and_changes_nothing():
    policy, memory = lowered("policy")
    assert texts(memory.messages) == texts(memory.request()) == ["c", "d"]
    assert texts(memory.window.messages) == ["c", "d"]
    assert [message["content"] for message in memory.to_chat()] == ["c", "d"]
    assert memory.tokens == 2 + 2 + 3
    assert memory.events == ()
    policy.limits[0] = 3
    assert texts(memory.messages) == ["b", "c", "d"]
    policy.limits[0] = 4
    assert texts(memory.messages) == ["a", "b", "c", "d"]
    policy.limits[0] = 2
    memory.add_user("e")
    policy.limits[0] = 4
    assert texts(memory.messages) == ["d", "e"]
    assert [event.units for event in memory.events] == [((0,), (1,), (2,))]


# --- first_request


def sent(memory):
    """What a read shows, and what goes out, in every form the same."""
    chat = [message["content"] for message in memory.to_chat()]
    assert chat == texts(memory.request())
    assert len(memory.to_responses()) == len(chat)
    return "".join(texts(memory.messages)), "".join(chat)


def test_the_first_request_is_trimmed_by_our_own_rules():
    memory = memory_of(MessageWindow(2), first_request="window")
    memory.add_user("a")
    memory.add_assistant("b")
    memory.add_user("c")
    assert sent(memory) == ("bc", "bc")


def untrimmed(store=None):
    memory = memory_of(MessageWindow(2), first_request="untrimmed", store=store)
    memory.add_user("a")
    memory.add_assistant("b")
    memory.add_user("c")
    return memory


def test_the_first_request_after_a_user_message_holds_the_window_before_it_and_it():
    memory = untrimmed()
    assert sent(memory) == ("bc", "abc")
    assert sent(memory) == ("bc", "abc")
    memory.add_assistant("d")
    assert sent(memory) == ("cd", "cd")
    memory.add_user("e")
    assert sent(memory) == ("de", "cde")
    memory.add_user("f")
    assert sent(memory) == ("ef", "def")
    assert texts(memory.history) == ["a", "b", "c", "d", "e", "f"]


def test_an_untrimmed_first_request_goes_wherever_the_session_goes():
    store = MemoryStore()
    memory = untrimmed(store)
    again = memory_of(MessageWindow(2), first_request="untrimmed", store=store)
    other = memory_of(MessageWindow(2), id="other", first_request="untrimmed")
    other.restore(memory.snapshot())
    for one in (again, other, memory.fork("fork"), memory.fork("at", 3)):
        assert sent(one) == ("bc", "abc")
        one.add_assistant("d")
        assert sent(one) == ("cd", "cd")
        assert [event.units for event in one.events] == [((0,),), ((1,),)]


# --- the rules themselves


@pytest.mark.parametrize(
    "name",
    [
        "blank",
        "orphan",
        "duplicate_call",
        "equal_system",
        "new_system",
        "oversize",
        "batch",
        "set_as",
        "read",
        "first_request",
    ],
)
@pytest.mark.parametrize("value", ["sometimes", None, True, ""])
def test_a_rule_that_there_is_not(name, value):
    with pytest.raises(PolicyError, match=rf"Rules: {name} must be one of .*, not {value!r}"):
        Rules(**{name: value})


def test_our_own_rules():
    assert Rules() == Rules(
        blank="error",
        orphan="error",
        duplicate_call="keep",
        equal_system="ignore",
        new_system="front",
        oversize="keep",
        batch="each",
        set_as="added",
        read="window",
        first_request="window",
    )
