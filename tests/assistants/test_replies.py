from __future__ import annotations

import pytest

from chatmem_lab.assistants.replies import (
    ChatStream,
    ResponseStream,
    reply_from_chat,
    reply_from_response,
)
from chatmem_lab.errors import AssistantError
from chatmem_lab.messages import Message, Reasoning, Refusal, Text, ToolCall, Usage

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": 1}'}}


def completion(message, reason="stop", **facts):
    given = {"id": "chatcmpl-1", "model": "gpt-5-2026", "created": 1, **facts}
    return {**given, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def chunk(delta, reason=None, **facts):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **facts}


def streamed(stream, events):
    return [stream.add(event) for event in events]


def test_a_completion():
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 8},
    }
    message = {"role": "assistant", "content": "Noon.", "refusal": None, "annotations": []}
    assert reply_from_chat(completion(message, usage=usage)) == Message(
        "assistant",
        (Text("Noon."),),
        id="chatcmpl-1",
        model="gpt-5-2026",
        usage=Usage(100, 20, 64, None, 8),
        finish_reason="stop",
    )


def test_a_completion_with_calls_keeps_their_arguments_raw():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{ "a":1'}}
    reply = reply_from_chat(completion({"content": None, "tool_calls": [call]}, "tool_calls"))
    assert reply.tool_calls == (ToolCall("c1", "f", '{ "a":1'),)
    assert reply.parts == ()
    assert reply.finish_reason == "tool_calls"


def test_calls_without_an_id_get_one():
    call = {"type": "function", "function": {"name": "f", "arguments": ""}}
    given = completion({"tool_calls": [{**call, "id": ""}, {**call, "id": None}]})
    assert [c.id for c in reply_from_chat(given).tool_calls] == [
        "call_chatcmpl-1_0",
        "call_chatcmpl-1_1",
    ]


def test_a_refusal():
    reply = reply_from_chat(completion({"content": None, "refusal": "No."}))
    assert reply.parts == (Refusal("No."),)


def test_what_is_not_modelled_stays():
    reply = reply_from_chat(completion({"content": "a", "reasoning_content": "hm"}))
    assert reply.extra == {"reasoning_content": "hm"}


def test_usage_that_cannot_be_read_is_unknown_and_kept():
    odd = {"prompt_tokens": "many"}
    reply = reply_from_chat(completion({"content": "a"}, usage=odd))
    assert (reply.usage, reply.extra) == (None, {"usage": odd})


@pytest.mark.parametrize(
    "given",
    [{}, {"choices": []}, {"choices": [{}]}, {"choices": [{"message": {"content": 3}}]}],
)
def test_what_is_no_completion(given):
    with pytest.raises(AssistantError, match=r"has no choices|cannot be read"):
        reply_from_chat(given)


def test_an_error_in_place_of_choices_is_told():
    with pytest.raises(AssistantError, match=r"no choices \(503: overloaded\)"):
        reply_from_chat({"choices": None, "error": {"code": 503, "message": "overloaded"}})


RESPONSE = {
    "id": "resp_1",
    "model": "gpt-5-2026",
    "status": "completed",
    "usage": {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 8},
        "total_tokens": 120,
    },
    "output": [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "a"}, {"type": "x", "text": "b"}],
            "encrypted_content": "sealed",
        },
        {
            "type": "message",
            "id": "msg_1",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
        },
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "c1",
            "name": "read",
            "arguments": '{"path": 1}',
        },
    ],
}


def test_a_response():
    assert reply_from_response(RESPONSE) == Message(
        "assistant",
        (Reasoning("a\nb", "rs_1", "sealed"), Text("Let me look.")),
        tool_calls=(ToolCall("c1", "read", '{"path": 1}'),),
        id="msg_1",
        model="gpt-5-2026",
        usage=Usage(100, 20, 64, 0, 8),
        finish_reason="tool_calls",
        extra={
            "phase": "commentary",
            "output": [{"type": "web_search_call", "id": "ws_1", "status": "completed"}],
        },
    )


def test_a_response_without_a_message_item_has_the_id_of_the_response():
    only_call = {**RESPONSE, "output": RESPONSE["output"][3:]}
    assert reply_from_response(only_call).id == "resp_1"


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"status": "completed"}, "stop"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "length",
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "content_filter",
        ),
        ({"status": "incomplete", "incomplete_details": None}, "incomplete"),
        ({"status": "failed", "error": {"message": "x"}}, "failed"),
    ],
)
def test_why_a_response_ended(facts, reason):
    reply = reply_from_response({"output": RESPONSE["output"][1:2], **facts})
    assert reply.finish_reason == reason
    assert (reply.extra or {}).get("error") == facts.get("error")


def test_a_refusal_of_responses():
    item = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
    assert reply_from_response({"output": [item]}).parts == (Refusal("No."),)


@pytest.mark.parametrize("output", [[{}], [{"type": "function_call"}], ["x"]])
def test_what_is_no_response(output):
    with pytest.raises(AssistantError, match="cannot be read"):
        reply_from_response({"output": output})


def test_chunks_become_the_completion():
    stream = ChatStream()
    pieces = streamed(
        stream,
        [
            chunk({"role": "assistant", "content": ""}, id="chatcmpl-1", model="m"),
            chunk({"content": "Let "}),
            chunk({"content": "me"}),
            chunk({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "read"}}]}),
            chunk({"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "list"}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"pa'}}]}),
            chunk({"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'th": 1}'}}]}),
            chunk({}, "tool_calls"),
            {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
        ],
    )
    assert pieces == ["", "Let ", "me", *[""] * 7]
    assert stream.is_complete
    assert stream.message == Message(
        "assistant",
        (Text("Let me"),),
        tool_calls=(ToolCall("c1", "read", '{"path": 1}'), ToolCall("c2", "list", "{}")),
        id="chatcmpl-1",
        model="m",
        usage=Usage(3, 4),
        finish_reason="tool_calls",
    )


@pytest.mark.parametrize("numbered", [{"index": 0}, {}])
def test_parallel_calls_that_are_not_numbered(numbered):
    stream = ChatStream()
    for id in ("c1", "c2"):
        call = {**numbered, "id": id, "function": {"name": "f", "arguments": "{"}}
        stream.add(chunk({"tool_calls": [call]}))
        stream.add(chunk({"tool_calls": [{**numbered, "function": {"arguments": "}"}}]}))
    expected = (ToolCall("c1", "f", "{}"), ToolCall("c2", "f", "{}"))
    assert stream.message.tool_calls == expected


def test_b049_chunks_that_broke_off():
    stream = ChatStream()
    function = {"name": "read", "arguments": ""}
    stream.add(chunk({"content": "Let me"}))
    stream.add(chunk({"tool_calls": [{"index": 0, "id": "c1", "function": function}]}))
    stream.add(chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"pa'}}]}))
    assert not stream.is_complete
    assert stream.message == Message(
        "assistant",
        (Text("Let me"),),
        tool_calls=(ToolCall("c1", "read", '{"pa'),),
        finish_reason="incomplete",
    )


def test_only_the_first_choice_is_heard():
    stream = ChatStream()
    assert stream.add({"choices": [{"index": 1, "delta": {"content": "other"}}]}) == ""
    assert stream.message.is_blank


def test_a_refusal_is_heard():
    stream = ChatStream()
    assert streamed(stream, [chunk({"refusal": "I "}), chunk({"refusal": "won't"}, "stop")]) == [
        "I ",
        "won't",
    ]
    assert stream.message.parts == (Refusal("I won't"),)


def test_an_error_among_the_chunks():
    with pytest.raises(AssistantError, match=r"broke off \(overloaded\)"):
        ChatStream().add({"error": {"message": "overloaded"}})
    with pytest.raises(AssistantError, match=r"broke off \(server_error: later\)"):
        ResponseStream().add({"type": "error", "code": "server_error", "message": "later"})


def event(kind, **facts):
    return {"type": f"response.{kind}", **facts}


PARTIAL = [
    event("created", response={"id": "resp_1", "model": "m", "status": "in_progress"}),
    event("output_item.added", output_index=0, item={"type": "reasoning", "id": "rs_1"}),
    event("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="think"),
    event(
        "output_item.done",
        output_index=0,
        item={"type": "reasoning", "id": "rs_1", "summary": [{"text": "think"}]},
    ),
    event(
        "output_item.added", output_index=1, item={"type": "message", "id": "msg_1", "content": []}
    ),
    event("output_text.delta", output_index=1, content_index=0, delta="Let "),
    event("output_text.delta", output_index=1, content_index=0, delta="me"),
    event(
        "output_item.added",
        output_index=2,
        item={"type": "function_call", "call_id": "c1", "name": "read", "arguments": ""},
    ),
    event("function_call_arguments.delta", output_index=2, delta='{"pa'),
]


def test_b049_events_that_broke_off():
    stream = ResponseStream()
    assert "".join(streamed(stream, PARTIAL)) == "Let me"
    assert not stream.is_complete
    assert stream.message == Message(
        "assistant",
        (Reasoning("think", "rs_1"), Text("Let me")),
        tool_calls=(ToolCall("c1", "read", '{"pa'),),
        id="msg_1",
        model="m",
        finish_reason="incomplete",
    )


def test_events_end_with_the_response_itself():
    stream = ResponseStream()
    streamed(stream, [*PARTIAL, event("completed", response=RESPONSE)])
    assert stream.is_complete
    assert stream.message == reply_from_response(RESPONSE)


def test_a_response_that_ends_without_its_output_is_what_was_heard():
    stream = ResponseStream()
    done = {
        "type": "message",
        "id": "msg_1",
        "content": [{"type": "output_text", "text": "Noon."}],
    }
    end = {"id": "resp_1", "model": "m", "status": "completed", "output": []}
    streamed(
        stream,
        [event("output_item.done", output_index=0, item=done), event("completed", response=end)],
    )
    assert (stream.message.text, stream.message.finish_reason) == ("Noon.", "stop")


@pytest.mark.parametrize("kind", ["chat", "responses"])
def test_a_stream_of_the_real_client_is_the_reply_of_the_real_client(server, client, kind):
    def ask(stream):
        # A reply without random ids, so that both are equal.
        server.reply("Let me look", tool_calls=[ToolCall("c1", "read", '{"a": 1}')])
        said = [{"role": "user", "content": "read it"}]
        if kind == "chat":
            options = {"stream_options": {"include_usage": True}} if stream else {}
            return client.chat.completions.create(
                model="gpt-5", messages=said, stream=stream, **options
            )
        return client.responses.create(model="gpt-5", input=said, stream=stream)

    convert, stream = {
        "chat": (reply_from_chat, ChatStream()),
        "responses": (reply_from_response, ResponseStream()),
    }[kind]
    whole = convert(ask(False))
    assert "".join(streamed(stream, ask(True))) == "Let me look"
    assert stream.is_complete
    assert stream.message.same_as(whole)
    assert whole.tool_calls == (ToolCall("c1", "read", '{"a": 1}'),)
    assert whole.usage is not None
    facts = ("model", "usage", "finish_reason")
    assert [getattr(stream.message, f) for f in facts] == [getattr(whole, f) for f in facts]
