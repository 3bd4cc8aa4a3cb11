"""Calls and their results, for every API alike."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import ProjectionError
from chatmem_lab.messages import Message, Text, ToolCall, assistant, system, tool_output, user
from chatmem_lab.projections import to_anthropic, to_chat, to_responses
from chatmem_lab.projections.pairing import INTERRUPTED, CallIds, paired
from chatmem_lab.projections.repair import Repairs
from chatmem_lab.projections.source import Given
from seed_cases import bug_cases, case_messages

BUGS = bug_cases()
ALL = [to_chat, to_responses, to_anthropic]


def calls(*ids, arguments="{}"):
    return assistant(tool_calls=[ToolCall(id, "read", arguments) for id in ids])


def pair(messages, repair=True, **options):
    """Positions with what is called or answered there, and the repairs."""
    repairs = Repairs("an API", repair)
    placed = paired(Given(messages, alone=False), repairs, CallIds(repairs, **options))
    shown = [
        (i, [call.id for call in m.tool_calls] or m.tool_call_id or m.text) for i, m in placed
    ]
    return shown, [(r.index, r.call_id, r.what) for r in repairs.made]


def assert_refused(messages, *words, **options):
    with pytest.raises(ProjectionError) as error:
        pair(messages, repair=False, **options)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("project", ALL)
def test_b004_every_single_result_must_be_covered(project):
    messages = case_messages(BUGS["B004"]["input"]["messages"])
    with pytest.raises(ProjectionError, match=r'message 3 is a result for call "A"'):
        project(messages)
    mended = project(messages, repair=True)
    assert mended == project([*messages[:3], messages[4]])
    assert [(r.index, r.call_id, r.what) for r in mended.repairs] == [(3, "A", "orphan_result")]


@pytest.mark.parametrize("project", ALL)
def test_b008_an_unanswered_call_gets_a_made_result_after_those_that_are_there(project):
    messages = case_messages(BUGS["B008"]["input"]["messages"])
    with pytest.raises(ProjectionError, match=r'message 1 makes call "B", and no result follows'):
        project(messages)
    mended = project(messages, repair=True)
    made = tool_output("B", "(interrupted: no result was recorded)", is_error=True)
    whole = [*messages[:3], made, messages[3]]
    assert mended == project(whole)
    assert [(r.index, r.call_id, r.what) for r in mended.repairs] == [(1, "B", "unanswered_call")]


def test_b008_in_chat():
    sent = to_chat(case_messages(BUGS["B008"]["input"]["messages"]), repair=True)
    assert [m.get("tool_call_id", m["role"]) for m in sent] == [
        "user",
        "assistant",
        "A",
        "B",
        "user",
    ]
    assert sent[3]["content"] == INTERRUPTED


def b049_partial():
    """What a stream had given when it broke."""
    text, call = "", {}
    for chunk in BUGS["B049"]["input"]["chunks"]:
        delta = chunk["delta"]
        text += delta.get("content", "")
        for piece in delta.get("tool_calls", ()):
            call["id"] = piece.get("id", call.get("id"))
            for key, value in piece["function"].items():
                call[key] = call.get(key, "") + value
    return [user("read it"), assistant(text, tool_calls=[ToolCall(**call)])]


@pytest.mark.parametrize("project", ALL)
def test_b049_a_call_that_broke_off(project):
    partial = b049_partial()
    assert partial[1].tool_calls == (ToolCall("c1", "read", '{"pa'),)
    with pytest.raises(ProjectionError, match=r'message 1 makes call "c1"'):
        project(partial)
    mended = project(partial, repair=True)
    whole = assistant("Let me", tool_calls=[ToolCall("c1", "read", "{}")])
    assert mended == project([partial[0], whole, tool_output("c1", INTERRUPTED, is_error=True)])
    assert [(r.index, r.call_id, r.what) for r in mended.repairs] == [
        (1, "c1", "unanswered_call"),
        (1, "c1", "bad_arguments"),
    ]


def test_ids_repeat_across_groups():
    messages = [calls("c1"), tool_output("c1", "1"), calls("c1"), tool_output("c1", "2")]
    assert pair(messages, repair=False) == ([(0, ["c1"]), (1, "c1"), (2, ["c1"]), (3, "c1")], [])


def test_where_an_id_stands_for_one_call_a_later_one_is_numbered():
    messages = [
        m
        for _ in range(3)
        for m in (calls("c1", "c2"), tool_output("c2", ""), tool_output("c1", ""))
    ]
    shown, repairs = pair([*messages, calls("c1_2"), tool_output("c1_2", "")], False, once=True)
    assert [what for _, what in shown] == [
        ["c1", "c2"], "c2", "c1",
        ["c1_2", "c2_2"], "c2_2", "c1_2",
        ["c1_3", "c2_3"], "c2_3", "c1_3",
        ["c1_2_2"], "c1_2_2",
    ]  # fmt: skip
    assert repairs == []


def test_a_message_of_another_kind_closes_the_group():
    messages = [calls("A"), system("be kind"), tool_output("A", "late")]
    assert_refused(messages, 'message 0 makes call "A"')
    assert pair(messages) == (
        [(0, ["A"]), (0, "A"), (1, "be kind")],
        [(0, "A", "unanswered_call"), (2, "A", "orphan_result")],
    )


def test_a_second_result_is_an_orphan():
    messages = [calls("A", "B"), tool_output("A", ""), tool_output("A", ""), tool_output("B", "")]
    assert_refused(messages, 'message 2 is a result for call "A"')
    assert pair(messages) == (
        [(0, ["A", "B"]), (1, "A"), (3, "B")],
        [(2, "A", "orphan_result")],
    )


def test_every_open_id_is_named():
    assert_refused(
        [user("q"), calls("A", "B", "C"), tool_output("B", "")],
        'message 1 makes call "A", "C", and no result follows',
    )
    assert pair([calls("A", "B", "C"), tool_output("B", "")]) == (
        [(0, ["A", "B", "C"]), (1, "B"), (0, "A"), (0, "C")],
        [(0, "A", "unanswered_call"), (0, "C", "unanswered_call")],
    )


def test_an_unanswered_call_is_named_as_it_was_recorded():
    messages = [calls("A"), tool_output("A", ""), calls("A", "")]
    assert pair(messages, once=True) == (
        [(0, ["A"]), (1, "A"), (2, ["A_2", "call_2_1"]), (2, "A_2"), (2, "call_2_1")],
        [
            (2, None, "missing_call_id"),
            (2, "A", "unanswered_call"),
            (2, "call_2_1", "unanswered_call"),
        ],
    )


def test_whole_arguments_of_an_unanswered_call_stay():
    sent = to_chat([calls("A", arguments='{"p":  1}')], repair=True)
    assert sent[0]["tool_calls"][0]["function"]["arguments"] == '{"p":  1}'
    assert [r.what for r in sent.repairs] == ["unanswered_call"]


@pytest.mark.parametrize("no_id", [None, ""])
def test_a_result_without_an_id_answers_the_oldest_open_call(no_id):
    nameless = Message("tool", (Text("1"),), tool_call_id=no_id)
    messages = [calls("A", "B", "C"), tool_output("A", ""), nameless, tool_output("C", "")]
    assert_refused(messages, "message 2 is a result without a call id", '"B"')
    assert pair(messages) == (
        [(0, ["A", "B", "C"]), (1, "A"), (2, "B"), (3, "C")],
        [(2, "B", "missing_call_id")],
    )
    assert pair([user("q"), nameless]) == ([(0, "q")], [(1, no_id, "orphan_result")])


def test_calls_without_an_id_get_one():
    messages = [
        user("q"),
        calls("", "A", " "),
        tool_output("", ""),
        tool_output("A", ""),
        tool_output(" ", ""),
    ]
    assert_refused(messages, 'message 1 makes a call of "read" without an id')
    shown, repairs = pair(messages)
    assert shown[1:] == [
        (1, ["call_1_0", "A", "call_1_2"]), (2, "call_1_0"), (3, "A"), (4, "call_1_2"),
    ]  # fmt: skip
    assert [what for _, _, what in repairs] == ["missing_call_id"] * 3


def test_two_calls_of_one_message_with_one_id():
    messages = [
        calls("A", "A", "A_2"),
        tool_output("A", ""),
        tool_output("A_2", ""),
        tool_output("A", ""),
    ]
    assert_refused(messages, 'message 0 makes two calls "A"')
    assert pair(messages) == (
        [(0, ["A", "A_2", "A_2_2"]), (1, "A"), (2, "A_2_2"), (3, "A_2")],
        [(0, "A", "repeated_call_id")],
    )


def test_ids_are_spelt_as_the_api_takes_them_in_calls_and_results():
    def spell(id):
        return id.replace(".", "_")

    messages = [calls("a.b", "a_b"), tool_output("a_b", ""), tool_output("a.b", "")]
    assert_refused(messages, 'message 0 makes call "a.b"', spell=spell)
    assert pair(messages, spell=spell) == (
        [(0, ["a_b", "a_b_2"]), (1, "a_b_2"), (2, "a_b")],
        [(0, "a.b", "bad_call_id")],
    )
