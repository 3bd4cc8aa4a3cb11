"""The recording client is the real one, its transcript what the lab reads."""

import asyncio
import inspect
import json
import os
import subprocess
import sys
import threading
import warnings

import openai
import pytest

import chatmem_lab as cml
from chatmem_lab import ToolCall
from chatmem_lab.assistants.recorder import record
from chatmem_lab.errors import ProjectionError, TranscriptError
from chatmem_lab.testing import Reply, openai_server

LOOKUP = {
    "type": "function",
    "function": {
        "name": "lookup",
        "description": "Find a book.",
        "parameters": {"type": "object", "properties": {"isbn": {"type": "string"}}},
    },
}
FLAT_LOOKUP = {"type": "function", **LOOKUP["function"]}
both_apis = pytest.mark.parametrize("api", ["chat", "responses"])


@pytest.fixture
def server():
    with openai_server() as server:
        yield server


@pytest.fixture
def path(tmp_path):
    return tmp_path / "calls.jsonl"


@pytest.fixture
def client(server, path):
    return record(server.client(), path)


def said(role, content, **more):
    return {"role": role, "content": content, **more}


def chat(client, messages, model="gpt-4o", **options):
    return client.chat.completions.create(model=model, messages=messages, **options)


def respond(client, input, model="gpt-4o", **options):
    return client.responses.create(model=model, input=input, **options)


def ask(client, api, text="hello", **options):
    return (
        chat(client, [said("user", text)], **options)
        if api == "chat"
        else respond(client, text, **options)
    )


def texts(conversation):
    return [f"{message.role}: {message.text}" for message in conversation.messages]


def one(path):
    (conversation,) = cml.read(path)
    return conversation


# Conversations


def test_a_conversation_is_one_though_each_call_sends_it_whole(server, client, path):
    server.reply("Good morning.")
    server.reply("At nine.")
    messages = [said("system", "Be brief."), said("user", "Hello.")]
    reply = chat(client, messages, temperature=0.5).choices[0].message
    messages += [said("assistant", reply.content), said("user", "When do you open?")]
    chat(client, messages)

    conversation = one(path)
    assert texts(conversation) == [
        "system: Be brief.",
        "user: Hello.",
        "assistant: Good morning.",
        "user: When do you open?",
        "assistant: At nine.",
    ]
    assert conversation.model == "gpt-4o"
    assert conversation.requests == [2, 4]
    first, second = (conversation.messages[i] for i in conversation.requests)
    # A word is a token: system Be brief. user Hello. | Good morning.
    assert (first.usage.input_tokens, first.usage.output_tokens) == (5, 2)
    # … assistant Good morning. user When do you open?
    assert (second.usage.input_tokens, second.usage.output_tokens) == (13, 2)
    assert (first.model, first.finish_reason) == ("gpt-4o", "stop")
    assert first.id.startswith("chatcmpl-")
    times = [message.created_at for message in conversation.messages]
    assert times == sorted(times)
    assert conversation.created_at == times[0]


def test_only_what_is_new_is_written(client, path):
    messages = []
    for number in range(5):
        messages.append(said("user", f"question {number}"))
        messages.append(said("assistant", chat(client, messages).choices[0].message.content))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [[message["role"] for message in line["new"]] for line in lines] == (
        [["user", "assistant"]] * 5
    )
    assert len(one(path)) == 10


def test_replay_counts_what_was_recorded(server, client, path):
    server.reply("Good morning.")
    server.reply("At nine.")
    messages = [said("system", "Be brief."), said("user", "Hello.")]
    reply = chat(client, messages).choices[0].message
    chat(client, [*messages, reply, said("user", "When?")])
    run = cml.replay(one(path), cml.KeepAll())
    # gpt-4o: 3 for the reply, and for each message 4 and its tokens:
    # Be| brief|.   Hello|.   Good| morning|.   When|?
    first = 3 + (4 + 3) + (4 + 2)
    assert list(run.requests["input_tokens"]) == [first, first + (4 + 3) + (4 + 2)]
    assert list(run.requests["messages"]) == [2, 4]
    # Recorded, in words: Good morning. | At nine.
    assert list(run.requests["output_tokens"]) == [2, 2]
    assert set(run.requests["output_kind"]) == {"recorded"}
    window = cml.replay(one(path), cml.MessageWindow(1))
    assert list(window.requests["messages"]) == [2, 2]


def test_conversations_that_take_turns_come_apart(client, path):
    held = {"Ada": [], "Bob": []}
    for turn in range(3):
        for name, messages in held.items():
            messages.append(said("user", f"{name} {turn}"))
            messages.append(said("assistant", chat(client, messages).choices[0].message.content))
    conversations = cml.read(path)
    assert [texts(c)[0::2] for c in conversations] == [
        [f"user: {name} {turn}" for turn in range(3)] for name in held
    ]
    assert [len(c) for c in conversations] == [6, 6]
    assert len({c.id for c in conversations}) == 2


def test_two_that_begin_alike_are_two(server, client, path):
    server.reply("Hello.")
    server.reply("Good day.")
    for _ in range(2):
        ask(client, "chat", "hi")
    chat(client, [said("user", "hi"), said("assistant", "Good day."), said("user", "and?")])
    assert [texts(c) for c in cml.read(path)] == [
        ["user: hi", "assistant: Hello."],
        ["user: hi", "assistant: Good day.", "user: and?", "assistant: You said: and?"],
    ]


def test_an_edited_question_is_a_branch_and_no_request_counts_twice(client, path):
    messages = [said("user", "a")]
    messages.append(said("assistant", chat(client, messages).choices[0].message.content))
    chat(client, [*messages, said("user", "b")])
    chat(client, [*messages, said("user", "c")])
    chat(client, [*messages, said("user", "c"), said("assistant", "You said: c"), messages[0]])
    active, branch = cml.read(path)
    assert texts(active)[0::2] == ["user: a", "user: c", "user: a"]
    assert texts(branch)[0::2] == ["user: a", "user: b"]
    assert (active.requests, branch.requests) == ([1, 3, 5], [3])
    assert branch.extra == {"branch_of": active.id, "shared_messages": 2}


def test_replies_that_no_recorded_call_made_are_no_requests(client, path):
    chat(client, [said("user", "a"), said("assistant", "b"), said("user", "c")])
    conversation = one(path)
    assert texts(conversation)[1] == "assistant: b"
    assert conversation.requests == [3]
    times = [message.created_at for message in conversation.messages]
    assert [time is None for time in times] == [True, True, False, False]


def test_an_instruction_that_changes_does_not_end_the_conversation(client, path):
    first = [said("user", "a"), said("assistant", "You said: a"), said("user", "b")]
    for day, messages in (("Monday", first[:1]), ("Tuesday", first)):
        chat(client, [said("system", f"It is {day}."), *messages])
    assert texts(one(path)) == [
        "system: It is Monday.",
        "user: a",
        "assistant: You said: a",
        "system: It is Tuesday.",
        "user: b",
        "assistant: You said: b",
    ]


def test_of_two_that_differ_in_instructions_the_right_one_goes_on(client, path):
    for name in ("Ada", "Bob"):
        chat(client, [said("system", f"You are {name}."), said("user", "a")])
    reply = said("assistant", "You said: a")
    chat(client, [said("system", "You are Ada."), said("user", "a"), reply, said("user", "b")])
    assert [len(conversation) for conversation in cml.read(path)] == [5, 3]


# Tools

CALLS = [ToolCall("call_1", "lookup", '{"isbn": "1"}'), ToolCall("call_2", "lookup", "{}")]


def test_parallel_tools_of_chat(server, client, path):
    server.reply("One moment.", tool_calls=CALLS)
    server.reply("Both are there.")
    messages = [said("user", "1 and 2?")]
    # The client's own object is sent back, as its documentation shows.
    messages.append(chat(client, messages, tools=[LOOKUP]).choices[0].message)
    messages += [said("tool", f"{n} found", tool_call_id=f"call_{n}") for n in (2, 1)]
    chat(client, messages, tools=[LOOKUP])
    conversation = one(path)
    assert conversation.tools == (LOOKUP,)
    assert conversation.units == [range(1), range(1, 4), range(4, 5)]
    asked = conversation.messages[1]
    assert (asked.text, asked.tool_calls, asked.finish_reason) == (
        "One moment.",
        tuple(CALLS),
        "tool_calls",
    )
    assert [m.tool_call_id for m in conversation.messages[2:4]] == ["call_2", "call_1"]
    assert list(cml.replay(conversation, cml.KeepAll()).requests["messages"]) == [1, 4]
    assert cml.to_chat(conversation.messages)[2:4] == messages[2:4]


@pytest.mark.parametrize("how", ["items", "previous", "plain"])
def test_parallel_tools_of_responses(server, client, path, how):
    server.reply("One moment.", tool_calls=CALLS, reasoning="Two books.")
    server.reply("Both are there.")
    first = respond(client, "1 and 2?", tools=[FLAT_LOOKUP], instructions="Be brief.")
    outputs = [
        {"type": "function_call_output", "call_id": f"call_{n}", "output": f"{n} found"}
        for n in (1, 2)
    ]
    question = said("user", "1 and 2?")
    answer = {"items": first.output, "previous": [], "plain": first.output[1:]}[how]
    if how == "previous":
        options = {"previous_response_id": first.id}
    else:
        options = {"instructions": "Be brief."}
        outputs = [question, *answer, *outputs]
    respond(client, outputs, tools=[FLAT_LOOKUP], **options)
    conversation = one(path)
    assert texts(conversation) == [
        "system: Be brief.",
        "user: 1 and 2?",
        "assistant: One moment.",
        "tool: 1 found",
        "tool: 2 found",
        "assistant: Both are there.",
    ]
    asked = conversation.messages[2]
    assert asked.parts[0].text == "Two books."
    assert asked.tool_calls == tuple(CALLS)
    assert asked.finish_reason == "tool_calls"
    assert asked.usage.reasoning_tokens == 2
    assert conversation.tools == (LOOKUP,)
    assert conversation.requests == [2, 5]


def test_arguments_that_are_no_json_are_kept_as_they_are(server, client, path):
    server.fail("invalid json arguments", times=2)
    chat(client, [said("user", "a")], tools=[LOOKUP])
    respond(client, "b", tools=[FLAT_LOOKUP])
    for conversation in cml.read(path):
        (call,) = conversation.messages[1].tool_calls
        assert (call.name, call.arguments) == ("lookup", '{"path": "a')
        assert len(cml.replay(conversation, cml.KeepAll()).requests) == 1


def test_tools_that_come_and_go(client, path):
    chat(client, [said("user", "a")], tools=[LOOKUP])
    chat(client, [said("user", "a"), said("assistant", "You said: a"), said("user", "b")])
    assert one(path).tools == ()


def test_a_response_that_was_not_recorded_leaves_a_trace(server, client, path):
    before = respond(server.client(), "a")
    respond(client, "b", previous_response_id=before.id)
    conversation = one(path)
    assert texts(conversation) == ["user: b", "assistant: You said: b"]
    assert conversation.extra == {"continues": before.id}


def test_one_conversation_through_both_apis(client, path):
    chat(client, [said("user", "a")])
    respond(client, [said("user", "a"), said("assistant", "You said: a"), said("user", "b")])
    assert one(path).requests == [1, 3]


# Streams


@both_apis
def test_a_stream_is_recorded_as_the_whole_reply(server, client, path, api):
    server.reply("One moment.", tool_calls=CALLS)
    options = {"stream_options": {"include_usage": True}} if api == "chat" else {}
    stream = ask(client, api, stream=True, **options)
    assert type(stream) is openai.Stream
    assert not path.exists()
    for _ in stream:
        pass
    reply = one(path).messages[1]
    assert (reply.text, reply.tool_calls) == ("One moment.", tuple(CALLS))
    assert (reply.finish_reason, reply.metadata) == ("tool_calls", None)
    # One moment. | lookup {"isbn": "1"} | lookup {}
    assert reply.usage.output_tokens == 2 + 3 + 2


@both_apis
def test_a_streams_events_are_those_of_the_client(server, client, api):
    server.reply("At nine o'clock.", times=2)
    plain = [event.to_dict() for event in ask(server.client(), api, stream=True)]
    recorded = [event.to_dict() for event in ask(client, api, stream=True)]

    def without_ids(value):
        if isinstance(value, dict):
            changing = ("id", "item_id", "created", "created_at")
            return {k: without_ids(v) for k, v in value.items() if k not in changing}
        return [without_ids(one) for one in value] if isinstance(value, list) else value

    assert without_ids(recorded) == without_ids(plain)


def test_B049_a_stream_that_breaks_off_in_a_tool_call(server, client, path):
    server.fail("disconnect after 5 chunks")
    server.reply("Let me", tool_calls=[ToolCall("c1", "read", '{"path": "a"}')])
    with pytest.raises(openai.APIConnectionError):
        list(ask(client, "chat", stream=True))
    conversation = one(path)
    (reply,) = conversation.messages[1:]
    assert reply.text == "Let me"
    assert reply.tool_calls == (ToolCall("c1", "read", '{"pa'),)
    assert (reply.finish_reason, reply.metadata) == ("incomplete", {"incomplete": True})
    with pytest.raises(ProjectionError, match="c1"):
        cml.to_chat(conversation.messages)
    assert cml.to_chat(conversation.messages, repair=True).repairs


def test_a_response_that_breaks_off(server, client, path):
    # created, in_progress, item added, part added, "Let ", "me "
    server.fail("disconnect after 6 chunks")
    server.reply("Let me look.")
    with pytest.raises(openai.APIConnectionError):
        list(ask(client, "responses", stream=True))
    reply = one(path).messages[1]
    assert (reply.text, reply.finish_reason) == ("Let me ", "incomplete")
    assert reply.metadata == {"incomplete": True}


@both_apis
def test_a_stream_that_breaks_off_before_it_says_anything_leaves_nothing(
    server, client, path, api
):
    server.fail("disconnect after 1 chunk")
    with pytest.raises(openai.APIConnectionError):
        list(ask(client, api, stream=True))
    assert not path.exists()


def test_what_broke_off_does_not_stand_in_the_way(server, client, path):
    asked = [said("user", "a")]
    reply = chat(client, asked).choices[0].message
    again = [*asked, reply, said("user", "b")]
    server.fail("disconnect after 2 chunks")
    with pytest.raises(openai.APIConnectionError):
        list(chat(client, again, stream=True))
    chat(client, again)
    active, broken = cml.read(path)
    assert texts(active)[3] == "assistant: You said: b"
    assert (texts(broken)[3], broken.requests) == ("assistant: You ", [3])


@pytest.mark.parametrize("how", ["close", "with", "forget"])
@both_apis
def test_a_stream_that_is_not_read_to_its_end(server, client, path, api, how):
    server.reply("one two three")
    stream = ask(client, api, stream=True)
    for event in stream:
        if "two" in str(getattr(event, "delta", "") or getattr(event, "choices", "")):
            break
    if how == "close":
        stream.close()
    elif how == "with":
        with stream:
            pass
    else:
        import gc

        del stream, event
        gc.collect()
    reply = one(path).messages[1]
    assert (reply.text, reply.finish_reason) == ("one two ", "incomplete")


@both_apis
def test_the_clients_own_helpers_for_streams(server, client, path, api):
    server.reply("At nine.")
    if api == "chat":
        messages = [said("user", "When?")]
        with client.chat.completions.stream(model="gpt-4o", messages=messages) as stream:
            assert stream.get_final_completion().choices[0].message.content == "At nine."
    else:
        with client.responses.stream(model="gpt-4o", input="When?") as stream:
            assert stream.get_final_response().output_text == "At nine."
    assert texts(one(path)) == ["user: When?", "assistant: At nine."]
    assert one(path).messages[1].finish_reason == "stop"


@both_apis
def test_a_helpers_stream_that_is_left_early(server, client, path, api):
    server.reply("one two three")
    if api == "chat":
        manager = client.chat.completions.stream(model="gpt-4o", messages=[said("user", "a")])
    else:
        manager = client.responses.stream(model="gpt-4o", input="a")
    with manager as stream:
        for event in stream:
            if getattr(event, "delta", None) == "two ":
                break
    assert one(path).messages[1].text == "one two "


def test_a_stream_that_the_process_leaves_open(server, path):
    server.reply("one two three")
    script = f"""
from openai import OpenAI
from chatmem_lab.assistants import record
client = record(OpenAI(base_url={server.url!r}, api_key="local"), {str(path)!r})
stream = client.responses.create(model="gpt-4o", input="a", stream=True)
for event in stream:
    if getattr(event, "delta", None) == "two ":
        break
"""
    environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    assert one(path).messages[1].text == "one two "


# Failures


@both_apis
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("how", "error"),
    [
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (400, openai.BadRequestError),
        ("disconnect", openai.APIConnectionError),
    ],
)
def test_a_call_that_fails_leaves_nothing(server, client, path, api, stream, how, error):
    server.fail(how)
    with pytest.raises(error):
        ask(client, api, stream=stream)
    assert not path.exists()
    ask(client, api)
    assert len(one(path)) == 2


@both_apis
def test_a_call_that_times_out_leaves_nothing(server, client, path, api):
    server.fail("timeout")
    with pytest.raises(openai.APITimeoutError):
        ask(client.with_options(timeout=0.1), api)
    assert not path.exists()


def test_a_retry_is_one_call(server, client, path):
    server.fail(429, times=2)
    ask(client.with_options(max_retries=2), "chat")
    assert len(server.requests) == 3
    assert len(one(path)) == 2


def test_answers_that_say_nothing(server, client, path):
    for how in ("refusal", "empty", "reasoning only"):
        server.fail(how, times=2)
    for _ in range(3):
        ask(client, "chat")
        ask(client, "responses")
    replies = [conversation.messages[1] for conversation in cml.read(path)]
    assert [reply.text for reply in replies] == ["I cannot help with that."] * 2 + [""] * 4
    assert [reply.finish_reason for reply in replies] == ["stop"] * 4 + ["length"] * 2
    assert replies[5].parts[0].text == "Let me think about"


def test_a_record_that_cannot_be_written_disturbs_no_call(client, path):
    path.mkdir()
    with pytest.warns(UserWarning, match="a call was not recorded"):
        assert ask(client, "chat").choices[0].message.content == "You said: hello"
    with pytest.warns(UserWarning, match="a call was not recorded"):
        assert len(list(ask(client, "chat", stream=True))) == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ask(client, "responses").output_text == "You said: hello"
    path.rmdir()
    ask(client, "chat")
    assert len(one(path)) == 2


def test_a_request_that_cannot_be_read_fails_as_it_would(client, path):
    with (
        pytest.warns(UserWarning, match="role: one of"),
        pytest.raises(openai.BadRequestError),
    ):
        chat(client, [said("robot", "a")])
    assert not path.exists()


# The client is what it was


def test_the_client_itself_is_not_changed(server, path):
    client = server.client()
    recorded = record(client, path)
    assert type(recorded) is openai.OpenAI
    assert (recorded.api_key, recorded.base_url) == (client.api_key, client.base_url)
    ask(client, "chat")
    assert not path.exists()
    create = client.chat.completions.create
    assert inspect.signature(recorded.chat.completions.create) == inspect.signature(create)


def test_results_are_the_clients_own(server, client):
    server.reply("At nine.", times=2)
    assert type(ask(client, "chat")) is type(ask(server.client(), "chat"))
    assert isinstance(ask(client, "responses"), openai.types.responses.Response)


def test_a_client_of_another_kind(server, path):
    with openai.AzureOpenAI(
        base_url=server.url,
        api_key="local",
        api_version="2024-10-21",
        http_client=openai.DefaultHttpxClient(trust_env=False),
    ) as azure:
        client = record(azure, path)
        assert type(client) is openai.AzureOpenAI
        ask(client, "chat")
    assert texts(one(path)) == ["user: hello", "assistant: You said: hello"]


def test_two_recorders_of_one_client(server, path):
    other = path.with_name("other.jsonl")
    ask(record(record(server.client(), path), other), "chat")
    assert texts(one(path)) == texts(one(other)) == ["user: hello", "assistant: You said: hello"]


def test_copies_of_the_client_record_too(client, path):
    ask(client.with_options(timeout=5), "chat")
    ask(client.copy(max_retries=1).with_options(timeout=5), "responses")
    assert len(cml.read(path)) == 2


def test_parsed_replies(server, client, path):
    from pydantic import BaseModel

    class Opening(BaseModel):
        hour: int

    server.reply('{"hour": 9}', times=2)
    completion = client.chat.completions.parse(
        model="gpt-4o", messages=[said("user", "When?")], response_format=Opening
    )
    assert completion.choices[0].message.parsed == Opening(hour=9)
    response = client.responses.parse(model="gpt-4o", input="When?", text_format=Opening)
    assert response.output_parsed == Opening(hour=9)
    assert [texts(c)[1] for c in cml.read(path)] == ['assistant: {"hour": 9}'] * 2


def test_raw_responses(client, path):
    for api, resource in (("chat", client.chat.completions), ("responses", client.responses)):
        asked = {"messages": [said("user", api)]} if api == "chat" else {"input": api}
        raw = resource.with_raw_response.create(model="gpt-4o", **asked)
        assert raw.headers["content-type"] == "application/json"
        assert raw.parse().id
    assert [texts(c)[1] for c in cml.read(path)] == [
        "assistant: You said: chat",
        "assistant: You said: responses",
    ]


def test_raw_responses_that_are_still_to_be_read_are_left_out_and_said_so(client, path):
    resource = client.responses.with_streaming_response
    with (
        pytest.warns(UserWarning, match="still to be read"),
        resource.create(model="gpt-4o", input="a") as raw,
    ):
        assert raw.parse().output_text == "You said: a"
    assert not path.exists()


def test_messages_that_can_be_read_only_once(client, path):
    chat(client, (message for message in [said("user", "a")]))
    assert texts(one(path)) == ["user: a", "assistant: You said: a"]


def test_messages_that_change_later_are_recorded_as_they_were_sent(client, path):
    messages = [said("user", "a")]
    stream = chat(client, messages, stream=True)
    messages[0]["content"] = "changed"
    messages.append(said("user", "b"))
    for _ in stream:
        pass
    assert texts(one(path)) == ["user: a", "assistant: You said: a"]


def test_what_is_no_client(path):
    with pytest.raises(TypeError, match="client must be"):
        record(object(), path)


def test_a_file_that_holds_something_else_is_not_spoilt(server, path):
    path.write_text('{"format":1,"id":"c"}\n')
    with pytest.raises(TranscriptError, match="record to another file"):
        record(server.client(), path)
    with pytest.raises(TranscriptError, match="no folder"):
        record(server.client(), path.parent / "none" / "calls.jsonl")


def test_nothing_secret_is_written(server, path):
    client = record(server.client(api_key="sk-secret-1", default_headers={"x": "secret-2"}), path)
    mcp = {
        "type": "mcp",
        "server_label": "shop",
        "server_url": "https://example.org/?key=secret-3",
        "authorization": "secret-4",
        "headers": {"x": "secret-5"},
    }
    options = {
        "extra_headers": {"authorization": "Bearer secret-6"},
        "extra_query": {"key": "secret-7"},
        "extra_body": {"key": "secret-8"},
        "metadata": {"key": "secret-9"},
    }
    respond(client, "hello", tools=[mcp, FLAT_LOOKUP], user="secret-0", **options)
    ask(client, "chat", **options)
    server.fail(401)
    with pytest.raises(openai.AuthenticationError):
        ask(client, "chat")
    assert "secret" not in path.read_text()
    assert cml.read(path)[0].tools == ({"type": "mcp"}, LOOKUP)


# Several at once


def test_threads_share_a_client(server, client, path):
    server.reply(lambda body: f"re {body['messages'][-1]['content']}", times=None)

    def talk(name):
        messages = []
        for turn in range(6):
            messages.append(said("user", f"{name} {turn}"))
            reply = chat(client, messages).choices[0].message.content
            messages.append(said("assistant", reply))

    threads = [threading.Thread(target=talk, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    conversations = cml.read(path)
    assert sorted(texts(c)[0] for c in conversations) == [f"user: {name} 0" for name in "abcdef"]
    for conversation in conversations:
        name = conversation.messages[0].text[0]
        assert texts(conversation) == [
            f"{who} {name} {turn}" for turn in range(6) for who in ("user:", "assistant: re")
        ]


def test_a_later_run_goes_on_with_the_file(server, path):
    ask(record(server.client(), path), "chat", "a")
    messages = [said("user", "a"), said("assistant", "You said: a"), said("user", "b")]
    chat(record(server.client(), path), messages)
    assert one(path).requests == [1, 3]


def test_two_recorders_share_a_file(server, path):
    workers = [record(server.client(), path) for _ in range(2)]
    messages = []
    for turn in range(4):
        messages.append(said("user", f"{turn}"))
        reply = chat(workers[turn % 2], messages).choices[0].message.content
        messages.append(said("assistant", reply))
    assert one(path).requests == [1, 3, 5, 7]


# Asynchronously


def test_the_asynchronous_client(server, path):
    server.reply("one", times=2)
    server.reply(Reply("two", tuple(CALLS)), times=2)
    server.fail("disconnect after 3 chunks")
    server.reply("three four five")

    async def talk():
        client = record(server.async_client(), path)
        assert type(client) is openai.AsyncOpenAI
        await chat(client, [said("user", "a")])
        await respond(client.with_options(timeout=5), "b")
        stream = await chat(client, [said("user", "c")], stream=True)
        assert type(stream) is openai.AsyncStream
        async for _ in stream:
            pass
        async with client.responses.stream(model="gpt-4o", input="d") as events:
            await events.get_final_response()
        with pytest.raises(openai.APIConnectionError):
            async for _ in await chat(client, [said("user", "e")], stream=True):
                pass
        server.reply("six seven")
        stream = await chat(client, [said("user", "f")], stream=True)
        async for chunk in stream:
            if chunk.choices[0].delta.content == "six ":
                break
        await stream.close()
        assert cml.read(path)[-1].messages[1].text == "six "

    asyncio.run(talk())
    replies = [conversation.messages[1] for conversation in cml.read(path)]
    assert [(reply.text, reply.finish_reason) for reply in replies] == [
        ("one", "stop"),
        ("one", "stop"),
        ("two", "tool_calls"),
        ("two", "tool_calls"),
        ("three four ", "incomplete"),
        ("six ", "incomplete"),
    ]
