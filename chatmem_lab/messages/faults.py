"""Faults: what a provider would refuse or misread in a list of messages."""

from __future__ import annotations

from collections.abc import Iterable

from chatmem_lab.messages.message import Message
from chatmem_lab.messages.units import Segmenter

__all__ = ["FAULTS", "count_faults"]

#: Every kind of fault, in the order of the columns of `study.validity`.
FAULTS = (
    "orphan_result",
    "unanswered_call",
    "blank_message",
    "empty_window",
    "lost_system",
)


def count_faults(messages: Iterable[Message]) -> dict[str, int]:
    """Faults of the messages themselves, by kind; only those that occur.

    `orphan_result`: a tool result that answers no open call before it.
    `unanswered_call`: a call without a result before the next message of another kind.
    `blank_message`: a message that says nothing.

    Examples
    --------
    >>> from chatmem_lab.messages import tool_output, user
    >>> count_faults([user("hi"), tool_output("c9", "42")])
    {'orphan_result': 1}
    """
    segmenter = Segmenter()
    faults: dict[str, int] = {}

    def add(kind: str, n: int) -> None:
        if n:
            faults[kind] = faults.get(kind, 0) + n

    for message in messages:
        if message.role == "tool":
            add("orphan_result", not segmenter.answers(message))
        else:
            add("unanswered_call", len(segmenter.open_calls))
        add("blank_message", message.is_blank)
        segmenter.joins(message)
    add("unanswered_call", len(segmenter.open_calls))
    return faults
