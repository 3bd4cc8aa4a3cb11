"""`openai_server`: a local server that speaks Chat Completions and Responses, for offline use."""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from chatmem_lab.messages import ToolCall
from chatmem_lab.testing.chat_api import (
    chunks_of,
    completion_of,
    last_user_text,
    refuse_wrong_chat,
)
from chatmem_lab.testing.loopback import LoopbackRequest, LoopbackServer
from chatmem_lab.testing.responses_api import (
    events_of,
    items_of,
    refuse_wrong_items,
    response_of,
)
from chatmem_lab.testing.served_reply import Refused, Reply, as_reply

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

__all__ = ["OpenAIServer", "openai_server"]

_REPLIES = {
    "refusal": Reply(refusal="I cannot help with that."),
    "empty": Reply(""),
    "reasoning only": Reply("", reasoning="Let me think about", finish_reason="length"),
}
_AFTER = re.compile(r"disconnect after (\d+) chunks?")


@dataclass(frozen=True)
class _Cut:
    """The next reply, of which only the first chunks arrive."""

    chunks: int


@dataclass(frozen=True)
class _Status:
    code: int


@dataclass(frozen=True)
class _Silence:
    """No answer, until the client gives up (`waits`) or at once."""

    waits: bool


class OpenAIServer:
    """What `openai_server` gives: the script to write, and the requests that came.

    Attributes
    ----------
    url : str
        The base URL, for any client.
    requests : list of dict
        The parsed bodies of all requests, in order, those that failed included.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._script: deque[Any] = deque()
        self._for_ever: Any = None
        self._stored: dict[str, list[dict[str, Any]]] = {}
        self._clients: list[OpenAI] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = LoopbackServer(self._answer)
        self.url = f"http://127.0.0.1:{self._http.port}/v1"

    def client(self, *, timeout: float = 10.0, **options: Any) -> OpenAI:
        """An `openai.OpenAI` that asks this server, once per call, and is closed with it.

        Parameters
        ----------
        timeout : float
            Seconds until it gives up.
        options
            What else `openai.OpenAI` takes.
        """
        from openai import DefaultHttpxClient, OpenAI

        # Settings for a proxy would lead away from this machine.
        options.setdefault("http_client", DefaultHttpxClient(trust_env=False))
        client = OpenAI(**self._client_options(timeout, options))
        self._clients.append(client)
        return client

    def async_client(self, *, timeout: float = 10.0, **options: Any) -> AsyncOpenAI:
        """The same as an `openai.AsyncOpenAI`; close it with ``async with``."""
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        options.setdefault("http_client", DefaultAsyncHttpxClient(trust_env=False))
        return AsyncOpenAI(**self._client_options(timeout, options))

    def _client_options(self, timeout: float, options: dict[str, Any]) -> dict[str, Any]:
        own = {"base_url": self.url, "api_key": "local", "max_retries": 0, "timeout": timeout}
        return {**own, **options}

    def reply(
        self,
        answer: str | Reply | Callable[[dict[str, Any]], Any] | None = None,
        *,
        tool_calls: Iterable[ToolCall] = (),
        reasoning: str | None = None,
        refusal: str | None = None,
        finish_reason: str | None = None,
        times: int | None = 1,
    ) -> None:
        """Script the next answer; several are given in order.

        Parameters
        ----------
        answer : str, Reply or callable, optional
            The text; or a function of the request's body that gives a text, a list of
            `ToolCall` or a `Reply`.
        tool_calls : iterable of ToolCall
            A call without an id gets a new one each time.
        reasoning, refusal, finish_reason : str, optional
        times : int, optional
            How often; None for every request that the rest of the script leaves.
        """
        if callable(answer):
            step: Any = answer
        elif isinstance(answer, Reply):
            step = answer
        else:
            given = Reply(answer, tuple(tool_calls), reasoning, refusal, finish_reason)
            step = replace(given, text=as_reply(answer).text)
        self._add(step, times)

    def fail(self, how: int | str, *, times: int | None = 1) -> None:
        """Script a failure.

        Parameters
        ----------
        how : int or str
            A status from 400 to 599, "timeout", "disconnect", "disconnect after 2 chunks" (of
            the answer scripted next), "invalid json arguments", "refusal", "empty" or
            "reasoning only".
        times : int, optional
            How often; None for every request that the rest of the script leaves.
        """
        self._add(_failure(how), times)

    def _add(self, step: Any, times: int | None) -> None:
        with self._lock:
            if times is None:
                self._for_ever = step
            else:
                self._script.extend([step] * times)

    def _next(self) -> Any:
        with self._lock:
            return self._script.popleft() if self._script else self._for_ever

    # One request

    def _answer(self, body: dict[str, Any], request: LoopbackRequest, api: str) -> None:
        with self._lock:
            self.requests.append(body)
        items: list[dict[str, Any]] = []
        if api == "chat":
            refuse_wrong_chat(body)
        else:
            earlier = self._earlier(body)
            refuse_wrong_items(body, earlier)
            items = [*earlier, *items_of(body)]
        step = self._next()
        chunks = None
        if isinstance(step, _Cut):
            chunks = step.chunks
            step = self._next()
        if isinstance(step, _Status):
            request.send_error_body(step.code)
        elif isinstance(step, _Silence):
            request.hang_up(self._closing if step.waits else None)
        else:
            reply = self._reply(step, body, items)
            if api == "chat":
                self._send_chat(body, reply, request, chunks)
            else:
                self._send_response(body, items, reply, request, chunks)

    def _earlier(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        before = body.get("previous_response_id")
        if before is None:
            return []
        if before not in self._stored:
            what = f"there is no response {before!r}"
            raise Refused(what, "previous_response_id", "previous_response_not_found")
        return self._stored[before]

    @staticmethod
    def _reply(step: Any, body: dict[str, Any], items: list[dict[str, Any]]) -> Reply:
        if callable(step):
            step = step(body)
        if step is not None:
            return as_reply(step)
        said = last_user_text(items or body["messages"])
        return Reply(f"You said: {said}" if said else "Good day.")

    @staticmethod
    def _send_chat(
        body: dict[str, Any], reply: Reply, request: LoopbackRequest, chunks: int | None
    ) -> None:
        if body.get("stream"):
            lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks_of(body, reply)]
            request.send_stream([*lines, "data: [DONE]\n\n"], chunks)
        else:
            request.send_json(200, completion_of(body, reply), whole=chunks is None)

    def _send_response(
        self,
        body: dict[str, Any],
        items: list[dict[str, Any]],
        reply: Reply,
        request: LoopbackRequest,
        chunks: int | None,
    ) -> None:
        response = response_of(body, items, reply)
        if body.get("store", True):
            self._stored[response["id"]] = [*items, *response["output"]]
        if body.get("stream"):
            lines = [
                f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': n})}\n\n"
                for n, event in enumerate(events_of(response))
            ]
            request.send_stream(lines, chunks)
        else:
            request.send_json(200, response, whole=chunks is None)

    def _serve(self) -> None:
        self._http.serve_forever(poll_interval=0.02)

    def _close(self) -> None:
        self._closing.set()
        for client in self._clients:
            client.close()
        self._http.shutdown()
        self._http.server_close()


def _failure(how: int | str) -> Any:
    if isinstance(how, int) and 400 <= how <= 599:
        return _Status(how)
    if how in ("timeout", "disconnect"):
        return _Silence(waits=how == "timeout")
    if how == "invalid json arguments":
        return _call_that_is_no_json
    if isinstance(how, str) and how in _REPLIES:
        return _REPLIES[how]
    after = _AFTER.fullmatch(how) if isinstance(how, str) else None
    if after:
        return _Cut(int(after[1]))
    known = ["timeout", "disconnect", "disconnect after 2 chunks", "invalid json arguments"]
    raise ValueError(
        f"there is no failure {how!r}: a status from 400 to 599, or one of "
        f"{', '.join(map(repr, [*known, *_REPLIES]))}"
    )


def _call_that_is_no_json(body: dict[str, Any]) -> Reply:
    """A call of the first tool that the request offers, with arguments that end too early."""
    tool: dict[str, Any] = next(iter(body.get("tools") or ()), {})
    name = tool.get("function", tool).get("name", "lookup")
    return Reply(tool_calls=(ToolCall("", name, '{"path": "a'),))


@contextmanager
def openai_server() -> Iterator[OpenAIServer]:
    """A server on this machine that speaks Chat Completions and Responses, streams included.

    What is not scripted is answered with the last text of the user. A token is a word. Requests
    that the APIs refuse (an unknown role, an empty message, a call without its result) are
    refused. It knows the two ways to create an answer and, for Responses,
    `previous_response_id`; nothing else.

    Yields
    ------
    OpenAIServer
        With ``client()``, ``reply(…)``, ``fail(…)`` and ``requests``.

    Examples
    --------
    >>> with openai_server() as server, server.client() as client:
    ...     server.reply("We open at nine.")
    ...     for text in ("When do you open?", "Thank you."):
    ...         messages = [{"role": "user", "content": text}]
    ...         reply = client.chat.completions.create(model="gpt-5", messages=messages)
    ...         print(reply.choices[0].message.content)
    We open at nine.
    You said: Thank you.
    >>> [request["messages"][0]["content"] for request in server.requests]
    ['When do you open?', 'Thank you.']
    """
    server = OpenAIServer()
    thread = threading.Thread(target=server._serve, name="openai_server", daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server._close()
        thread.join()
