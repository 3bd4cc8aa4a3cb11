"""`AnswerStream`: an answer piece by piece, while a thread of its own takes the turn."""

from __future__ import annotations

import contextvars
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from types import TracebackType
from typing import Any

from chatmem_lab.assistants.replies import StreamedReply
from chatmem_lab.errors import AssistantError
from chatmem_lab.messages import Message

__all__ = ["Abandoned", "AnswerStream", "Listener"]


class Abandoned(BaseException):
    """Nobody listens any more: the turn is not finished."""


class _ReadAll:
    """Behind the last piece: the turn waits here for its listener."""


class Listener:
    """What a turn tells its pieces to, and what tells the turn that nobody listens any more.

    Attributes
    ----------
    keeps_partial : bool
        Whether what has come is kept when the rest does not.
    partial : StreamedReply or None
        The reply that is under way.
    """

    def __init__(self, *, keeps_partial: bool) -> None:
        self.keeps_partial = keeps_partial
        self.partial: StreamedReply | None = None
        self._news: SimpleQueue[str | _ReadAll | Message | BaseException] = SimpleQueue()
        self._was_read: SimpleQueue[bool] = SimpleQueue()
        self._is_abandoned = False
        self._events: Any = None

    # The turn's side

    def listen_to(self, events: Any) -> None:
        """These are the events that the turn waits for now."""
        self._events = events

    def hear(self, piece: str) -> None:
        """Hand on a piece, "" for none; `Abandoned` if nobody listens any more."""
        if self._is_abandoned:
            raise Abandoned
        if piece:
            self._news.put(piece)

    def wait_until_read(self) -> None:
        """Wait until all pieces have been read; `Abandoned` if they are not, and not kept."""
        self._news.put(_ReadAll())
        if not self._was_read.get() and not self.keeps_partial:
            raise Abandoned

    def end(self, result: Message | BaseException) -> None:
        """The turn is over."""
        self._news.put(result)

    # The other side

    def next_news(self) -> str | Message | BaseException:
        """The next piece, or how the turn ended."""
        news = self._news.get()
        if isinstance(news, _ReadAll):
            self._was_read.put(True)
            return self.next_news()
        return news

    def abandon(self) -> None:
        """Listen no longer; what the turn waits for is broken off."""
        self._is_abandoned = True
        self._was_read.put(False)
        with suppress(AttributeError, KeyError, OSError, ValueError):
            network = self._events.response.extensions["network_stream"]
            network.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


class AnswerStream:
    """The text of an answer as it comes; `message` when it is done.

    The turn begins with the first piece that is asked for and is kept when the last one has
    been read. An error of the turn is raised where the next piece is asked for. Until then
    nobody else can use the session: read it to its end, or close it. It may be read in any
    thread, and closed by another; where the model has not begun to answer, closing waits for
    it, or for the client's timeout.

    Attributes
    ----------
    message : Message
        The final message, as the memory has it.
    """

    def __init__(self, take_turn: Callable[[Listener], Message], *, keeps_partial: bool) -> None:
        self._listener = Listener(keeps_partial=keeps_partial)
        self._thread = Thread(
            target=contextvars.copy_context().run,
            args=(_work, take_turn, self._listener),
            name="assistant turn",
            daemon=True,
        )
        self._is_over = False
        self._reading = Lock()
        self._message: Message | None = None

    @property
    def message(self) -> Message:
        """The final message, as the memory has it.

        Raises
        ------
        AssistantError
            If the stream has not been read to its end.
        """
        if self._message is None:
            raise AssistantError(
                "there is no message: read the stream to its end first, with a for loop"
            )
        return self._message

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        with self._reading:
            return self._next()

    def _next(self) -> str:
        if self._is_over:
            raise StopIteration
        if self._thread.ident is None:
            self._thread.start()
        try:
            news = self._listener.next_news()
        except BaseException:
            self.close()
            raise
        if isinstance(news, str):
            return news
        self._is_over = True
        self._thread.join()
        if isinstance(news, Abandoned):  # closed by another thread
            raise StopIteration
        if isinstance(news, BaseException):
            raise news
        self._message = news
        raise StopIteration

    def close(self) -> None:
        """Stop listening: the turn is discarded, unless all of it was read."""
        self._abandon()
        if self._thread.ident is not None:
            self._thread.join()

    def _abandon(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._listener.abandon()

    def __enter__(self) -> AnswerStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self._abandon()


def _work(take_turn: Callable[[Listener], Message], listener: Listener) -> None:
    try:
        listener.end(take_turn(listener))
    except BaseException as error:
        listener.end(error)
