"""Folding: a summarizer's answer is looked at before it is used."""

from __future__ import annotations

import pytest

from chatmem_lab.messages import SummaryOf, Usage, assistant, tool_output, user
from chatmem_lab.policies import Messages, Summarize
from chatmem_lab.summarizers import Summary
from replaying import calls, stepwise


class Answers:
    def __init__(self, answer):
        self.answer = answer

    def summarize(self, request):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def __repr__(self):
        return "Answers()"


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


MESSAGES = [user("q" * 20), user("q" * 20), user("q" * 20), assistant("a")]


def trace_with(answer):
    return stepwise(MESSAGES, Summarize(Answers(answer), trigger=Messages(2), keep=Messages(1)))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "TypeError: summarize must return a Summary, not NoneType"),
        ("text", "TypeError: summarize must return a Summary, not str"),
        (Summary(text=5), "TypeError: a summary's text is a str or None, not int"),
        (Summary(text=b"x"), "not bytes"),
        (Summary(text="s", covered="2"), "whole numbers from 0, not '2'"),
        (Summary(text="s", covered=True), "whole numbers from 0, not True"),
        (Summary(text="s", covered=2.5), "not 2.5"),
        (Summary(text="s", covered=-1), "not -1"),
        (Summary(text="s", covered=1), ""),
        (Summary(text="s", covered=0), "covers no whole unit"),
        (Summary(text="s", usage="x"), "a summary's usage is a Usage or None, not str"),
        (Summary(text="s", usage=Usage(input_tokens=-5)), "not -5"),
        (Summary(text="s", usage=Usage(output_tokens=10**30)), "not 1000"),
        (Unspeakable(), "Unspeakable"),
        (KeyError("k"), "KeyError: 'k'"),
    ],
)
def test_an_answer_that_is_none_is_a_failure(answer, reason):
    trace = trace_with(answer)
    if not reason:
        assert {e.kind for e in trace.events} == {"fold"}
        return
    assert [e.kind for e in trace.events] == ["summarize_failed", "summarize_failed"]
    assert reason in trace.events[0].reason
    assert len(trace.window(0)) == 3


def test_a_usage_of_nothing_costs_nothing():
    answer = Summary(text="s", usage=Usage(input_tokens=0, output_tokens=0))
    trace = trace_with(answer)
    assert trace.summarizer_input_tokens.tolist() == [0]
    assert trace.summarizer_output_tokens.tolist() == [0]


def test_a_rolling_summary_covers_one_range():
    messages = [user("q" * 20) for _ in range(12)]
    policy = Summarize(Answers(Summary(text="s")), trigger=Messages(4), keep=Messages(2))
    made = stepwise(messages, policy).made_messages()
    assert [m.summary.ranges for m in made] == [
        ((0, 3),),
        ((0, 5),),
        ((0, 7),),
        ((0, 9),),
    ]
    assert made[-1].summary == SummaryOf(((0, 9),), 4, "Answers()")
    assert made[0].summary.covered == (0, 1, 2)
    assert made[-1].summary.messages == 9


class Eager(Summarize):
    """Asked at every message, also while a call is open."""

    asked_while_open = True


def test_a_failed_summarizer_is_not_tried_again_before_one_more_unit_is_there():
    policy = Eager(Answers(Summary(text="")), trigger=Messages(2), keep=Messages(1))
    messages = [user("q" * 20), user("q" * 20), calls("a", "b"), tool_output("a", "1")]
    messages += [tool_output("b", "2"), user("next")]
    failed = [e.position for e in stepwise(messages, policy).events]
    # at the call, not at its two results, and at the next message
    assert failed == [2, 5]
