"""`to_responses`, item by item."""

from __future__ import annotations

import msgspec
import pytest

from chatmem_lab.errors import ProjectionError
from chatmem_lab.messages import (
    Audio,
    File,
    Image,
    Message,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    assistant,
    developer,
    system,
    tool_output,
    user,
)
from chatmem_lab.policies import MessageWindow
from chatmem_lab.projections import to_responses
from replaying import trace_of
from seed_cases import bug_cases

BUGS = bug_cases()
PNG = "https://example.org/a.png"


def reply(*content, **more):
    return {
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": list(content),
        **more,
    }


def said(text):
    return {"type": "output_text", "text": text, "annotations": []}


def b044_messages():
    """The case's seven items as five messages: 0, 1 with 2, 3, 4 with 5, 6."""
    items = BUGS["B044"]["input"]["items"]
    assert [item.get("id", item.get("role", item["type"])) for item in items] == [
        "user", "rs_1", "fc_1", "function_call_output", "rs_2", "msg_1", "user"
    ]  # fmt: skip
    done = Message("assistant", (Reasoning(id="rs_2"), Text("done")), id="msg_1")
    return [
        user("q"),
        Message("assistant", (Reasoning(id="rs_1"),), tool_calls=(ToolCall("c1", "f", "{}"),)),
        tool_output("c1", "1"),
        done,
        user("next"),
    ]


def names(sent):
    return [item.get("id", item.get("call_id", item.get("role"))) for item in sent]


def test_b044_reasoning_stays_with_its_item():
    messages = b044_messages()
    sent = to_responses(messages, ids=True)
    assert names(sent) == ["user", "rs_1", "c1", "c1", "rs_2", "msg_1", "user"]
    assert sent[1] == {"type": "reasoning", "summary": [], "id": "rs_1"}
    assert sent.repairs == ()
    for n, expected in ((2, ["rs_2", "msg_1", "user"]), (1, ["user"])):
        window = trace_of(messages, MessageWindow(n)).window(-1)
        assert names(to_responses(window, ids=True)) == expected


def test_b044_items_of_which_each_is_a_message():
    apart = [
        user("q"),
        Message("assistant", (Reasoning(id="rs_1"),)),
        assistant(tool_calls=[ToolCall("c1", "f", "{}")]),
        tool_output("c1", "1"),
        Message("assistant", (Reasoning(id="rs_2"),)),
        msgspec.structs.replace(assistant("done"), id="msg_1"),
        user("next"),
    ]
    assert to_responses(apart, ids=True) == to_responses(b044_messages(), ids=True)
    with pytest.raises(ProjectionError, match="message 1 holds reasoning"):
        to_responses([apart[0], apart[4], apart[6]])


def test_messages_of_each_role():
    assert to_responses([user("q"), developer("d"), assistant("a"), system("s")]) == [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "d"}]},
        {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "s"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "q"}]},
        reply(said("a")),
    ]


def test_what_a_user_shows():
    parts = (
        Image(PNG),
        Text("these"),
        Image(PNG, "high"),
        File("a.pdf", "data:application/pdf;base64,AA"),
        File("a.pdf", "https://example.org/a.pdf"),
        File("a.pdf", file_id="file-1"),
    )
    assert to_responses([Message("user", parts)])[0]["content"] == [
        {"type": "input_image", "image_url": PNG, "detail": "auto"},
        {"type": "input_text", "text": "these"},
        {"type": "input_image", "image_url": PNG, "detail": "high"},
        {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": "data:application/pdf;base64,AA",
        },
        {"type": "input_file", "file_url": "https://example.org/a.pdf"},
        {"type": "input_file", "file_id": "file-1"},
    ]


def test_how_closely_an_image_is_looked_at():
    given = ["low", "high", "auto", "original", "medium", ""]
    sent = to_responses(Message("user", tuple(Image(PNG, detail) for detail in given)))
    assert [part["detail"] for part in sent[0]["content"]] == [*given[:4], "auto", "auto"]
    assert sent.repairs == ()


@pytest.mark.parametrize(
    "part",
    [
        Audio("A", "wav"),
        File("a"),
        File("a", "ftp://example.org/a.pdf"),
        Image(""),
        Reasoning("hm"),
    ],
)
def test_what_has_no_form(part):
    with pytest.raises(ProjectionError, match="message 0 holds "):
        to_responses([Message("user", (Text("q"), part))])


def test_calls_are_items_after_the_text():
    calls = [ToolCall("c1", "f", '{"a":  1}'), ToolCall("c2", "g")]
    messages = [
        assistant("Let me see.", tool_calls=calls),
        tool_output("c2", ""),
        tool_output("c1", "r", is_error=True),
    ]
    assert to_responses(messages) == [
        reply(said("Let me see.")),
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a":  1}'},
        {"type": "function_call", "call_id": "c2", "name": "g", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c2", "output": ""},
        {"type": "function_call_output", "call_id": "c1", "output": "r"},
    ]


def test_a_result_with_an_image_is_a_list():
    result = Message("tool", (Text("5"), Image(PNG)), tool_call_id="c1")
    assert to_responses(result)[0]["output"] == [
        {"type": "input_text", "text": "5"},
        {"type": "input_image", "image_url": PNG, "detail": "auto"},
    ]
    assert to_responses(Message("tool", (Text("a"), Text("b"))))[0]["output"] == "a\nb"


def test_a_refusal():
    sent = to_responses(Message("assistant", (Text("Hm."), Refusal("No."))))
    assert sent == [reply(said("Hm."), {"type": "refusal", "refusal": "No."})]


def test_reasoning_stands_directly_before_what_it_was_for():
    first, second = Reasoning("why", "rs_1", "sealed"), Reasoning("then", "rs_2")
    shown = [
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "why"}],
            "encrypted_content": "sealed",
        },
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "then"}]},
    ]
    calling = Message("assistant", (first, Text("a"), second), tool_calls=(ToolCall("c", "f"),))
    sent = to_responses(calling)
    assert sent[:3] == [shown[0], reply(said("a")), shown[1]]
    assert sent[3]["type"] == "function_call"
    late = Message("assistant", (Text("a"), second, Text("b"), first))
    assert to_responses(late) == [shown[1], shown[0], reply(said("a"), said("b"))]


def test_ids_only_where_asked_for_and_where_they_are_the_servers():
    thought = Reasoning("why", "rs_1")
    mine = Message("assistant", (thought, Text("a"), thought, Text("b")), id="msg_1")
    assert [item.get("id") for item in to_responses(mine)] == [None] * 4
    assert [item.get("id") for item in to_responses(mine, ids=True)] == [
        "rs_1", "msg_1", None, None,
    ]  # fmt: skip
    foreign = Message("assistant", (Reasoning("why", "0"), Text("a")), id="chatcmpl-1")
    assert all("id" not in item for item in to_responses(foreign, ids=True))


def test_an_id_that_was_recorded_twice_is_sent_once():
    called = msgspec.structs.replace(assistant(tool_calls=[ToolCall("c1", "f")]), id="msg_1")
    replied = Message("assistant", (Reasoning("why", "rs_1"), Text("a")), id="msg_1")
    messages = [user("q"), called, tool_output("c1", "r"), replied, user("again"), replied]
    sent = to_responses(messages, ids=True)
    assert [item.get("id") for item in sent] == [
        None, None, None, "rs_1", "msg_1", None, None, None,
    ]  # fmt: skip
    assert sent.repairs == ()


def test_the_phase_of_a_reply_is_sent_back():
    phased = msgspec.structs.replace(assistant("a"), extra={"phase": "commentary", "x": 1})
    assert to_responses(phased) == [reply(said("a"), phase="commentary")]
    odd = msgspec.structs.replace(assistant("a"), extra={"phase": 1})
    assert to_responses(odd) == [reply(said("a"))]


def test_there_are_two_styles():
    with pytest.raises(ProjectionError, match='style is "openai" or "ai4j", not \'chat\''):
        to_responses([user("q")], style="chat")
