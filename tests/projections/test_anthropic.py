"""`to_anthropic`, block by block."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import ProjectionError
from chatmem_lab.messages import (
    Audio,
    File,
    Image,
    Message,
    Reasoning,
    Refusal,
    SummaryOf,
    Text,
    ToolCall,
    assistant,
    developer,
    system,
    tool_output,
    user,
)
from chatmem_lab.projections import to_anthropic
from chatmem_lab.projections.anthropic import BEGINS_EARLIER
from seed_cases import bug_cases, case_messages

BUGS = bug_cases()
PNG = "https://example.org/a.png"


def text(text):
    return {"type": "text", "text": text}


def turn(role, *blocks):
    return {"role": role, "content": list(blocks)}


def kinds(sent):
    return [(r.index, r.call_id, r.what) for r in sent.repairs]


@pytest.mark.parametrize(
    ("role", "system_text", "first"),
    [
        ("assistant", "sys", [text("Earlier: x"), text("q")]),
        ("user", "sys", [text("Earlier: x"), text("q")]),
        ("system", "sys\n\nEarlier: x", [text("q")]),
    ],
)
def test_b032_a_summary_of_each_role(role, system_text, first):
    summary = Message(role, (Text("Earlier: x"),), summary=SummaryOf())
    sent = to_anthropic([system("sys"), summary, user("q")])
    assert sent == {"system": system_text, "messages": [turn("user", *first)]}
    assert sent.repairs == ()


def test_a_summary_before_a_reply_is_the_first_user_message():
    summary = Message("assistant", (Text("Earlier: x"),), summary=SummaryOf())
    assert to_anthropic([summary, summary, assistant("a"), summary]) == {
        "messages": [
            turn("user", text("Earlier: x"), text("Earlier: x")),
            turn("assistant", text("a"), text("Earlier: x")),
        ]
    }


def test_b041_arguments_that_are_no_object_are_never_silently_empty():
    messages = case_messages(BUGS["B041"]["input"]["messages"])
    with pytest.raises(ProjectionError, match=r'message 1 makes call "c1" with arguments'):
        to_anthropic(messages)
    mended = to_anthropic(messages, repair=True)
    assert kinds(mended) == [(1, "c1", "bad_arguments")]
    assert mended["messages"] == [
        turn("user", text("q")),
        turn("assistant", {"type": "tool_use", "id": "c1", "name": "run", "input": {}}),
        turn(
            "user",
            {"type": "tool_result", "tool_use_id": "c1", "content": "bad arguments"},
            text("go on"),
        ),
    ]


def b046_messages():
    records = BUGS["B046"]["input"]["messages"]
    empty, use = records[1]["content"]
    result = records[2]["content"][0]
    call = ToolCall(use["id"], use["name"], "{}")
    return [
        user(records[0]["content"]),
        Message("assistant", (Text(empty["text"]),), tool_calls=(call,)),
        tool_output(result["tool_use_id"], result["content"]),
    ]


def test_b046_an_empty_text_block_is_left_out():
    sent = to_anthropic(b046_messages())
    assert sent["messages"] == [
        turn("user", text("q")),
        turn("assistant", {"type": "tool_use", "id": "t1", "name": "f", "input": {}}),
        turn("user", {"type": "tool_result", "tool_use_id": "t1", "content": "1"}),
    ]
    assert sent.repairs == ()


def test_b046_a_message_with_nothing_left():
    empty = Message("assistant", (Text(""),))
    messages = [*b046_messages(), empty, user("and?")]
    with pytest.raises(ProjectionError, match="message 3 says nothing"):
        to_anthropic(messages)
    mended = to_anthropic(messages, repair=True)
    assert kinds(mended) == [(3, None, "blank_message")]
    assert mended["messages"][2:] == [
        turn("user", {"type": "tool_result", "tool_use_id": "t1", "content": "1"}, text("and?"))
    ]


def test_system_texts_are_one_wherever_they_stand():
    sent = to_anthropic([system("a"), user("q"), developer("b"), user("r"), system("c")])
    assert sent == {
        "system": "a\n\nb\n\nc",
        "messages": [turn("user", text("q"), text("r"))],
    }
    assert to_anthropic([user("q")]).keys() == {"messages"}


def test_user_and_assistant_take_turns():
    messages = [user("a"), user("b"), assistant("c"), system("s"), assistant("d"), user("e")]
    assert to_anthropic(messages)["messages"] == [
        turn("user", text("a"), text("b")),
        turn("assistant", text("c"), text("d")),
        turn("user", text("e")),
    ]


def test_results_stand_together_before_the_text():
    calls = [ToolCall("c1", "f", '{"a": [1]}'), ToolCall("c2", "g")]
    messages = [
        user("q"),
        assistant("Both.", tool_calls=calls),
        tool_output("c2", "", is_error=True),
        Message("tool", (Text("5"), Image(PNG)), tool_call_id="c1"),
        user("and?"),
    ]
    assert to_anthropic(messages)["messages"][1:] == [
        turn(
            "assistant",
            text("Both."),
            {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": [1]}},
            {"type": "tool_use", "id": "c2", "name": "g", "input": {}},
        ),
        turn(
            "user",
            {
                "type": "tool_result",
                "tool_use_id": "c2",
                "content": "(the tool failed without a message)",
                "is_error": True,
            },
            {
                "type": "tool_result",
                "tool_use_id": "c1",
                "content": [text("5"), {"type": "image", "source": {"type": "url", "url": PNG}}],
            },
            text("and?"),
        ),
    ]


def test_what_is_more_than_text_stands_beside_an_error():
    calls = [ToolCall("c1", "f"), ToolCall("c2", "g")]
    broken = Message("tool", (Text("broken"), Image(PNG)), tool_call_id="c1", is_error=True)
    sent = to_anthropic([user("q"), assistant(tool_calls=calls), broken, tool_output("c2", "r")])
    assert sent["messages"][2] == turn(
        "user",
        {"type": "tool_result", "tool_use_id": "c1", "content": "broken", "is_error": True},
        {"type": "tool_result", "tool_use_id": "c2", "content": "r"},
        text("Image from tool call c1:"),
        {"type": "image", "source": {"type": "url", "url": PNG}},
    )
    assert sent.repairs == ()


def test_an_id_stands_for_one_call():
    group = [assistant(tool_calls=[ToolCall("c1", "f")]), tool_output("c1", "r")]
    sent = to_anthropic([user("q"), *group, *group])
    assert [m["content"][0].get("id") for m in sent["messages"]] == [
        None,
        "c1",
        None,
        "c1_2",
        None,
    ]
    assert sent["messages"][4]["content"][0]["tool_use_id"] == "c1_2"
    assert sent.repairs == ()


def test_ids_hold_only_letters_digits_and_two_signs():
    messages = [
        user("q"),
        assistant(tool_calls=[ToolCall("functions.f:0é", "f"), ToolCall("a-Z_9", "f")]),
        tool_output("functions.f:0é", "r"),
        tool_output("a-Z_9", "s"),
    ]
    with pytest.raises(ProjectionError, match=r'message 1 makes call "functions.f:0é", whose id'):
        to_anthropic(messages)
    mended = to_anthropic(messages, repair=True)
    assert [b["id"] for b in mended["messages"][1]["content"]] == ["functions_f_0_", "a-Z_9"]
    assert mended["messages"][2]["content"][0]["tool_use_id"] == "functions_f_0_"
    assert kinds(mended) == [(1, "functions.f:0é", "bad_call_id")]


def test_a_conversation_that_begins_with_a_reply():
    messages = [system("s"), assistant("Welcome."), user("q")]
    with pytest.raises(ProjectionError, match="message 1 is an assistant's"):
        to_anthropic(messages)
    mended = to_anthropic(messages, repair=True)
    assert mended["messages"] == [
        turn("user", text(BEGINS_EARLIER)),
        turn("assistant", text("Welcome.")),
        turn("user", text("q")),
    ]
    assert kinds(mended) == [(1, None, "starts_on_assistant")]


def test_images_and_documents():
    parts = (
        Image("data:image/PNG;base64,AAAA"),
        File("a.pdf", "data:application/pdf;name=a.pdf;base64,BBBB"),
        File(None, "https://example.org/a.pdf"),
    )
    assert to_anthropic([Message("user", parts)])["messages"][0]["content"] == [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
        },
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "BBBB"},
            "title": "a.pdf",
        },
        {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}},
    ]


@pytest.mark.parametrize(
    "part",
    [Audio("A", "wav"), File(file_id="file-1"), File("a"), Image(" "), Image("data:image/png,x")],
)
def test_what_has_no_form(part):
    with pytest.raises(ProjectionError, match="message 0 holds "):
        to_anthropic([Message("user", (Text("q"), part))])


def test_sealed_reasoning_stands_first_and_other_is_left_out():
    sealed, open_ = Reasoning("why", signature="sig"), Reasoning("hm")
    parts = (open_, Text("a"), sealed, Refusal("No."))
    sent = to_anthropic([user("q"), Message("assistant", parts)])
    thinking = {"type": "thinking", "thinking": "why", "signature": "sig"}
    assert sent["messages"][1] == turn("assistant", thinking, text("a"), text("No."))
    assert sent.repairs == ()
    after = to_anthropic([user("q"), Message("assistant", (open_,)), assistant("a")])
    assert after["messages"][1] == turn("assistant", text("a"))
    assert to_anthropic(Message("assistant", (open_,))) == {"messages": []}


def test_a_blank_line_beside_a_call_is_left_out_and_trailing_space_stays():
    call = ToolCall("c1", "f")
    messages = [
        user("q"),
        assistant("\n\n", tool_calls=[call]),
        tool_output("c1", " "),
        assistant("a "),
    ]
    sent = to_anthropic(messages)["messages"]
    assert sent[1] == turn("assistant", {"type": "tool_use", "id": "c1", "name": "f", "input": {}})
    assert sent[2]["content"][0]["content"] == ""
    assert sent[3] == turn("assistant", text("a "))
