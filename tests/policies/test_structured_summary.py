"""`StructuredSummary` by hand, and the form of its lists of fields."""

from __future__ import annotations

import json

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.keeper.field_list import FieldsMissing, field_list, read_fields
from chatmem_lab.messages import assistant, user
from chatmem_lab.policies import Messages, StructuredSummary, Tokens
from chatmem_lab.summarizers import KeyFields
from recording_summarizer import Recording
from replaying import trace_of

FIELDS = ("goal", "done", "open questions")


@pytest.mark.parametrize(
    "answer",
    [
        '{"goal": "a room", "Open_Questions": ["when?", "who?"], "mood": "good"}',
        '```json\n{"goal": "a room", "open questions": ["when?", "who?"]}\n```',
        "Goal: a room\nOpen questions:\n- when?\n- who?\nMood: good",
        "# Goal\na room\n\n## Open questions\n1. when?\n2. who?\n## Mood\ngood",
        "**Goal:** a room\n**Open questions:**\n* when?\n* who?",
    ],
)
def test_what_a_model_may_answer(answer):
    found = read_fields(answer, FIELDS)
    assert found["goal"] == ["a room"]
    assert found["open questions"][:2] == ["when?", "who?"]
    assert set(found) == {"goal", "open questions"}


def test_a_field_that_is_not_answered_keeps_what_was_said():
    first = field_list('{"goal": "a room", "done": ["asked"]}', None, FIELDS)
    assert first == "goal: a room\ndone: asked"
    second = field_list('{"done": ["asked", "paid"]}', first, FIELDS)
    assert second == "goal: a room\ndone:\n- asked\n- paid"
    assert field_list('{"goal": ""}', first, FIELDS) == "done: asked"


@pytest.mark.parametrize("answer", ["all went well", "[1]", '{"mood": "good"}', "3"])
def test_an_answer_without_a_field_is_none(answer):
    with pytest.raises(FieldsMissing, match="it has none of the fields goal, done"):
        field_list(answer, "goal: a room", ("goal", "done"))


def long_talk(turns):
    return [m for i in range(turns) for m in (user(f"q{i} " * 20), assistant(f"a{i} " * 20))]


def test_it_folds_into_fields_and_hands_on_the_summary_before():
    summarizer = Recording(lambda request: json.dumps({"done": f"{len(request.messages)} read"}))
    policy = StructuredSummary(
        summarizer, fields=("goal", "done"), trigger=Messages(4), keep=Messages(2)
    )
    trace = trace_of(long_talk(5), policy)
    assert trace.window(-1).messages[0].text == "done: 2 read"
    assert [r.previous for r in summarizer.requests] == [None, "done: 3 read", "done: 2 read"]
    assert "one JSON object with the fields goal, done" in summarizer.requests[0].instructions


def test_a_failed_answer_changes_nothing_and_is_charged():
    policy = StructuredSummary(Recording("nothing"), trigger=Messages(2), keep=Messages(1))
    trace = trace_of(long_talk(2)[:3], policy)
    (event,) = trace.events
    assert (event.kind, event.summarizer_output_tokens) == ("summarize_failed", len("nothing"))
    assert "none of the fields" in event.reason
    assert len(trace.window(-1)) == 3


def test_fields_are_names():
    with pytest.raises(PolicyError, match="fields must be names"):
        StructuredSummary(KeyFields(), fields=())


def test_on_a_recorded_run_the_goal_and_the_files_are_there_at_the_end():
    conversation = cml.datasets.load("coding")[0]
    policy = StructuredSummary(KeyFields(), trigger=Tokens(6_000), keep=Tokens(3_000))
    run = cml.replay(conversation, policy, model="gpt-4o")
    summary = next(m for m in run.final.messages if m.summary is not None)
    fields = read_fields(summary.text, policy.fields)
    first = next(m.text for m in conversation.messages if m.role == "user")
    assert fields["goal"][0][:40] == " ".join(first.split())[:40]
    folded = [conversation.messages[p] for p in summary.summary.covered]
    read = {
        json.loads(c.arguments).get("path") for m in folded for c in m.tool_calls if c.arguments
    }
    assert len(fields["files"]) >= 3
    assert set(fields["files"]) & read
