"""A line without what has left its window, for those who must not keep it."""

from __future__ import annotations

from datetime import datetime

from chatmem_lab.messages import Message
from chatmem_lab.stores import LineState, Placed

__all__ = ["has_left", "what_is_left"]


def has_left(line: LineState) -> bool:
    """Whether the line holds more than its window shows."""
    shown = [slot for slot in line.window if slot.position is not None and slot.message is None]
    return bool(line.events) or len(shown) < len(line.messages)


def what_is_left(line: LineState) -> LineState:
    """The window alone, as a line of its own: its messages are all that was ever said."""
    messages: list[Message] = []
    times: list[datetime | None] = []
    window: list[Placed] = []
    crowd = 0
    for slot in line.window:
        if slot.position is None:
            crowd += 1
            order = len(messages) - 1 + crowd / (crowd + 1)
            window.append(Placed(order, None, "made", slot.message))
            continue
        crowd = 0
        window.append(Placed(float(len(messages)), len(messages)))
        times.append(line.times[slot.position])
        messages.append(line.messages[slot.position] if slot.message is None else slot.message)
    return LineState(messages, (), 0, window, times, line.is_over, line.was_asked)
