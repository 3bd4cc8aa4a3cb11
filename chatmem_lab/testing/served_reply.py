"""What the local server answers with, before it takes the form of one API or the other."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chatmem_lab.messages import ToolCall

__all__ = ["Refused", "Reply", "as_reply", "new_id", "pieces", "words"]


@dataclass(frozen=True)
class Reply:
    """A scripted answer of `openai_server`.

    Parameters
    ----------
    text : str, optional
    tool_calls : tuple of ToolCall
        A call without an id gets a new one.
    reasoning, refusal : str, optional
    finish_reason : str, optional
        As Chat Completions name it; None for "tool_calls" or "stop", whichever fits.

    Examples
    --------
    >>> Reply("Let me look.", (ToolCall("call_1", "lookup", "{}"),)).finish
    'tool_calls'
    """

    text: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: str | None = None

    @property
    def finish(self) -> str:
        """Why it ends."""
        return self.finish_reason or ("tool_calls" if self.tool_calls else "stop")

    @property
    def reasoning_tokens(self) -> int:
        """One for each word of the reasoning."""
        return words(self.reasoning)

    @property
    def output_tokens(self) -> int:
        """One for each word of all that it says, reasoning included."""
        calls = [[call.name, call.arguments] for call in self.tool_calls]
        return words([self.text, self.reasoning, self.refusal, calls])


def as_reply(value: object) -> Reply:
    """What a script holds, as a `Reply`: a text, a tool call, a list of them, or a `Reply`.

    >>> as_reply("Good morning.").text
    'Good morning.'
    """
    if isinstance(value, Reply):
        return value
    if value is None or isinstance(value, str):
        return Reply(value)
    if isinstance(value, ToolCall):
        return Reply(tool_calls=(value,))
    if isinstance(value, list | tuple) and all(isinstance(one, ToolCall) for one in value):
        return Reply(tool_calls=tuple(value))
    raise TypeError(
        f"a reply is a text, a list of ToolCall, a Reply or a function that gives one of them, "
        f"not {type(value).__name__}"
    )


class Refused(Exception):
    """A request that the API does not take: status 400, in OpenAI's form of an error."""

    def __init__(self, message: str, param: str | None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code


def new_id(prefix: str) -> str:
    """An id that was not there before.

    >>> new_id("call_").startswith("call_"), new_id("call_") == new_id("call_")
    (True, False)
    """
    return prefix + uuid.uuid4().hex[:24]


def words(value: object) -> int:
    """How many words the texts of a JSON value have: what this server calls tokens.

    >>> words({"role": "user", "content": "Good morning, Ada"})
    4
    """
    if isinstance(value, str):
        return len(value.split())
    if isinstance(value, Mapping):
        return sum(words(child) for child in value.values())
    if isinstance(value, list | tuple):
        return sum(words(child) for child in value)
    return 0


def pieces(text: str | None, *, longest: int = 0) -> Iterator[str]:
    """The pieces in which a text is streamed: its words, or `longest` characters at a time.

    >>> list(pieces("Let me look.")), list(pieces('{"path"', longest=4))
    (['Let ', 'me ', 'look.'], ['{"pa', 'th"'])
    """
    if not text:
        return
    if longest:
        yield from (text[start : start + longest] for start in range(0, len(text), longest))
    else:
        yield from re.findall(r"\s*\S+\s*|\s+$", text)


def with_ids(calls: tuple[ToolCall, ...]) -> list[dict[str, Any]]:
    """Calls as plain values, each with an id."""
    return [
        {"id": call.id or new_id("call_"), "name": call.name, "arguments": call.arguments}
        for call in calls
    ]
