"""OpenAI's chat messages in all arrangements."""

import json

import pytest

from chatmem_lab.corpora import read
from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import ToolCall

HI = {"role": "user", "content": "hi"}
HELLO = {"role": "assistant", "content": "hello"}


def as_lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def texts(conversations):
    return [[message.text for message in c.messages] for c in conversations]


ARRANGEMENTS = {
    "a list": json.dumps([HI, HELLO]).encode(),
    "an indented list": json.dumps([HI, HELLO], indent=2).encode(),
    "an object": json.dumps({"messages": [HI, HELLO]}).encode(),
    "a list of objects": json.dumps([{"messages": [HI, HELLO]}]).encode(),
    "a list of lists": json.dumps([[HI, HELLO]]).encode(),
    "a message a line": as_lines(HI, HELLO),
    "a conversation a line": as_lines({"messages": [HI, HELLO]}),
    "a list a line": as_lines([HI, HELLO]),
}


@pytest.mark.parametrize("data", ARRANGEMENTS.values(), ids=ARRANGEMENTS.keys())
def test_every_arrangement(data):
    conversations = read(data)
    assert texts(conversations) == [["hi", "hello"]]
    assert conversations.report.read[0].format == "openai_chat"


def test_several_conversations_are_numbered_from_0(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(as_lines({"messages": [HI]}, {"messages": [HELLO], "id": "mine"}, [HI]))
    assert [c.id for c in read(path)] == ["log/0", "mine", "log/2"]
    path.write_text(json.dumps([HI]))
    assert [c.id for c in read(path)] == ["log"]


def test_what_a_conversation_has_beside_messages():
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    (conversation,) = read(
        json.dumps(
            {
                "messages": [HI, {**HELLO, "weight": 0}],
                "tools": [tool],
                "functions": [{"name": "old"}],
                "model": "gpt-4o",
                "created": 86_400,
                "metadata": {"a": 1},
                "parallel_tool_calls": False,
            }
        ).encode()
    )
    assert conversation.tools == (tool, {"type": "function", "function": {"name": "old"}})
    assert conversation.model == "gpt-4o"
    assert conversation.created_at.isoformat() == "1970-01-02T00:00:00+00:00"
    assert conversation.metadata == {"a": 1}
    assert conversation.extra == {"parallel_tool_calls": False}
    assert conversation.messages[1].extra == {"weight": 0}


def test_a_result_that_answers_no_call_is_read():
    data = as_lines(HI, {"role": "tool", "tool_call_id": "c9", "content": "42"})
    assert read(data)[0].messages[1].tool_call_id == "c9"


def test_arguments_stay_byte_for_byte():
    raw = '{"a" : 1.50,\t"b":"\u00e9\\u00e9"} no JSON'
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": raw}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    conversations = read(json.dumps([message]).encode())
    assert conversations[0].messages[0].tool_calls == (ToolCall("c1", "f", raw),)
    assert conversations.report.repaired == []


def test_the_line_of_a_wrong_message():
    data = as_lines(HI, HELLO, {"role": "user", "content": 7}, HELLO)
    with pytest.raises(TranscriptError) as caught:
        read(data)
    assert caught.value.line == 3
    assert caught.value.what.startswith("content: a string")
    lenient = read(data, lenient=True)
    assert texts(lenient) == [["hi", "hello", "hello"]]
    assert [note.line for note in lenient.report.skipped] == [3]


def test_a_wrong_conversation_is_left_out_when_lenient():
    data = as_lines({"messages": [HI]}, {"messages": [{"role": "owl"}]}, {"messages": [HELLO]})
    with pytest.raises(TranscriptError, match=r"line 2: messages\[0\].role: one of .* not 'owl'"):
        read(data)
    assert texts(read(data, lenient=True)) == [["hi"], ["hello"]]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"messages": [HI], "tools": {}}, None),
        ({"messages": [HI], "tools": 3}, "tools: a list was expected, not a number"),
        ({"messages": [HI], "tools": [3]}, "tools[0]: an object was expected, not a number"),
        ({"messages": [HI], "model": 3}, "model: a string was expected, not a number"),
        ({"messages": {}}, "messages: a list was expected, not an object"),
        (3, "a list of messages or an object with messages was expected, not a number"),
    ],
)
def test_wrong_types(record, words):
    data = json.dumps(record).encode()
    if words is None:
        assert read(data, format="openai_chat")[0].tools == ()
        return
    with pytest.raises(TranscriptError) as caught:
        read(data, format="openai_chat")
    assert caught.value.what == words


@pytest.mark.parametrize(
    "record",
    [
        {"system": "Be brief.", "messages": [HI]},
        {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]},
        {"messages": [{"role": "usr", "content": "hi"}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"id": "1", "name": "f"}]}]},
        {"conversations": [{"from": "human", "value": "hi"}]},
        [],
        [3],
        "text",
        {},
    ],
)
def test_what_others_wrote_is_not_recognised(record):
    with pytest.raises(TranscriptError, match=r"has no format that is known|neither JSON nor"):
        read(json.dumps(record).encode())
