"""What a count is and what a counter does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from chatmem_lab.messages import Message

__all__ = ["COUNT_KINDS", "Count", "TokenCounter", "weakest"]

#: From strongest to weakest; a sum takes the weakest of its parts.
COUNT_KINDS = ("exact", "lower_bound", "upper_bound", "estimate", "unknown")


class Count(NamedTuple):
    """A number of tokens, and how sure it is."""

    tokens: int
    kind: str = "exact"


def weakest(kinds: Iterable[str]) -> str:
    """The kind of a sum: the weakest of its parts; both bounds together are an estimate.

    >>> weakest(["exact", "upper_bound"]), weakest(["lower_bound", "upper_bound"])
    ('upper_bound', 'estimate')
    """
    found = set(kinds)
    if {"lower_bound", "upper_bound"} <= found:
        found.add("estimate")
    return max(found, key=COUNT_KINDS.index, default="exact")


@runtime_checkable
class TokenCounter(Protocol):
    """What anything that counts must have; a user's own class works too.

    `request_tokens` is what each request costs beside its messages and tools (the priming
    of the reply). `count_messages` exists beside `count_message` so that a counter can
    work in batches.
    """

    name: str
    model: str | None
    request_tokens: int

    def count_text(self, text: str) -> Count:
        """The tokens of a text alone."""
        ...

    def count_message(self, message: Message) -> Count:
        """The tokens of a message, its own overhead included."""
        ...

    def count_messages(self, messages: Sequence[Message]) -> list[Count]:
        """The tokens of each message, in order."""
        ...

    def count_tools(self, tools: Sequence[Mapping[str, Any]]) -> Count:
        """The tokens that tool schemas add to a request."""
        ...
