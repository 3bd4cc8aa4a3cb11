"""`KeyFields` by hand."""

from __future__ import annotations

import json

import pytest

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import ToolCall, assistant, tool_output, user
from chatmem_lab.summarizers import KeyFields, SummaryRequest
from chatmem_lab.testing.summarizers import check_summarizer


def call(id, name, arguments, result, **options):
    return [
        assistant(tool_calls=[ToolCall(id, name, arguments)]),
        tool_output(id, result, **options),
    ]


TALK = [
    user("Fix the clock in ferry/clock.py."),
    *call("c1", "read_file", '{"path": "ferry/clock.py"}', "import datetime"),
    *call("c2", "run", '{"command": "pytest"}', "Traceback (most recent call last):\n  boom"),
    *call("c3", "edit_file", '{"path": "ferry/board.py"}', "no such file", is_error=True),
    assistant("We have a look. I decided to use UTC. It is late."),
    user("And the board?"),
]


def fields(messages, previous=None):
    text = KeyFields().summarize(SummaryRequest(messages=tuple(messages), previous=previous)).text
    return json.loads(text)


def test_each_field_by_its_rule():
    assert fields(TALK) == {
        "goal": ["Fix the clock in ferry/clock.py."],
        "done": ['read_file({"path": "ferry/clock.py"})'],
        "pending": ["And the board?"],
        "decisions": ["I decided to use UTC."],
        "errors": ["run: Traceback (most recent call last):", "edit_file: no such file"],
        "files": ["ferry/clock.py", "ferry/board.py"],
    }


def test_what_was_known_before_goes_on():
    before = "goal: ship it\ndone:\n- built\n- tested\nfiles: old.py"
    found = fields(TALK[-1:], before)
    assert found == {
        "goal": ["ship it"],
        "done": ["built", "tested"],
        "pending": ["And the board?"],
        "files": ["old.py"],
    }


def test_lists_are_bounded_and_the_newest_stay():
    messages = [m for i in range(20) for m in call(f"c{i}", f"t{i}", "{}", "ok")]
    assert fields(messages)["done"] == [f"t{i}({{}})" for i in range(12, 20)]
    long = KeyFields(10).summarize(SummaryRequest(messages=(user("x" * 99),))).text
    assert json.loads(long)["goal"] == ["xxxxxxxxx…"]


def test_nothing_said_is_a_failed_summary():
    assert KeyFields().summarize(SummaryRequest()).text is None
    with pytest.raises(PolicyError, match="max_chars must be a whole number"):
        KeyFields(0)


def test_it_is_a_summarizer():
    check_summarizer(KeyFields())
