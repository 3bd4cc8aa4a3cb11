"""`to_chat`, form by form."""

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
    SummaryOf,
    Text,
    ToolCall,
    assistant,
    developer,
    system,
    tool_output,
    user,
)
from chatmem_lab.projections import to_chat
from chatmem_lab.transcripts.chat_message import ChatMessages
from seed_cases import bug_cases, case_message, case_messages, seed_cases

BUGS = bug_cases()
SEEDS = {case["id"]: case for case in seed_cases()}
PNG = "https://example.org/a.png"


def read(records):
    return [ChatMessages(lambda what: None)(record) for record in records]


@pytest.mark.parametrize("role", ["assistant", "user", "system"])
def test_b032_a_summary_makes_no_late_system_message(role):
    summary = Message(role, (Text("Earlier: x"),), summary=SummaryOf())
    assert to_chat([system("sys"), summary, user("q")]) == [
        {"role": "system", "content": "sys"},
        {"role": role, "content": "Earlier: x"},
        {"role": "user", "content": "q"},
    ]


def test_b041_arguments_that_are_not_json_stay_byte_for_byte():
    sent = to_chat(case_messages(BUGS["B041"]["input"]["messages"]))
    assert sent[1]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"value": '}}
    ]
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "user"]
    assert sent.repairs == ()


def test_b043_arguments_are_always_a_string():
    given = BUGS["B043"]["input"]["arguments"]
    functions = [{"name": "read", "arguments": arguments} for arguments in given]
    calls = [{"id": f"c{i}", "function": f} for i, f in enumerate(functions)]
    results = [{"role": "tool", "tool_call_id": f"c{i}", "content": ""} for i in range(3)]
    sent = to_chat(read([{"role": "assistant", "tool_calls": calls}, *results]))
    assert [call["function"]["arguments"] for call in sent[0]["tool_calls"]] == [
        '{"path":"notes.txt"}',
        "{}",
        '{"path":"notes.txt"}',
    ]


def test_b047_the_image_of_a_result_stands_after_the_last_result():
    messages = read(BUGS["B047"]["input"]["messages"])
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    expected = [
        {"role": "tool", "tool_call_id": "c1", "content": "5"},
        {"role": "tool", "tool_call_id": "c2", "content": "ok"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "Image from tool call c1:"}, image],
        },
    ]
    sent = to_chat(messages)
    assert sent[2:] == expected
    assert sent.repairs == ()
    assert to_chat([*messages, assistant("five")])[2:] == [
        *expected,
        {"role": "assistant", "content": "five"},
    ]


def test_what_several_results_hold_is_told_apart():
    messages = [
        assistant(tool_calls=[ToolCall("c1", "f"), ToolCall("c2", "f")]),
        Message("tool", (Image(PNG), Audio("AAAA", "mp3")), tool_call_id="c2"),
        Message("tool", (File("a.pdf", "data:application/pdf;base64,AAAA"),), tool_call_id="c1"),
    ]
    assert to_chat(messages)[1:] == [
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Content from tool call c2:"},
                {"type": "image_url", "image_url": {"url": PNG}},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
                {"type": "text", "text": "File from tool call c1:"},
                {
                    "type": "file",
                    "file": {
                        "filename": "a.pdf",
                        "file_data": "data:application/pdf;base64,AAAA",
                    },
                },
            ],
        },
    ]


@pytest.mark.parametrize("case", ["ai4j-project-01", "ai4j-project-06"])
def test_ai4j_chat_projection(case):
    if case == "ai4j-project-01":
        messages = read(SEEDS[case]["messages"])
    else:
        messages = case_messages(SEEDS[case]["messages"])
    assert to_chat(messages) == SEEDS[case]["expect"]["chat"]


def test_ai4j_project_04_blank_image_addresses_are_dropped_when_the_item_is_made():
    case = SEEDS["ai4j-project-04"]
    _, text, urls = case["ops"][0]
    item = case_message({"role": "user", "content": text, "image_urls": urls}, 0)
    assert to_chat([item]) == case["expect"]["chat"]


def test_system_and_developer_messages_stand_in_front_in_order():
    sent = to_chat([user("q"), developer("d"), assistant("a"), system("s"), user("r")])
    assert sent == [
        {"role": "developer", "content": "d"},
        {"role": "system", "content": "s"},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "r"},
    ]
    assert sent.repairs == ()


def test_several_parts_keep_their_order():
    parts = (Image(PNG, "low"), Text("one"), Text(""), Text("two"))
    assert to_chat([Message("user", parts)])[0]["content"] == [
        {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
        {"type": "text", "text": "one"},
        {"type": "text", "text": "two"},
    ]
    several = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    texts = (Text("one"), Text("two"))
    call = assistant(tool_calls=[ToolCall("c1", "f")])
    sent = to_chat([Message("assistant", texts), call, Message("tool", texts, tool_call_id="c1")])
    assert [m.get("content") for m in sent] == [several, None, several]
    assert to_chat([user("only")])[0]["content"] == "only"


def test_how_closely_an_image_is_looked_at():
    given = ["low", "high", "auto", "original", "medium", None]
    sent = to_chat(Message("user", tuple(Image(PNG, detail) for detail in given)))
    details = [part["image_url"].get("detail") for part in sent[0]["content"]]
    assert details == [*given[:4], None, None]
    assert sent.repairs == ()


def test_files_and_sound_of_a_user():
    parts = (
        File("a.pdf", "data:application/pdf;base64,AA"),
        File(file_id="file-1"),
        Audio("A", "wav"),
    )
    assert to_chat([Message("user", parts)])[0]["content"] == [
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"},
        },
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "input_audio", "input_audio": {"data": "A", "format": "wav"}},
    ]


@pytest.mark.parametrize(
    "part",
    [
        File("a", "https://example.org/a.pdf"),
        File("a"),
        Audio("A"),
        Audio("A", "flac"),
        Image(" "),
    ],
)
def test_what_has_no_form(part):
    with pytest.raises(ProjectionError, match="message 0 holds a"):
        to_chat([Message("user", (Text("q"), part))])


def test_an_assistant_with_calls_only_has_no_content():
    call = ToolCall("c1", "now")
    shown = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    sent = to_chat([assistant(tool_calls=[call]), tool_output("c1", "noon")])
    assert sent[0] == {"role": "assistant", "tool_calls": [shown]}
    assert to_chat(assistant("Let me see.", tool_calls=[call])) == [
        {"role": "assistant", "content": "Let me see.", "tool_calls": [shown]}
    ]


def test_a_refusal():
    assert to_chat(Message("assistant", (Refusal("No."),))) == [
        {"role": "assistant", "content": None, "refusal": "No."}
    ]
    assert to_chat(Message("assistant", (Text("Hm."), Refusal("No.")))) == [
        {"role": "assistant", "content": "Hm.", "refusal": "No."}
    ]


def test_reasoning_is_never_sent():
    thought = Reasoning("hm", "rs_1", "sealed")
    alone = Message("assistant", (thought,))
    sent = to_chat([user("q"), alone, Message("assistant", (thought, Text("a"))), alone])
    assert sent == [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    assert sent.repairs == ()
    assert to_chat(alone) == []


def test_names_of_speakers_and_no_facts():
    spoken = msgspec.structs.replace(
        assistant("a"), name="bo", id="msg_1", model="m", metadata={"a": 1}, extra={"b": 2}
    )
    call = assistant(tool_calls=[ToolCall("c1", "f")])
    sent = to_chat(
        [user("q", name="ada"), spoken, call, tool_output("c1", "r", name="f", is_error=True)]
    )
    assert sent[:2] == [
        {"role": "user", "name": "ada", "content": "q"},
        {"role": "assistant", "name": "bo", "content": "a"},
    ]
    assert sent[3] == {"role": "tool", "tool_call_id": "c1", "content": "r"}
