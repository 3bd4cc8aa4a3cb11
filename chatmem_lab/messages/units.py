"""Units: what must stay in a window, or leave it, together.

A unit is contiguous. A tool result belongs to the assistant message that opened its
call, found by *open call and id inside one call group*, never by id alone: ids repeat
in real conversations. A message of another kind closes the group; a result that comes
later is an orphan, a unit of its own. An assistant message that holds only reasoning
belongs to the assistant message directly after it.
"""

from __future__ import annotations

from collections.abc import Iterable

from chatmem_lab.messages.message import Message
from chatmem_lab.messages.parts import Reasoning

__all__ = ["Segmenter", "find_units"]


class Segmenter:
    """Decides, message by message, which messages belong to the newest unit.

    Examples
    --------
    >>> from chatmem_lab.messages import ToolCall, assistant, tool_output
    >>> segmenter = Segmenter()
    >>> segmenter.joins(assistant(tool_calls=[ToolCall("c1", "f")])), segmenter.is_open
    (False, True)
    >>> segmenter.joins(tool_output("c1", "done")), segmenter.is_open
    (True, False)
    """

    __slots__ = ("_open", "_reasons")

    def __init__(self) -> None:
        self._open: list[str] = []
        self._reasons = False

    @property
    def is_open(self) -> bool:
        """Whether the newest unit still awaits something: a result, or what was reasoned for."""
        return bool(self._open) or self._reasons

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The ids of the calls that still await their result, in order."""
        return tuple(self._open)

    def answers(self, message: Message) -> bool:
        """Whether `message` is the result of an open call."""
        if message.role != "tool" or not self._open:
            return False
        return not message.tool_call_id or message.tool_call_id in self._open

    def joins(self, message: Message) -> bool:
        """Take `message`; return whether it belongs to the newest unit.

        A result that answers none of the group's calls, while others are still open,
        rides along in the unit: taking it out would tear the unit apart.
        """
        if message.role == "tool":
            if not self._open:
                self._reasons = False
                return False
            if self.answers(message):
                self._open.remove(message.tool_call_id or self._open[0])
            return True
        joined = self._reasons and message.role == "assistant"
        self._open = [call.id for call in message.tool_calls]
        self._reasons = (
            message.role == "assistant"
            and not message.tool_calls
            and bool(message.parts)
            and all(type(part) is Reasoning for part in message.parts)
        )
        return joined


def find_units(messages: Iterable[Message]) -> list[range]:
    """The units of `messages`, as ranges of positions that cover them all in order.

    Examples
    --------
    >>> from chatmem_lab.messages import ToolCall, assistant, tool_output, user
    >>> find_units([
    ...     user("two files, please"),
    ...     assistant(tool_calls=[ToolCall("c1", "read"), ToolCall("c2", "read")]),
    ...     tool_output("c2", "second"),
    ...     tool_output("c1", "first"),
    ...     assistant("Here they are."),
    ... ])
    [range(0, 1), range(1, 4), range(4, 5)]
    """
    segmenter = Segmenter()
    starts = []
    end = 0
    for position, message in enumerate(messages):
        if not segmenter.joins(message):
            starts.append(position)
        end = position + 1
    return [range(start, stop) for start, stop in zip(starts, [*starts[1:], end][: len(starts)])]
