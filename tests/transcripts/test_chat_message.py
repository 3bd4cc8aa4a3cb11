"""One chat message → `Message`."""

from datetime import UTC, datetime

import pytest

from chatmem_lab.messages import Audio, Message, Opaque, Refusal, Text, ToolCall, Usage
from chatmem_lab.transcripts.chat_message import ChatMessages, is_chat_message
from chatmem_lab.transcripts.fields import WrongField


@pytest.fixture
def repairs():
    return []


@pytest.fixture
def convert(repairs):
    return ChatMessages(repairs.append)


def call(id="c1", name="f", arguments="{}", **more):
    return {
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
        **more,
    }


def test_all_facts(convert):
    message = convert(
        {
            "role": "assistant",
            "content": "yes",
            "name": "bot",
            "id": "m1",
            "created_at": "2026-03-10T10:14:08Z",
            "model": "gpt-5",
            "usage": {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6},
            "finish_reason": "stop",
            "metadata": {"a": 1},
            "refusal": None,
            "audio": None,
            "function_call": None,
            "tool_calls": None,
            "annotations": [],
        }
    )
    assert message == Message(
        "assistant",
        (Text("yes"),),
        name="bot",
        id="m1",
        created_at=datetime(2026, 3, 10, 10, 14, 8, tzinfo=UTC),
        model="gpt-5",
        usage=Usage(5, 1),
        finish_reason="stop",
        metadata={"a": 1},
        extra={"annotations": []},
    )


def test_nothing_left_over_is_none(convert):
    assert convert({"role": "user", "content": "hi"}) == Message("user", (Text("hi"),))


def test_a_refusal_and_a_spoken_answer(convert):
    refused = convert({"role": "assistant", "content": None, "refusal": "No."})
    assert refused.parts == (Refusal("No."),)
    spoken = convert({"role": "assistant", "audio": {"data": "AA==", "transcript": "hi"}})
    assert spoken.parts == (Audio("AA==", transcript="hi"),)
    referred = convert({"role": "assistant", "audio": {"id": "a1"}})
    assert referred.parts == (Opaque("audio", '{"id":"a1"}'),)


def test_arguments_become_text(convert, repairs):
    calls = [call("a", arguments={"x": [1, "é"]}), call("b", arguments=None), call("c")]
    message = convert({"role": "assistant", "tool_calls": calls})
    assert [c.arguments for c in message.tool_calls] == ['{"x":[1,"é"]}', "", "{}"]
    assert repairs == ["arguments were an object: written as JSON text"]


def test_a_call_without_an_id_gets_one(convert, repairs):
    convert({"role": "user", "content": "hi"})
    message = convert({"role": "assistant", "tool_calls": [call(None)]})
    assert message.tool_calls == (ToolCall("call_1_0", "f", "{}"),)
    assert repairs == ["a tool call had no id: it is 'call_1_0'"]


def test_custom_calls_and_what_is_not_modelled(convert):
    custom = {"id": "c2", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    message = convert({"role": "assistant", "tool_calls": [call(index=0), custom]})
    assert message.tool_calls == (ToolCall("c1", "f", "{}"), ToolCall("c2", "sql", "select 1"))
    assert message.extra == {"tool_calls": {"0": {"index": 0}, "1": {"type": "custom"}}}


def test_old_function_calls_pair_with_their_results(convert):
    def old(name):
        return convert({"role": "assistant", "function_call": {"name": name, "arguments": "{}"}})

    def result(name):
        return convert({"role": "function", "name": name, "content": "x"})

    first, second = old("f"), old("g")
    (first_id,) = (c.id for c in first.tool_calls)
    (second_id,) = (c.id for c in second.tool_calls)
    assert first_id != second_id
    answers = [result("g"), result("f"), result("f")]
    assert [answer.role for answer in answers] == ["tool"] * 3
    assert [answer.tool_call_id for answer in answers] == [second_id, first_id, None]


def test_a_few_shot_reply_is_not_generated(convert):
    shown = {"role": "assistant", "name": "example_assistant", "content": "x"}
    assert not convert(shown).generated
    assert convert({"role": "assistant", "name": "bot", "content": "x"}).generated


def test_a_time_that_cannot_be_read_stays_in_extra(convert):
    assert convert({"role": "user", "content": "x", "created_at": "noon"}).extra == {
        "created_at": "noon"
    }


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ([], ""),
        ({"content": "x"}, "role"),
        ({"role": "bot"}, "role"),
        ({"role": ["user"]}, "role"),
        ({"role": "user", "content": {"a": 1}}, "content"),
        ({"role": "user", "content": [3]}, "content[0]"),
        ({"role": "user", "content": [{"text": "x"}]}, "content[0].type"),
        ({"role": "user", "content": [{"type": "text"}]}, "content[0].text"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": 3}]},
            "content[0].image_url",
        ),
        ({"role": "user", "name": 3}, "name"),
        ({"role": "tool", "tool_call_id": 3}, "tool_call_id"),
        ({"role": "assistant", "tool_calls": {}}, "tool_calls"),
        ({"role": "assistant", "tool_calls": [3]}, "tool_calls[0]"),
        ({"role": "assistant", "tool_calls": [{}]}, "tool_calls[0].function"),
        ({"role": "assistant", "tool_calls": [call(3)]}, "tool_calls[0].id"),
        ({"role": "assistant", "tool_calls": [call(name=None)]}, "tool_calls[0].function.name"),
        (
            {"role": "assistant", "tool_calls": [call(arguments=3)]},
            "tool_calls[0].function.arguments",
        ),
        ({"role": "assistant", "function_call": 3}, "function_call"),
        ({"role": "assistant", "function_call": {}}, "function_call.name"),
        ({"role": "assistant", "refusal": 3}, "refusal"),
        ({"role": "assistant", "audio": 3}, "audio"),
        ({"role": "assistant", "usage": 3}, "usage"),
        ({"role": "assistant", "usage": {"prompt_tokens": "3"}}, "usage.prompt_tokens"),
        ({"role": "assistant", "model": 3}, "model"),
    ],
)
def test_a_wrong_type_is_named_by_its_path(convert, record, path):
    with pytest.raises(WrongField) as caught:
        convert(record)
    assert caught.value.path == path


def test_what_looks_like_a_chat_message():
    assert is_chat_message({"role": "tool", "content": None})
    assert not is_chat_message({"role": "user"})
    assert not is_chat_message({"role": ["user"], "content": "x"})
    assert not is_chat_message([])


def test_an_id_that_is_no_text_stays_in_extra(convert):
    message = convert({"role": "user", "content": "x", "id": 17})
    assert (message.id, message.extra) == (None, {"id": 17})
