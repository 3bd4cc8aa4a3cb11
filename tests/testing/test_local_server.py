"""The local server, as the real client of OpenAI sees it."""

import json
import threading
import urllib.error
import urllib.request

import openai
import pytest

from chatmem_lab import ToolCall
from chatmem_lab.testing import Reply, openai_server

HELLO = [{"role": "user", "content": "Good morning, Ada"}]
LOOKUP = {"type": "function", "name": "lookup", "parameters": {"type": "object"}}
CALL = ToolCall("call_1", "lookup", '{"isbn": "0262510871"}')
ASKED = {
    "role": "assistant",
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
    ],
}


@pytest.fixture
def server():
    with openai_server() as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def chat(client, messages=HELLO, **options):
    return client.chat.completions.create(model="gpt-5", messages=messages, **options)


def respond(client, input="Good morning, Ada", **options):
    return client.responses.create(model="gpt-5", input=input, **options)


def call_either(client, api, **options):
    return (chat if api == "chat" else respond)(client, **options)


both_apis = pytest.mark.parametrize("api", ["chat", "responses"])


# Answers


def test_what_is_not_scripted_is_answered_with_what_the_user_said(client):
    completion = chat(client)
    assert completion.choices[0].message.content == "You said: Good morning, Ada"
    assert completion.choices[0].finish_reason == "stop"
    assert respond(client).output_text == "You said: Good morning, Ada"


def test_a_token_is_a_word(server, client):
    server.reply("We open at nine.", times=2)
    usage = chat(client).usage
    # user, Good, morning, Ada
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (4, 4, 8)
    usage = respond(client, instructions="Be brief.").usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (6, 4, 10)


def test_requests_are_kept_in_order_as_they_came(server, client):
    chat(client, temperature=0)
    server.fail(500)
    with pytest.raises(openai.InternalServerError):
        respond(client)
    with pytest.raises(openai.BadRequestError):
        chat(client, messages=[])
    assert server.requests == [
        {"model": "gpt-5", "messages": HELLO, "temperature": 0},
        {"model": "gpt-5", "input": "Good morning, Ada"},
        {"model": "gpt-5", "messages": []},
    ]


def test_ids_are_new_each_time_and_say_what_they_are(server, client):
    nameless = ToolCall("", "lookup", "{}")
    server.reply("One moment.", tool_calls=[nameless, nameless], times=None)
    completions = [chat(client) for _ in range(2)]
    responses = [respond(client) for _ in range(2)]
    ids = [one.id for one in (*completions, *responses)]
    ids += [call.id for one in completions for call in one.choices[0].message.tool_calls]
    ids += [item.id for one in responses for item in one.output]
    ids += [item.call_id for one in responses for item in one.output[1:]]
    assert [id.partition("_")[0].partition("-")[0] for id in ids] == (
        ["chatcmpl"] * 2 + ["resp"] * 2 + ["call"] * 4 + ["msg", "fc", "fc"] * 2 + ["call"] * 4
    )
    assert len(set(ids)) == 18


def test_tool_calls(server, client):
    server.reply(tool_calls=[CALL], times=2)
    choice = chat(client).choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    (call,) = choice.message.tool_calls
    assert (call.id, call.function.name) == ("call_1", "lookup")
    assert call.function.arguments == '{"isbn": "0262510871"}'
    (item,) = respond(client, tools=[LOOKUP]).output
    assert (item.type, item.call_id, item.arguments) == (
        "function_call",
        "call_1",
        '{"isbn": "0262510871"}',
    )


def test_a_function_of_the_request_answers(server, client):
    server.reply(lambda body: f"{len(body['messages'])} messages", times=2)
    assert chat(client).choices[0].message.content == "1 messages"
    assert chat(client, messages=HELLO * 3).choices[0].message.content == "3 messages"
    server.reply(lambda body: [CALL])
    assert chat(client).choices[0].finish_reason == "tool_calls"
    server.reply(lambda body: Reply("cut of", finish_reason="length"))
    assert chat(client).choices[0].finish_reason == "length"


def test_a_function_that_is_wrong_says_so(server, client):
    server.reply(lambda body: body["nothing"])
    with pytest.raises(openai.InternalServerError, match="KeyError: 'nothing'"):
        chat(client)
    server.reply(lambda body: 7)
    with pytest.raises(openai.InternalServerError, match="not int"):
        chat(client)


def test_the_script_is_followed_in_order_and_then_what_is_for_ever(server, client):
    server.reply("always", times=None)
    server.reply("first")
    server.fail(429)
    server.reply("third")
    assert chat(client).choices[0].message.content == "first"
    with pytest.raises(openai.RateLimitError):
        chat(client)
    assert [chat(client).choices[0].message.content for _ in range(3)] == [
        "third",
        "always",
        "always",
    ]


def test_a_response_goes_on_from_an_earlier_one(server, client):
    server.reply(tool_calls=[CALL])
    asked = respond(client)
    output = {"type": "function_call_output", "call_id": "call_1", "output": "in stock"}
    answered = respond(client, [output], previous_response_id=asked.id)
    assert answered.output_text == "You said: Good morning, Ada"
    # user Good morning, Ada | function_call call_1 lookup {"isbn": "…"} with its fc_ id and
    # status | function_call_output call_1 in stock
    assert answered.usage.input_tokens == 4 + 7 + 4
    with pytest.raises(openai.BadRequestError, match="no function_call 'call_1'"):
        respond(client, [output])
    with pytest.raises(openai.BadRequestError) as refused:
        respond(client, previous_response_id="resp_unknown")
    assert refused.value.code == "previous_response_not_found"


def test_a_response_that_is_not_stored_cannot_be_gone_on_from(client):
    first = respond(client, store=False)
    with pytest.raises(openai.BadRequestError):
        respond(client, previous_response_id=first.id)


# Streams


def streamed(client, **options):
    return list(chat(client, stream=True, **options))


def test_a_chat_stream_is_the_answer_in_pieces(server, client):
    server.reply("Let me look.", tool_calls=[CALL, ToolCall("call_2", "now")])
    chunks = streamed(client, stream_options={"include_usage": True})
    deltas = [chunk.choices[0].delta for chunk in chunks[:-1]]
    assert [delta.content for delta in deltas if delta.content] == ["Let ", "me ", "look."]
    pieces = [delta.tool_calls[0] for delta in deltas if delta.tool_calls]
    assert [piece.id for piece in pieces if piece.id] == ["call_1", "call_2"]
    of_first = [piece.function.arguments for piece in pieces if piece.index == 0]
    assert of_first == ["", '{"is', 'bn":', ' "02', "6251", "0871", '"}']
    assert [piece.function.arguments for piece in pieces if piece.index == 1] == [""]
    assert [c.choices[0].finish_reason for c in chunks[-3:-1]] == [None, "tool_calls"]
    # Let me look. | lookup {"isbn": "…"} | now
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == 3 + 3 + 1
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_chat_stream_tells_its_usage_only_when_asked(client):
    assert all(chunk.usage is None and chunk.choices for chunk in streamed(client))


def test_the_clients_own_reading_of_streams_agrees(server, client):
    server.reply("Let me look.", tool_calls=[CALL], times=2)
    with client.chat.completions.stream(model="gpt-5", messages=HELLO) as stream:
        message = stream.get_final_completion().choices[0].message
    assert message.content == "Let me look."
    assert message.tool_calls[0].function.arguments == '{"isbn": "0262510871"}'
    with client.responses.stream(model="gpt-5", input="hi") as stream:
        stream.until_done()
        response = stream.get_final_response()
    assert response.output_text == "Let me look."
    assert response.output[1].arguments == '{"isbn": "0262510871"}'


def test_the_events_of_a_response(server, client):
    server.reply("We open.", reasoning="Hm.", tool_calls=[ToolCall("c1", "now", "{}")])
    events = list(respond(client, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [event.type.removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert events[0].response.id == events[-1].response.id
    assert events[0].response.output == []
    assert events[-1].response.usage.output_tokens == 2 + 1 + 2


# Failures


@both_apis
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("how", "error"),
    [
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (401, openai.AuthenticationError),
        ("disconnect", openai.APIConnectionError),
        ("disconnect after 2 chunks", openai.APIConnectionError),
    ],
)
def test_failures_are_the_clients_errors(server, client, api, stream, how, error):
    server.fail(how)
    with pytest.raises(error):
        for _ in call_either(client, api, stream=stream):
            pass
    call_either(client, api)


@both_apis
def test_silence_ends_with_the_clients_patience(server, api):
    server.fail("timeout")
    with server.client(timeout=0.1) as hasty, pytest.raises(openai.APITimeoutError):
        call_either(hasty, api)


def test_a_server_that_closes_lets_go_of_who_waits():
    with openai_server() as server:
        server.fail("timeout")
        caught = []

        def ask():
            with server.client(timeout=60) as client, pytest.raises(openai.APIConnectionError):
                chat(client)
            caught.append(True)

        asking = threading.Thread(target=ask)
        asking.start()
        while not server.requests:
            pass
    asking.join(timeout=10)
    assert caught == [True]


def test_a_stream_that_breaks_off_brings_exactly_that_many_chunks(server, client):
    server.fail("disconnect after 5 chunks")
    server.reply("Let me", tool_calls=[ToolCall("c1", "read", '{"path": "a"}')])
    stream = chat(client, stream=True)
    chunks = [next(stream).choices[0].delta for _ in range(5)]
    with pytest.raises(openai.APIConnectionError):
        next(stream)
    assert [delta.content for delta in chunks] == ["", "Let ", "me", None, None]
    assert chunks[4].tool_calls[0].function.arguments == '{"pa'


def test_arguments_that_are_no_json(server, client):
    server.fail("invalid json arguments", times=2)
    function = {"name": "weather", "parameters": {}}
    choice = chat(client, tools=[{"type": "function", "function": function}]).choices[0]
    called = choice.message.tool_calls[0].function
    assert called.name == "weather"
    with pytest.raises(json.JSONDecodeError):
        json.loads(called.arguments)
    assert choice.finish_reason == "tool_calls"
    (item,) = respond(client, tools=[LOOKUP]).output
    assert item.name == "lookup"
    with pytest.raises(json.JSONDecodeError):
        json.loads(item.arguments)


def test_answers_that_say_nothing(server, client):
    for how in ("refusal", "empty", "reasoning only"):
        server.fail(how, times=2)
    refused, refused_item = chat(client).choices[0].message, respond(client).output[0]
    assert (refused.content, refused.refusal) == (None, "I cannot help with that.")
    assert refused_item.content[0].refusal == "I cannot help with that."
    assert chat(client).choices[0].message.content == ""
    assert respond(client).output == []
    choice, response = chat(client).choices[0], respond(client)
    assert (choice.finish_reason, choice.message.content) == ("length", "")
    assert choice.message.reasoning_content == "Let me think about"
    assert (response.status, response.incomplete_details.reason) == (
        "incomplete",
        "max_output_tokens",
    )
    assert [item.type for item in response.output] == ["reasoning"]
    assert response.usage.output_tokens_details.reasoning_tokens == 4


def test_a_failure_that_it_does_not_know(server):
    for how in ("explode", 200, None):
        with pytest.raises(ValueError, match="'disconnect after 2 chunks'"):
            server.fail(how)


def test_a_reply_that_is_none(server):
    with pytest.raises(TypeError, match="a text"):
        server.reply(7)


# What it refuses, as the APIs do

RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "in stock"}


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([], "messages"),
        ([{"role": "robot", "content": "hi"}], "messages[0].role"),
        ([{"content": "hi"}], "messages[0].role"),
        (["hi"], "messages[0].role"),
        ([{"role": "user", "content": " "}], "messages[0].content"),
        ([{"role": "user", "content": []}], "messages[0].content"),
        ([{"role": "user", "content": None}], "messages[0].content"),
        ([{"role": "system"}], "messages[0].content"),
        ([*HELLO, {"role": "assistant", "content": ""}], "messages[1].content"),
        ([*HELLO, {"role": "assistant", "content": None}], "messages[1].content"),
        ([*HELLO, {**ASKED, "tool_calls": []}], "messages[1].tool_calls"),
        ([*HELLO, {**ASKED, "tool_calls": [{"id": "c"}]}], "messages[1].tool_calls[0]"),
        ([{**ASKED, "role": "user"}], "messages[0].tool_calls"),
        ([*HELLO, RESULT], "messages[1].tool_call_id"),
        ([*HELLO, ASKED], "messages[1].tool_calls"),
        ([*HELLO, ASKED, *HELLO, RESULT], "messages[1].tool_calls"),
        ([*HELLO, ASKED, RESULT, RESULT], "messages[3].tool_call_id"),
        ([*HELLO, ASKED, {**RESULT, "tool_call_id": "call_2"}], "messages[2].tool_call_id"),
        ([*HELLO, ASKED, {**RESULT, "content": None}], "messages[2].content"),
        ([*HELLO, ASKED, {"role": "tool", "content": "x"}], "messages[2].tool_call_id"),
    ],
)
def test_chats_that_are_refused(client, messages, param):
    with pytest.raises(openai.BadRequestError) as refused:
        chat(client, messages=messages)
    assert refused.value.param == param
    assert refused.value.type == "invalid_request_error"


def test_a_chat_that_is_taken(client):
    chat(client, messages=[{"role": "system", "content": "Be brief."}, *HELLO, ASKED, RESULT])
    chat(client, messages=[*HELLO, {"role": "assistant", "refusal": "No."}, *HELLO])
    chat(client, messages=[{"role": "user", "content": [{"type": "text", "text": "hi"}]}])


FUNCTION_CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "done"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}


@pytest.mark.parametrize(
    ("items", "param"),
    [
        ([], "input"),
        (None, "input"),
        ([{"role": "tool", "content": "x"}], "input[0].role"),
        ([{"role": "user", "content": ""}], "input[0].content"),
        ([*HELLO, {"role": "assistant", "content": []}], "input[1].content"),
        ([{"type": "thought"}], "input[0].type"),
        ([FUNCTION_CALL], "input"),
        ([OUTPUT], "input"),
        ([OUTPUT, FUNCTION_CALL], "input"),
        ([{**FUNCTION_CALL, "arguments": None}, OUTPUT], "input[0].arguments"),
        ([*HELLO, REASONING], "input"),
        ([REASONING, *HELLO], "input"),
    ],
)
def test_responses_that_are_refused(client, items, param):
    with pytest.raises(openai.BadRequestError) as refused:
        respond(client, items)
    assert refused.value.param == param


def test_items_that_are_taken(client):
    respond(client, [*HELLO, REASONING, FUNCTION_CALL, OUTPUT])


def test_a_request_without_a_model_or_without_sense(server):
    for path, data in [
        ("/chat/completions", b'{"messages": []}'),
        ("/responses", b'{"input": "hi"}'),
        ("/chat/completions", b"not JSON"),
        ("/responses", b"[]"),
    ]:
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(server.url + path, data)
    for path, data in [("/embeddings", b"{}"), ("/models", None)]:
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(server.url + path, data)


# Many at once, and asynchronously


def test_many_clients_at_once(server):
    def ask(n):
        with server.client() as client:
            for _ in range(5):
                said = [{"role": "user", "content": f"client {n}"}]
                assert chat(client, messages=said).choices[0].message.content.endswith(f" {n}")

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 40


def test_the_asynchronous_client(server):
    import asyncio

    async def ask():
        async with server.async_client() as client:
            completion = await client.chat.completions.create(model="gpt-5", messages=HELLO)
            stream = await client.responses.create(model="gpt-5", input="hi", stream=True)
            return completion, [event.type async for event in stream]

    completion, types = asyncio.run(ask())
    assert completion.choices[0].message.content == "You said: Good morning, Ada"
    assert types[-1] == "response.completed"
