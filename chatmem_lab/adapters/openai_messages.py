"""`openai_function`: any ``messages -> messages`` function over OpenAI's dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from chatmem_lab.adapters.adapter import Adapter, Answer
from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.adapters.exchange import Exchange
from chatmem_lab.errors import PolicyError, ProjectionError
from chatmem_lab.messages import Message
from chatmem_lab.projections import to_chat
from chatmem_lab.transcripts.chat_message import ChatMessages
from chatmem_lab.window import Window

__all__ = ["OpenAIFunction", "openai_function"]

ChatDicts = list[dict[str, Any]]


@dataclass(frozen=True, repr=False)
class OpenAIFunction(Adapter):
    """A function over OpenAI's dicts. Build it with `openai_function`."""

    function: Callable[[ChatDicts], Iterable[dict[str, Any]]]
    _: KW_ONLY
    sees_what: Literal["window", "history"] = "history"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise PolicyError(f"openai_function needs a function, not {self.function!r}")
        if self.sees_what not in ("window", "history"):
            raise PolicyError(f"sees must be 'window' or 'history', not {self.sees_what!r}")

    @property
    def sees(self) -> Any:  # type: ignore[override]
        return self.sees_what

    def open(self, calls: ModelCalls) -> OpenAIFunction:
        return self

    def answer(self, messages: Sequence[Message], window: Window) -> list[Answer]:
        """What the function leaves of `messages`."""
        dicts = [(chat_dict(message), (at,)) for at, message in enumerate(messages)]
        exchange = Exchange(messages, dicts, _message)
        return exchange.answers(self.function(exchange.theirs))

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", repr(self.function)).rpartition(".")[2]
        sees = "" if self.sees_what == "history" else f", sees={self.sees_what!r}"
        return f"openai_function({name}{sees})"


def openai_function(
    function: Callable[[ChatDicts], Iterable[dict[str, Any]]],
    *,
    sees: Literal["window", "history"] = "history",
) -> OpenAIFunction:
    """Run any function from OpenAI's message dicts to such dicts, as it is.

    Before each request it is given the messages and returns those to send. Nothing is
    mended: what it tears apart shows in `faults`; an error that it raises is the event
    ``policy_failed``.

    Parameters
    ----------
    function : callable
        From a list of dicts, as in Chat Completions, to an iterable of such dicts. It may
        change them.
    sees : {"history", "window"}
        All messages anew each time, or what it left the last time and what came since.

    Examples
    --------
    >>> openai_function(lambda messages: messages[-4:])
    openai_function(<lambda>)
    """
    return OpenAIFunction(function, sees_what=sees)


def chat_dict(message: Message) -> dict[str, Any]:
    """One message as Chat Completions have it, whether they would take it or not."""
    try:
        projected = to_chat(message)
    except ProjectionError:
        projected = to_chat(message, repair=True)
    if projected:
        return deepcopy(projected[0])
    plain: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_call_id is not None:
        plain["tool_call_id"] = message.tool_call_id
    return plain


def _message(theirs: dict[str, Any]) -> list[Message]:
    return [ChatMessages(lambda repair: None)(deepcopy(theirs))]
