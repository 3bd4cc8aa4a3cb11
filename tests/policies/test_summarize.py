"""`Summarize` by hand: what is folded, what is charged, what a failure changes."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Usage, assistant, system, tool_output, user
from chatmem_lab.policies import Messages, Share, Summarize, Tokens, Turns
from recording_summarizer import Recording
from replaying import calls, chat, kept, trace_of


def test_b005_units_are_folded_whole():
    messages = [
        user("two strings please"),
        calls("1", "2"),
        tool_output("1", "x" * 5000),
        tool_output("2", "y" * 200),
        assistant("made them"),
        user("explain"),
    ]
    # tokens: 201 for message 3, 10 and 8 for the last two
    policy = Summarize(Recording(), trigger=Messages(5), keep=Tokens(220))
    assert kept(messages, policy) == [None, 4, 5]
    made = trace_of(messages, policy).window(-1).slots[0].message
    assert made.summary.covered == (0, 1, 2, 3)


def test_b020_a_kept_tail_alone_never_arms_the_trigger():
    summarizer = Recording()
    policy = Summarize(summarizer, trigger=Tokens(10), keep=Messages(2))
    assert kept([user("x x x x x x "), assistant("y")], policy) == [0, 1]
    assert summarizer.requests == []


@pytest.mark.parametrize("answer", ["", "  \n", None])
def test_b025_an_empty_summary_changes_nothing(answer):
    summarizer = Recording(answer, usage=Usage(input_tokens=50, output_tokens=4))
    policy = Summarize(summarizer, trigger=Messages(4), keep=Messages(1))
    trace = trace_of([*chat("uauau"), assistant("5")], policy)
    failed = [e for e in trace.events if e.kind == "summarize_failed"]
    assert [e.position for e in failed] == [4, 5]  # again only when one more unit is there
    assert all("empty" in e.reason for e in failed)
    assert trace.summarizer_input_tokens.tolist() == [0, 0, 50]
    assert trace.summarizer_output_tokens.tolist() == [0, 0, 4]
    assert [s.position for s in trace.window(2).slots] == [0, 1, 2, 3, 4]


def test_b026_an_exception_changes_nothing_and_is_named():
    policy = Summarize(Recording(TimeoutError), trigger=Messages(2), keep=Messages(1))
    trace = trace_of(chat("uau"), policy)
    assert kept(chat("uau"), policy) == [0, 1, 2]
    assert [(e.kind, e.reason) for e in trace.events] == [
        ("summarize_failed", "TimeoutError: too slow")
    ]


def test_b028_covered_is_what_was_really_read():
    policy = Summarize(Recording(covered=4), trigger=Messages(6), keep=Messages(1))
    assert kept(chat("uauauau"), policy) == [None, 4, 5, 6]
    made = trace_of(chat("uauauau"), policy).window(-1).slots[0].message
    assert made.summary.covered == (0, 1, 2, 3)


def test_b029_a_summary_that_grows_fails_at_its_limit():
    summarizer = Recording(lambda r: (r.previous or "") + "x" * 60)
    policy = Summarize(summarizer, trigger=Messages(3), keep=Messages(1), max_tokens=128)
    trace = trace_of([user("q" * 40) for _ in range(14)], policy)
    made = [m.text for m in trace.made_messages()]
    assert max(map(len, made)) <= 128
    assert any("limit is 128" in e.reason for e in trace.events)
    for request in summarizer.requests:
        assert all(message.summary is None for message in request.messages)
    window = trace.window(-1)
    assert sum(slot.kind == "made" for slot in window.slots) == 1


def test_b031_the_system_message_is_never_summarized():
    summarizer = Recording()
    messages = [system("stay preserved"), user("t1"), assistant("r1"), user("t2"), assistant("r2")]
    policy = Summarize(summarizer, trigger=Messages(3), keep=Messages(2))
    assert kept(messages, policy) == [0, None, 3, 4]
    assert [m.text for m in summarizer.requests[0].messages] == ["t1", "r1"]


def test_b034_below_the_trigger_nothing_happens():
    messages = [user("who am I"), calls("c1"), tool_output("c1", "Ann"), assistant("You are Ann")]
    policy = Summarize(Recording(), trigger=Messages(99))
    assert kept(messages, policy) == [0, 1, 2, 3]
    assert trace_of(messages, policy).events == []


def test_b035_each_message_is_sent_once_as_new_text():
    summarizer = Recording("x" * 100)
    messages = [m for i in range(40) for m in (user(f"{i:03}" + "q" * 245), assistant("a" * 250))]
    policy = Summarize(summarizer, trigger=Tokens(2000), keep=Messages(2))
    trace_of(messages, policy)
    sent = [m.text for request in summarizer.requests for m in request.messages]
    assert len(summarizer.requests) > 5
    assert len([t for t in sent if t.startswith("0")]) == len({t for t in sent if t[0] == "0"})
    assert sum(len(t) for t in sent) <= 40 * 500
    assert not any(t == "x" * 100 for t in sent)


def test_the_earlier_summary_goes_apart_and_generations_are_counted():
    summarizer = Recording(lambda r: f"{r.previous or ''}{len(r.messages)}")
    messages = [user(f"{i} " + "q" * 20) for i in range(7)]
    policy = Summarize(summarizer, trigger=Messages(3), keep=Messages(1), prefix="Σ ")
    trace = trace_of(messages, policy)
    assert [(r.previous, len(r.messages)) for r in summarizer.requests] == [(None, 3), ("3", 2)]
    made = trace.made_messages()
    assert [m.text for m in made] == ["Σ 3", "Σ 32"]
    assert [m.summary.generation for m in made] == [1, 2]
    assert made[1].summary.covered == (0, 1, 2, 3, 4)


def test_what_is_charged_by_hand():
    messages = [*[user("q" * 19) for _ in range(4)], assistant("a")]
    policy = Summarize(Recording("xyz"), trigger=Messages(3), keep=Messages(1))
    trace = trace_of(messages, policy)
    # three messages of 20 go in, three characters come out, before the first request
    assert trace.summarizer_input_tokens.tolist() == [60]
    assert trace.summarizer_output_tokens.tolist() == [3]
    assert trace.category["made"].tolist() == [4]


def test_not_smaller_is_a_failure():
    policy = Summarize(Recording("x" * 99), trigger=Messages(2), keep=Messages(1))
    trace = trace_of(chat("uau"), policy)
    assert [e.reason for e in trace.events] == ["the summary is not smaller: 100 tokens for 4"]


def test_turns_shares_role_and_place():
    policy = Summarize(
        Recording(),
        trigger=Turns(2),
        keep=Turns(1),
        role="system",
        place="front",
    )
    messages = [system("S"), *(m for i in "abc" for m in (user(i * 9), assistant(i * 9)))]
    window = trace_of(messages, policy).window(-1)
    assert [s.position for s in window.slots] == [None, 0, 5, 6]
    assert window.messages[0].role == "system"
    share = Summarize(Recording(), trigger=Share(0.5), keep=Share(0.2), budget_tokens=40)
    # 20 tokens of messages are the trigger, 8 are kept
    assert kept([user("q" * 6) for _ in range(3)], share) == [None, 2]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: Summarize(len), "summarizer_from"),
        (lambda: Summarize(Recording(), trigger=20), "an amount such as Messages(20)"),
        (lambda: Summarize(Recording(), trigger=Share(0.5)), "budget_tokens"),
        (lambda: Summarize(Recording(), role="tool"), "assistant, user or system"),
        (lambda: Summarize(Recording(), place="last"), "first or front"),
        (lambda: Summarize(Recording(), max_tokens=0), "at least 1"),
    ],
)
def test_parameters_outside_their_bounds(wrong, words):
    with pytest.raises(PolicyError) as raised:
        wrong()
    assert words in str(raised.value)
