"""`record`: a client of OpenAI that writes down every call made through it."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import warnings
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from chatmem_lab.assistants.call_log import CallLog
from chatmem_lab.assistants.replies import (
    ChatStream,
    ResponseStream,
    reply_from_chat,
    reply_from_response,
)
from chatmem_lab.assistants.sent import sent_to_chat, sent_to_responses
from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Message
from chatmem_lab.messages.surrogates import normalised
from chatmem_lab.messages.wellformed import with_texts

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

    Client = TypeVar("Client", bound=OpenAI | AsyncOpenAI)

__all__ = ["record"]

#: Its ways to convert what is sent, a reply, and a reply in pieces.
_APIS: dict[str, tuple[Any, Any, Any]] = {
    "chat": (sent_to_chat, reply_from_chat, ChatStream),
    "responses": (sent_to_responses, reply_from_response, ResponseStream),
}


def record(client: Client, path: str | os.PathLike[str]) -> Client:
    """The same client, which appends every call made through it to a transcript.

    `read` gives the transcript back as conversations: messages, tools, usage, model, times and
    why each reply ended. A call that extends an earlier one (its messages begin with what that
    one sent and got, or it names that one's response) goes on with its conversation; only what
    is new is written. Where two calls extend the same one, the later is the conversation, and
    the other a branch of its own (``extra["branch_of"]``). Replies that came with a request
    and were made by no recorded call have ``generated=False``: they are no request.

    Parameters
    ----------
    client : openai.OpenAI or openai.AsyncOpenAI
        Stays as it is.
    path : path
        A file of recorded calls, or one that is not there yet. Threads and processes may share
        it, and a later run goes on with it.

    Returns
    -------
    openai.OpenAI or openai.AsyncOpenAI
        Behaves like `client`.

    Raises
    ------
    TranscriptError
        If the file holds something else, or its folder is not there.

    Warns
    -----
    UserWarning
        If a call could not be recorded. The call itself is never disturbed.

    Notes
    -----
    Recorded are ``chat.completions`` and ``responses``: ``create``, ``parse`` and ``stream``,
    and ``with_raw_response`` where it does not stream. A call that fails leaves nothing. A
    stream that breaks off, or is closed early, leaves what had come, with the finish reason
    "incomplete" and ``metadata["incomplete"]``. A chat stream tells its usage only when asked:
    ``stream_options={"include_usage": True}``. Of several choices the first is recorded.
    ``with_streaming_response`` and responses in the background are not recorded. Keys, headers
    and other settings of a request are not written; what was said is.

    Examples
    --------
    >>> from chatmem_lab.corpora import read
    >>> from chatmem_lab.testing import openai_server
    >>> folder = getfixture("tmp_path")
    >>> with openai_server() as server:
    ...     client = record(server.client(), folder / "calls.jsonl")
    ...     messages = [{"role": "user", "content": "Good morning"}]
    ...     reply = client.chat.completions.create(model="gpt-5", messages=messages)
    >>> (conversation,) = read(folder / "calls.jsonl")
    >>> [message.text for message in conversation.messages]
    ['Good morning', 'You said: Good morning']
    """
    from openai import AsyncOpenAI, OpenAI

    if not isinstance(client, OpenAI | AsyncOpenAI):
        raise TypeError(
            f"client must be an openai.OpenAI or openai.AsyncOpenAI, not "
            f"{type(client).__name__}: record the client before something else wraps it"
        )
    _check_path(Path(path))
    recorded: Client = _recorded(client.copy(), CallLog(path))
    return recorded


def _recorded(client: Any, log: CallLog) -> Any:
    resources = (
        ("chat", client.chat.completions),
        ("chat", client.beta.chat.completions),
        ("responses", client.responses),
    )
    for api, resource in resources:
        for name in ("create", "parse"):
            setattr(resource, name, _taking_down(getattr(resource, name), api, log))
    copy = client.copy

    @functools.wraps(copy)
    def recorded_copy(*args: Any, **options: Any) -> Any:
        return _recorded(copy(*args, **options), log)

    for name in ("copy", "with_options"):
        setattr(client, name, recorded_copy)
    return client


def _taking_down(create: Callable[..., Any], api: str, log: CallLog) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(inspect.unwrap(create)):

        @functools.wraps(create)
        async def create_async(*args: Any, **request: Any) -> Any:
            call = _Call(api, log, _listed(request))
            return call.answered(await create(*args, **request))

        return create_async

    @functools.wraps(create)
    def create_sync(*args: Any, **request: Any) -> Any:
        call = _Call(api, log, _listed(request))
        return call.answered(create(*args, **request))

    return create_sync


def _listed(request: dict[str, Any]) -> dict[str, Any]:
    """The request, in which what can be read only once has become a list."""
    for name in ("messages", "input", "tools"):
        if isinstance(request.get(name), Iterator):
            request[name] = list(request[name])
    return request


class _Call:
    """One call, from what is sent to what is written down."""

    def __init__(self, api: str, log: CallLog, request: dict[str, Any]) -> None:
        self._log = log
        self._api = api
        self._at = datetime.now(UTC)
        sent_to, self._reply_from, self._stream = _APIS[api]
        self._sent = None
        with self._undisturbed():
            self._sent = sent_to(request)

    def answered(self, result: Any) -> Any:
        """Write the reply down, now or as a stream brings it; give it on as it is."""
        with self._undisturbed():
            self._take(result)
        return result

    def _take(self, result: Any) -> None:
        from openai import AsyncStream, Stream

        if hasattr(result, "http_response"):
            if not result.http_response.is_closed:
                raise ValueError("a raw response that is still to be read cannot be recorded")
            result = result.parse()
        if isinstance(result, Stream | AsyncStream):
            _Tap(self).onto(result)
            return
        status = getattr(result, "status", None)
        if status in ("queued", "in_progress"):
            raise ValueError("a response in the background has no reply yet")
        if status not in ("failed", "cancelled"):
            response = result.id if self._api == "responses" else None
            self._write(self._reply_from(result), response)

    def ended(self, events: Iterable[Any]) -> None:
        """Write down what a stream brought."""
        with self._undisturbed():
            stream = self._stream()
            response = None
            for event in events:
                stream.add(event)
                response = getattr(event, "response", None) or response
            reply = stream.message
            if not stream.is_complete or reply.finish_reason == "failed":
                if reply.is_blank:
                    return
                reply = replace(reply, metadata={"incomplete": True})
            self._write(reply, getattr(response, "id", None))

    def _write(self, reply: Message, response: str | None) -> None:
        if self._sent is not None:
            reply = replace(with_texts(reply, normalised), created_at=datetime.now(UTC))
            self._log.append(self._sent, reply, at=self._at, response=response)

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """What goes wrong with the record is no fault of the call."""
        try:
            yield
        except Exception as wrong:
            what = (
                f"{self._log.path}: a call was not recorded: {str(wrong) or type(wrong).__name__}"
            )
            try:
                warnings.warn(what, UserWarning, stacklevel=3)
            except UserWarning:
                logging.getLogger(__name__).warning(what)


class _Tap:
    """Sees the events of a stream as they go by, and when it ends."""

    def __init__(self, call: _Call) -> None:
        self._call = call
        self._events: list[Any] = []
        self._has_ended = False

    def onto(self, stream: Any) -> None:
        """Let the stream's events go by here; it stays the object that it is."""
        # One that is neither read to its end nor closed ends with the object, or the process.
        weakref.finalize(stream, self._end)
        response = stream.response
        if hasattr(stream, "__aiter__"):
            stream._iterator = self._pass_on_async(stream._iterator)
            response.aclose = self._closing_async(response.aclose)
        else:
            stream._iterator = self._pass_on(stream._iterator)
            response.close = self._closing(response.close)

    def _pass_on(self, events: Iterator[Any]) -> Iterator[Any]:
        try:
            for event in events:
                self._events.append(event)
                yield event
        finally:
            self._end()

    async def _pass_on_async(self, events: AsyncIterator[Any]) -> AsyncIterator[Any]:
        try:
            async for event in events:
                self._events.append(event)
                yield event
        finally:
            self._end()

    def _closing(self, close: Callable[[], None]) -> Callable[[], None]:
        def closed() -> None:
            close()
            self._end()

        return closed

    def _closing_async(self, close: Callable[[], Any]) -> Callable[[], Any]:
        async def closed() -> None:
            await close()
            self._end()

        return closed

    def _end(self) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._call.ended(self._events)
            self._events = []


def _check_path(path: Path) -> None:
    if "\0" in str(path) or (path.exists() and not path.is_file()):
        raise TranscriptError(
            "a transcript is an ordinary file, which this is not: name another one",
            source=str(path),
        )
