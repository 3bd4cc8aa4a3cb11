"""The linter by hand; what is refused, the projections themselves say."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import MessageError, ProjectionError
from chatmem_lab.messages import (
    Message,
    Reasoning,
    SummaryOf,
    Text,
    ToolCall,
    assistant,
    system,
    tool_output,
    user,
)
from chatmem_lab.projections.linter import _REMEDIES, TARGETS, findings
from chatmem_lab.projections.repair import MENDS
from replaying import calls
from seed_cases import bug_cases, case_messages


def found(messages, target="chat"):
    return [(one.position, one.rule, one.severity) for one in findings(messages, target)]


def test_the_books_own_sample_has_a_result_without_its_call():
    sample = [
        system("persona"),
        user("Hello, I am Du."),
        assistant("Hello Du!"),
        user("What is my name?"),
        assistant("You are Du."),
        user("What is the weather today?"),
        tool_output("weather_1", '{"temp": 28}'),
        assistant("28 degrees in Shanghai, and sunny."),
    ]
    for target in TARGETS:
        assert found(sample, target) == [(6, "orphan_result", "refused")]


def test_b010_an_id_that_comes_again_is_reported_with_both_positions():
    messages = case_messages(bug_cases()["B010"]["input"]["messages"])
    (one,) = findings(messages)
    assert (one.position, one.rule, one.severity) == (4, "repeated_id", "advice")
    assert one.what == 'messages 1 and 4 both make a call "call_0"'


@pytest.mark.parametrize(
    ("messages", "target", "expected"),
    [
        ([user("q"), calls("a"), user("r")], "chat", [(1, "unanswered_call", "refused")]),
        (
            [user("q"), assistant(tool_calls=[ToolCall("a", "f"), ToolCall("a", "f")])],
            "chat",
            [
                (1, "repeated_call_id", "refused"),
                (1, "unanswered_call", "refused"),
                (1, "unanswered_call", "refused"),
            ],
        ),
        ([user("q"), assistant(""), user("r")], "chat", [(1, "blank_message", "refused")]),
        (
            [user("q"), assistant("a"), system("S"), user("r")],
            "chat",
            [(2, "system_in_the_middle", "misread")],
        ),
        ([assistant("a"), user("q")], "anthropic", [(0, "starts_on_assistant", "refused")]),
        ([assistant("a"), user("q")], "responses", [(0, "starts_on_assistant", "misread")]),
        ([system("S" * 500), user("q")], "chat", []),
        ([system("S" * 501), user("q")], "chat", [(0, "long_system", "advice")]),
        ([user("q"), user("r")], "anthropic", [(1, "same_role_twice", "advice")]),
        ([user("q"), user("r")], "chat", []),
        (
            [user("q"), Message("assistant", (Reasoning("hm", id="rs_1"),)), user("r")],
            "responses",
            [(1, "lone_reasoning", "refused")],
        ),
        (
            [user("q"), Message("assistant", (Text("S"),), summary=SummaryOf()), user("r")],
            "chat",
            [],
        ),
        ([Message("assistant", (Text("S"),), summary=SummaryOf()), user("r")], "chat", []),
        ([user("q"), calls("a"), tool_output("a", "r"), assistant("done")], "anthropic", []),
    ],
)
def test_rules_by_hand(messages, target, expected):
    assert found(messages, target) == expected


def test_everything_that_is_mended_has_a_remedy():
    assert set(_REMEDIES) == set(MENDS)


def test_wrong_input_is_named():
    with pytest.raises(ProjectionError, match="target must be one of chat, responses, anthropic"):
        findings([user("q")], "gemini")
    with pytest.raises(MessageError):
        findings("hello")
