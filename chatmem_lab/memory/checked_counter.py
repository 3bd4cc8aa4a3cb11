"""`CheckedCounter`: a counter is anybody's code, and what it says is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chatmem_lab.html.text import cut
from chatmem_lab.messages import Message
from chatmem_lab.tokens import COUNT_KINDS, Count, TokenCounter

__all__ = ["CheckedCounter"]


class CheckedCounter:
    """Counts as `counter` does, and refuses what is no count before it is used.

    Raises
    ------
    TypeError
    """

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self.name = counter.name
        self.model = counter.model
        self.request_tokens = counter.request_tokens

    def count_text(self, text: str) -> Count:
        """The tokens of a text alone."""
        return self._checked(self._counter.count_text(text))

    def count_message(self, message: Message) -> Count:
        """The tokens of a message, its own overhead included."""
        return self._checked(self._counter.count_message(message))

    def count_messages(self, messages: Sequence[Message]) -> list[Count]:
        """The tokens of each message, in order."""
        counts = list(self._counter.count_messages(messages))
        if len(counts) != len(messages):
            raise TypeError(
                f"{self._counter!r} gave {len(counts)} counts for {len(messages)} messages"
            )
        return [self._checked(count) for count in counts]

    def count_tools(self, tools: Sequence[Mapping[str, Any]]) -> Count:
        """The tokens that tool schemas add to a request."""
        return self._checked(self._counter.count_tools(tools))

    def _checked(self, count: object) -> Count:
        if (
            isinstance(count, Count)
            and type(count.tokens) is int
            and count.tokens >= 0
            and count.kind in COUNT_KINDS
        ):
            return count
        raise TypeError(
            f"{self._counter!r} must give a Count with a whole number of tokens and a kind, one "
            f"of {', '.join(COUNT_KINDS)}, not {cut(repr(count), 80)}"
        )
