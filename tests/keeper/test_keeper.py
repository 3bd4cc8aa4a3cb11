"""The keeper: what it records, what it refuses, what leaves no trace."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.errors import BudgetError, PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import (
    Conversation,
    Message,
    Reasoning,
    assistant,
    count_faults,
    system,
    tool_output,
    user,
)
from chatmem_lab.policies import (
    KeepAll,
    Messages,
    MessageWindow,
    Policy,
    Summarize,
    TokenWindow,
    policy_from,
    presets,
)
from chatmem_lab.summarizers import Summary
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.window import KEEP, Insert, Revision, Unit
from replaying import calls, chat, stepwise, trace_of


@dataclass(frozen=True)
class Decides(Policy):
    """Decides by a function of the window."""

    function: object = field(compare=False)

    def revise(self, window):
        return self.function(window)


@dataclass(frozen=True)
class DecidesLoosely(Decides):
    contract = "loose"


def texts(window):
    return [m.text for m in window.messages]


# --- system messages


def test_an_equal_system_message_between_a_call_and_its_result_leaves_no_trace():
    messages = [
        system("S"),
        user("q"),
        calls("c1"),
        system("S"),
        tool_output("c1", "r"),
        assistant("ok"),
    ]
    trace = trace_of(messages, KeepAll())
    assert trace.faults.sum() == 0
    assert count_faults(trace.window(1).messages) == {}
    # with the ignored message the group would be torn; so it leaves as one
    assert [s.position for s in trace_of(messages, MessageWindow(2)).window(-1).slots] == [0, 5]


def test_a_replaced_system_message_is_in_front_for_those_who_see_the_history_too():
    messages = [*chat("sua"), system("B"), user("q2"), assistant("b")]
    for policy in (policy_from(lambda m: m[-9:]), policy_from(lambda m: m[-9:], sees="history")):
        trace = stepwise(messages, policy)
        assert texts(trace.window(1)) == ["B", "1", "2", "q2"]
        assert trace.evicted_messages.tolist() == [0, 0]
        assert [e.kind for e in trace.events] == ["system_replaced"]


# --- functions that rewrite


def shorten(messages):
    return [m.with_text(m.text[:4]) if m.role == "tool" else m for m in messages]


@pytest.mark.parametrize("sees", ["window", "history"])
def test_rewritten_results_take_the_place_of_the_old_ones(sees):
    messages = [system("s")]
    for i in range(5):
        messages += [
            user(f"q{i}"),
            calls(f"c{i}"),
            tool_output(f"c{i}", "long result"),
            assistant("a"),
        ]
    trace = stepwise(messages, policy_from(shorten, sees=sees))
    assert trace.messages.tolist() == [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    assert trace.faults.sum() == 0
    results = [m.text for m in trace.window(-1).messages if m.role == "tool"]
    assert results == ["long"] * 5
    assert {e.kind for e in trace.events} == {"clamp"}


def test_with_repair_no_result_enters_that_answers_nothing():
    def answers_nobody(messages):
        return [*messages, tool_output("zz", "x")]

    trace = stepwise(chat("uaua"), policy_from(answers_nobody))
    assert trace.faults.sum() == 0
    assert trace.events == []


def test_who_sees_the_history_gets_the_same_events():
    pair = [user("q"), calls("c1"), tool_output("c1", "r")]
    trace = stepwise(pair, policy_from(lambda m: m[-1:], sees="history"))
    assert [e.kind for e in trace.events] == ["repair", "evict"]

    def with_note(messages):
        return [user("note"), *messages]

    trace = stepwise(chat("uauaua"), policy_from(with_note, sees="history"))
    assert [(e.kind, e.request) for e in trace.events] == [("insert", 0)]
    made = [s for s in trace.spans if s.slot.kind == "made"]
    assert [(s.first_request, s.last_request) for s in made] == [(0, 3)]


def test_a_message_joins_no_unit_that_was_taken_out():
    thinking = Message("assistant", (Reasoning("hm", id="rs"),))
    messages = [system("S"), thinking, calls("c1"), tool_output("c1", "r"), assistant("x")]

    def without_reasoning(given):
        return [m for m in given if not any(isinstance(p, Reasoning) for p in m.parts)]

    policy = policy_from(without_reasoning, sees="history", repair=False)
    trace = stepwise(messages, policy)
    window = trace.window(trace.requests - 1)
    assert [m.role for m in window.messages] == ["system", "assistant", "tool"]
    assert trace.pinned_tokens[-1] == window.pinned_tokens


# --- inserted messages


def test_several_inserts_at_the_end_keep_their_order_as_messages_arrive():
    def remind(window):
        if window.newest is None or window.newest.role != "user":
            return KEEP
        return Revision(insert=tuple(Insert(user(f"m{k}")) for k in range(3)))

    messages = chat("uaua")
    trace = stepwise(messages, Decides(remind))
    memory = ChatMemory(Decides(remind), id="live", counter=LengthCounter())
    memory.add_all(messages[:3])
    expected = ["0", "m0", "m1", "m2", "1", "2", "m0", "m1", "m2"]
    assert texts(trace.window(1)) == expected == [m.text for m in memory.messages]
    assert trace.prefix_tokens[1] == 2 + 3 * 3


# --- what is refused


def evict_twice(window):
    units = list(window.units)
    return Revision(evict=(units[0], units[0]))


def evict_foreign(window):
    first = next(window.units)
    return Revision(evict=(first, Unit(first.slots[0])))


WRONG = {
    "twice": evict_twice,
    "foreign": evict_foreign,
    "no unit": lambda w: Revision(evict=(0,)),
    "not units": lambda w: Revision(evict=7),
    "no insert": lambda w: Revision(insert=(user("m"),)),
    "insert of text": lambda w: Revision(insert=(Insert("m"),)),
    "insert before a stranger": lambda w: Revision(
        insert=(Insert(user("m"), Unit(w.newest.slots[0])),)
    ),
    "replace by text": lambda w: Revision(replace={w.newest.slots[0]: "x"}),
    "replace a list": lambda w: Revision(replace=[1]),
    "another word": lambda w: Revision(
        replace={w.newest.slots[0]: w.newest.slots[0].message}, replaced_as="bogus"
    ),
    "no revision": lambda w: [1],
}


@pytest.mark.parametrize("contract", [Decides, DecidesLoosely])
@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_applied_is_refused_whole(name, contract):
    memory = ChatMemory(contract(lambda w: KEEP), id="x", counter=LengthCounter())
    memory.add_all(chat("uau"))
    keeper = memory._session.keeper
    keeper._stages = (contract(WRONG[name]),)
    before = (memory.messages, memory.tokens)
    with pytest.raises(PolicyError):
        keeper._ask("append")
    assert (memory.messages, memory.tokens) == before


def test_strict_policies_insert_no_results():
    policy = Decides(lambda w: Revision(insert=(Insert(tool_output("zz", "x")),)))
    with pytest.raises(PolicyError, match="may not insert tool calls or results"):
        stepwise(chat("ua"), policy)


def test_a_replacement_with_another_role_is_skipped():
    policy = Decides(lambda w: Revision(replace={w.newest.slots[0]: assistant("")}))
    assert stepwise(chat("uu"), policy).events == []


def test_a_blank_replacement_is_a_fault():
    def blank(window):
        first = next(window.units).slots[0]
        return Revision(replace={first: first.message.with_text("")}) if len(window) > 1 else KEEP

    trace = stepwise(chat("uua"), Decides(blank))
    assert trace.faults.sum(axis=1).tolist() == [1]


def test_a_policy_that_changes_the_window_itself_is_caught():
    def meddle(window):
        window.remove([next(window.units)], "evict")
        return KEEP

    with pytest.raises(PolicyError, match="changed the window itself"):
        stepwise(chat("ua"), Decides(meddle))


def test_units_from_an_iterator_are_taken_as_they_are_told():
    policy = DecidesLoosely(lambda w: Revision(evict=(u for u in list(w.forwards()))))
    trace = stepwise(chat("uua"), policy)
    assert [(e.units, e.messages) for e in trace.events] == [(((0,),), 1), (((1,),), 1)]


# --- chains


def test_each_stage_is_asked_by_its_own_rule_about_open_calls():
    @dataclass(frozen=True)
    class AlwaysAsked(Decides):
        asked_while_open = True

    messages = [*chat("uaua"), calls("a", "b"), tool_output("a", "1"), tool_output("b", "2")]
    trace = stepwise(messages, AlwaysAsked(lambda w: KEEP) | MessageWindow(3))
    assert [e.position for e in trace.events if e.kind == "evict"] == [3, 6]


def test_the_error_of_a_request_is_about_tokens():
    policy = MessageWindow(1, count_pinned=True) | TokenWindow(20)
    memory = ChatMemory(policy, id="x", counter=LengthCounter())
    memory.add_system("s" * 20)
    memory.add_user("u")
    with pytest.raises(BudgetError, match="a budget of 20 tokens cannot hold the 26"):
        memory.request()


def test_a_preset_over_its_budget_is_marked_and_refused_with_the_sum():
    preset = presets.langchain4j_token_window(20)
    trace = stepwise([system("s" * 50), assistant("a")], preset)
    assert trace.over_budget.tolist() == [True]
    memory = ChatMemory(preset, id="x", counter=LengthCounter())
    memory.add_system("s" * 50)
    with pytest.raises(BudgetError, match=r"54 tokens needed \(system 51, reply priming 3\)"):
        memory.request()


# --- failures


def test_a_policy_that_raises_before_a_reply_stores_nothing():
    def fails(messages):
        raise ZeroDivisionError

    memory = ChatMemory(policy_from(fails, sees="history"), id="x", counter=LengthCounter())
    memory.add_user("q")
    with pytest.raises(ZeroDivisionError):
        memory.add_assistant("a")
    assert [m.text for m in memory.history] == ["q"]


def test_a_summarizer_that_adds_to_its_own_memory_is_called_once():
    class Chatty:
        calls = 0
        memory = None

        def summarize(self, request):
            Chatty.calls += 1
            Chatty.memory.add_user("by the way")
            return Summary(text="s")

        def __repr__(self):
            return "Chatty()"

    policy = Summarize(Chatty(), trigger=Messages(2), keep=Messages(1))
    memory = Chatty.memory = ChatMemory(policy, id="x", counter=LengthCounter())
    for message in chat("uau"):
        memory.add(message)
    assert Chatty.calls == 1
    assert [m.text for m in memory.history] == ["0", "1", "2", "by the way"]
    assert [m.text for m in memory.messages] == ["s", "2", "by the way"]
    memory.clear()
    memory.add_all(chat("uau"))
    assert [m.text for m in memory.messages] == ["0", "1", "2"]
    assert [e.kind for e in memory.events] == ["summarize_failed"]
    assert "add nothing" in memory.events[0].reason


def test_live_and_replayed_the_same_after_inserts():
    def shout(messages):
        return [m.with_text(m.text.upper()[:3]) for m in messages]

    messages = [*chat("uaua"), calls("c1"), tool_output("c1", "result"), assistant("end")]
    memory = ChatMemory(policy_from(shout), id="x", counter=LengthCounter())
    memory.add_all(messages)
    conversation = Conversation("x", tuple(messages))
    trace = replay_stepwise(Layout(conversation, LengthCounter()), policy_from(shout), model=None)
    assert texts(trace.window(-1)) == [m.text for m in memory.messages]
