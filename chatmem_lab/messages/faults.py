"""Faults: what a provider would refuse or misread in a list of messages."""

from __future__ import annotations

from collections.abc import Iterable

from chatmem_lab.messages.message import Message
from chatmem_lab.messages.units import Segmenter

__all__ = ["FAULTS", "FaultCounter", "count_faults"]

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
    counter = FaultCounter()
    for message in messages:
        counter.add(message)
    return counter.faults


class FaultCounter:
    """The same, message by message: what was counted is not counted again.

    Examples
    --------
    >>> from chatmem_lab.messages import tool_output, user
    >>> counter = FaultCounter()
    >>> counter.add(user("hi"))
    >>> counter.add(tool_output("c9", "42"))
    >>> counter.faults
    {'orphan_result': 1}
    """

    def __init__(self) -> None:
        self._segmenter = Segmenter()
        self._faults: dict[str, int] = {}

    def add(self, message: Message) -> None:
        """`message` follows the others."""
        if message.role == "tool":
            _add(self._faults, "orphan_result", not self._segmenter.answers(message))
        else:
            _add(self._faults, "unanswered_call", len(self._segmenter.open_calls))
        _add(self._faults, "blank_message", message.is_blank)
        self._segmenter.joins(message)

    @property
    def faults(self) -> dict[str, int]:
        """By kind, as if nothing more came: calls that are still open are unanswered."""
        found = dict(self._faults)
        _add(found, "unanswered_call", len(self._segmenter.open_calls))
        return found


def _add(faults: dict[str, int], kind: str, n: int) -> None:
    if n:
        faults[kind] = faults.get(kind, 0) + n
