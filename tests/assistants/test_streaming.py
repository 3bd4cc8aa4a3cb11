from __future__ import annotations

import gc
import socket
import threading

import httpx
import openai
import pytest

from chatmem_lab.assistants import Assistant
from chatmem_lab.errors import AssistantError, ProjectionError
from chatmem_lab.messages import ToolCall
from chatmem_lab.projections import to_chat
from chatmem_lab.testing import Reply
from chatmem_lab.testing.chat_api import chunks_of
from chatmem_lab.testing.responses_api import events_of, response_of
from sent_requests import said, told

#: What a client raises where a connection breaks in the middle of a stream.
BROKEN = (httpx.HTTPError, openai.OpenAIError, AssistantError)


def lookup(isbn: str) -> str:
    return "Emma"


def test_pieces_and_then_the_message(server, memories, make):
    server.reply("We open at nine.")
    stream = make().stream("ann", "When?")
    assert next(stream) == "We "
    with pytest.raises(AssistantError, match="read the stream to its end first"):
        _ = stream.message
    assert list(stream) == ["open ", "at ", "nine."]
    assert list(stream) == []
    assert stream.message.text == "We open at nine."
    assert stream.message.finish_reason == "stop"
    assert stream.message.usage.output_tokens == 4
    assert memories["ann"].history[1] == stream.message


def test_nothing_is_asked_before_the_first_piece_is_wanted(server, memories, make):
    stream = make().stream("ann", "When?")
    stream.close()
    assert list(stream) == []
    assert (server.requests, memories["ann"].history) == ([], ())


def test_tools_within_a_stream(server, memories, make):
    server.reply("Let me look.", tool_calls=[ToolCall("c1", "lookup", '{"isbn": "1"}')])
    server.reply("It is Emma.")
    stream = make(tools=[lookup]).stream("ann", "?")
    assert "".join(stream) == "Let me look.It is Emma."
    assert stream.message.text == "It is Emma."
    assert [m.kind for m in memories["ann"].history] == [
        "user", "tool call", "tool result", "assistant",
    ]  # fmt: skip
    assert said(server.requests[1])[-1] == ("c1", "Emma")


def test_a_refusal_is_read(server, make):
    server.fail("refusal")
    stream = make().stream("ann", "?")
    assert "".join(stream) == stream.message.text == "I cannot help with that."


def test_stream_options_may_be_the_users_own(server, client, memories):
    assistant = Assistant(client, "gpt-5", memories, request={"stream_options": {}})
    list(assistant.stream("ann", "hi"))
    list(Assistant(client, "gpt-5", memories).stream("ann", "hi"))
    assert [request["stream_options"] for request in server.requests] == [
        {},
        {"include_usage": True},
    ]


@pytest.mark.parametrize("on_error", ["rollback", "keep_user"])
@pytest.mark.parametrize("pieces", [1, 2, 4])
def test_closing_early_discards_the_turn(server, memories, make, on_error, pieces):
    server.reply("one two three four")
    with make(on_error=on_error, system="Be kind.").stream("ann", "hi") as stream:
        for _ in range(pieces):
            next(stream)
    kept = [("system", "Be kind."), ("user", "hi")] if on_error == "keep_user" else []
    assert told(memories["ann"]) == kept
    with pytest.raises(AssistantError):
        _ = stream.message


def test_a_stream_that_nobody_holds_any_more_is_closed(server, memories, make):
    server.reply("one two three")
    server.reply("ok")
    assistant = make()
    for _ in assistant.stream("ann", "hi"):
        break
    gc.collect()
    assistant.chat("ann", "again")
    assert told(memories["ann"]) == [("user", "again"), ("assistant", "ok")]


def test_each_piece_may_be_read_in_another_thread(server, memories, make):
    server.reply("one two three")
    stream = make().stream("ann", "hi")
    pieces = []
    for _ in range(4):
        thread = threading.Thread(target=lambda: pieces.append(next(stream, "end")))
        thread.start()
        thread.join(10)
    assert pieces == ["one ", "two ", "three", "end"]
    assert told(memories["ann"]) == [("user", "hi"), ("assistant", "one two three")]


@pytest.mark.parametrize("chunks", [1, 2, 3])
@pytest.mark.parametrize("on_error", ["rollback", "keep_user"])
def test_a_stream_that_breaks_off(server, memories, make, chunks, on_error):
    assistant = make(on_error=on_error)
    server.fail(f"disconnect after {chunks} chunks")
    server.reply("one two three four")
    with pytest.raises(BROKEN):
        list(assistant.stream("ann", "hi"))
    assert told(memories["ann"]) == ([("user", "hi")] if on_error == "keep_user" else [])
    server.reply("done")
    assert "".join(assistant.stream("ann", "hi")) == "done"
    assert told(memories["ann"]) == [("user", "hi"), ("assistant", "done")]


class Chunks(list):
    """A stream that ends without a word of why, as behind some proxies."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def test_a_stream_that_ends_too_early_without_an_error(memories):
    delta = {"choices": [{"index": 0, "delta": {"content": "Once"}}]}

    class Client:
        class chat:
            class completions:
                @staticmethod
                def create(**request):
                    return Chunks([delta])

    stream = Assistant(Client(), "m", memories).stream("ann", "hi")
    assert next(stream) == "Once"
    with pytest.raises(AssistantError, match="ended before the reply was complete"):
        next(stream)
    assert memories["ann"].history == ()


def chunks_up_to(api, text):
    """How many of the server's chunks bring this text: those before the first piece, and its."""
    return {"chat": 1, "responses": 4}[api] + len(text.split())


def test_partial_text_is_kept_when_asked_for_and_is_marked(server, memories, make, api):
    assistant = make()
    server.fail(f"disconnect after {chunks_up_to(api, 'Once upon')} chunks")
    server.reply("Once upon a time")
    stream = assistant.stream("ann", "Tell a story", keep_partial=True)
    pieces = []
    with pytest.raises(BROKEN):
        pieces.extend(stream)
    partial = memories["ann"].history[1]
    assert partial.text.startswith("Once")
    assert partial.text != "Once upon a time"
    assert partial.finish_reason == "incomplete"
    assert partial.metadata["incomplete"]
    assert told(memories["ann"])[0] == ("user", "Tell a story")
    server.reply("a time")
    assistant.chat("ann", "Go on")
    assert [role for role, _ in said(server.requests[-1])] == ["user", "assistant", "user"]


def test_nothing_partial_is_kept_where_nothing_came(server, memories, make):
    server.fail(500)
    with pytest.raises(openai.InternalServerError):
        list(make().stream("ann", "hi", keep_partial=True))
    assert memories["ann"].history == ()


@pytest.mark.parametrize("pieces", [1, 4])
def test_closing_early_keeps_what_has_come_when_asked_for(server, memories, make, pieces):
    server.reply("one two three four")
    stream = make().stream("ann", "hi", keep_partial=True)
    for _ in range(pieces):
        next(stream)
    stream.close()
    history = memories["ann"].history
    assert history[0].text == "hi"
    assert "one two three four".startswith(history[1].text)
    assert history[1].text.startswith("one")


CASE_B049 = ToolCall("c1", "read", '{"path": "a.txt"}')


def broken_in_a_call(server, make, api, **options):
    """Stream `Let me` and a call that breaks off in the middle of its arguments."""

    def read(path: str) -> str:
        raise AssertionError("a call that broke off is never done")

    assistant = make(tools=[read], **options)
    server.fail(f"disconnect after {_chunks_into_the_arguments(api)} chunks")
    server.reply("Let me", tool_calls=[CASE_B049])
    return assistant


def _chunks_into_the_arguments(api):
    reply = Reply("Let me", (CASE_B049,))
    if api == "chat":
        body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
        chunks = list(chunks_of(body, reply))
        holds = [i for i, c in enumerate(chunks) if '{"pa' in str(c).replace("\\", "")]
    else:
        body = {"model": "m", "input": "x"}
        events = list(events_of(response_of(body, [], reply)))
        holds = [i for i, e in enumerate(events) if e["type"].endswith("arguments.delta")]
    return holds[0] + 1


@pytest.mark.parametrize("on_error", ["rollback", "keep_user"])
def test_b049_a_stream_that_breaks_in_a_call(server, memories, make, api, on_error):
    assistant = broken_in_a_call(server, make, api, on_error=on_error)
    with pytest.raises(BROKEN):
        list(assistant.stream("ann", "read it"))
    assert told(memories["ann"]) == ([("user", "read it")] if on_error == "keep_user" else [])


def test_b049_partial_output_that_is_kept(server, memories, make, api):
    assistant = broken_in_a_call(server, make, api)
    with pytest.raises(BROKEN):
        list(assistant.stream("ann", "read it", keep_partial=True))
    _, partial, result = memories["ann"].history
    assert partial.text == "Let me"
    assert [(call.id, call.name) for call in partial.tool_calls] == [("c1", "read")]
    arguments = partial.tool_calls[0].arguments
    assert arguments
    assert arguments != CASE_B049.arguments
    assert CASE_B049.arguments.startswith(arguments)
    assert partial.finish_reason == "incomplete"
    assert (result.tool_call_id, result.is_error) == ("c1", True)
    with pytest.raises(ProjectionError, match='"c1"'):
        to_chat(memories["ann"].history[:2])
    server.reply("ok")
    assert assistant.chat("ann", "again").text == "ok"


class SilentServer:
    """Sends the head of a stream and one chunk, then nothing, until it is closed."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        self.was_left = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        connection, _ = self._socket.accept()
        with connection:
            connection.recv(65536)
            chunk = b'data: {"choices": [{"index": 0, "delta": {"content": "Once"}}]}\n\n'
            head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
            connection.sendall(head + chunk)
            while connection.recv(65536):
                pass
        self.was_left.set()

    def close(self):
        self._socket.close()


def test_closing_does_not_wait_for_a_model_that_says_nothing_more(memories):
    server = SilentServer()
    options = {"http_client": openai.DefaultHttpxClient(trust_env=False)}
    with openai.OpenAI(
        base_url=server.url, api_key="k", timeout=60, max_retries=0, **options
    ) as client:
        stream = Assistant(client, "m", memories).stream("ann", "hi")
        assert next(stream) == "Once"
        closing = threading.Thread(target=stream.close)
        closing.start()
        closing.join(20)
        assert not closing.is_alive()
        assert server.was_left.wait(20)
    assert memories["ann"].history == ()
    server.close()


def test_a_stream_inside_a_turn_of_ones_own_is_refused_and_not_waited_for(make, memories):
    assistant = make()
    with memories["ann"].turn(), pytest.raises(AssistantError, match="is open here"):
        assistant.stream("ann", "hi")


def test_two_threads_read_one_stream_to_its_end(make, server):
    server.reply("one two three four five")
    stream, read = make().stream("ann", "count"), []
    threads = [threading.Thread(target=lambda: read.extend(stream)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert not any(thread.is_alive() for thread in threads)
    assert sorted("".join(read).split()) == ["five", "four", "one", "three", "two"]
    assert stream.message.text == "one two three four five"
