"""What goes in and out has facts of its own: dicts are never handed on."""

from __future__ import annotations

import copy
from datetime import datetime

import msgspec

from chatmem_lab.keeper import Event
from chatmem_lab.memory.snapshot import Snapshot
from chatmem_lab.messages import Message
from chatmem_lab.stores import LineState, Placed

__all__ = ["apart", "dated", "event_apart", "line_apart", "placed_apart"]


def apart(message: Message) -> Message:
    """The same message with facts of its own."""
    if message.metadata is None and message.extra is None:
        return message
    return msgspec.structs.replace(
        message, metadata=copy.deepcopy(message.metadata), extra=copy.deepcopy(message.extra)
    )


def dated(message: Message, time: datetime | None) -> Message:
    """`message` with the time at which it was added, if it has none of its own."""
    if message.created_at is not None or time is None:
        return message
    return msgspec.structs.replace(message, created_at=time)


def event_apart(event: Event) -> Event:
    """The same event with a made message of its own."""
    if event.made is None:
        return event
    return msgspec.structs.replace(event, made=apart(event.made))


def placed_apart(placed: Placed) -> Placed:
    """The same slot with a message of its own."""
    if placed.message is None:
        return placed
    return msgspec.structs.replace(placed, message=apart(placed.message))


def line_apart(snapshot: Snapshot) -> LineState:
    """The line that a snapshot holds."""
    return LineState(
        [apart(message) for message in snapshot.messages],
        tuple(map(event_apart, snapshot.events)),
        snapshot.given,
        tuple(map(placed_apart, snapshot.window)),
        (),
        snapshot.is_over,
        snapshot.was_asked,
    )
