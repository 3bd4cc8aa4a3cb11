"""`Snapshot`: a session as it was at one moment, complete in itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct

from chatmem_lab.errors import MessageError, SnapshotError
from chatmem_lab.keeper import Event
from chatmem_lab.messages import Conversation, Message
from chatmem_lab.messages.json_form import decode_json, encode_json
from chatmem_lab.messages.wellformed import check_message
from chatmem_lab.stores import Placed

__all__ = ["Snapshot"]


class Snapshot(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A session as it was at one moment: history, window and events, complete in itself.

    Nothing that happens later changes it, and it can be restored any number of times, also
    in another process (`to_json`, `from_json`).

    Parameters
    ----------
    id : str
        The session that it was taken of.
    messages : tuple of Message
        The whole history.
    window : tuple of Placed
        What the model saw, in order.
    events : tuple of Event
    policy : str
        The recipe of the policy that left this window.
    given : int
        How many messages, from the first, had entered as they were given.
    is_over, was_asked : bool
        Whether an event has said that the window is over its limit; whether a policy that
        waits for requests was asked about it.
    model : str, optional
    tools : tuple of dict
    format : 1
        The version of this form.

    Examples
    --------
    >>> from chatmem_lab.memory import ChatMemory
    >>> memory = ChatMemory(id="ann")
    >>> memory.add_user("hi")
    >>> snapshot = memory.snapshot()
    >>> memory.add_assistant("Hello!")
    >>> memory.restore(Snapshot.from_json(snapshot.to_json()))
    >>> [message.text for message in memory.messages]
    ['hi']
    """

    id: str
    messages: tuple[Message, ...] = ()
    window: tuple[Placed, ...] = ()
    events: tuple[Event, ...] = ()
    policy: str = ""
    given: int = 0
    is_over: bool = False
    was_asked: bool = False
    model: str | None = None
    tools: tuple[dict[str, Any], ...] = ()
    format: Literal[1] = 1

    def to_json(self) -> str:
        """As JSON text.

        Raises
        ------
        SnapshotError
            For a number in it that JSON cannot hold, with its path.
        """
        return encode_json(self, f"the snapshot of {self.id!r}", SnapshotError).decode()

    @staticmethod
    def from_json(text: str | bytes) -> Snapshot:
        """The snapshot that `to_json` wrote.

        Raises
        ------
        SnapshotError
            For what is no snapshot, or one whose parts do not fit together.
        """
        snapshot: Snapshot = decode_json(text, Snapshot, "a snapshot", SnapshotError)
        check_snapshot(snapshot)
        return snapshot

    def conversation(self) -> Conversation:
        """The history as a conversation that can be replayed."""
        return Conversation(self.id, self.messages, tools=self.tools, model=self.model)

    def __repr__(self) -> str:
        return (
            f"<Snapshot of {self.id!r}: {len(self.messages)} messages, "
            f"{len(self.window)} in the window>"
        )


def check_snapshot(snapshot: Snapshot) -> None:
    """Refuse a snapshot that no memory could have given.

    Raises
    ------
    SnapshotError
    """
    _check_types(snapshot)
    held = len(snapshot.messages)
    for index, message in enumerate(snapshot.messages):
        _check(message, f"messages[{index}]")
    if not 0 <= snapshot.given <= held:
        raise SnapshotError(f"given is {snapshot.given}, of {held} messages")
    last = -math.inf
    seen: set[int] = set()
    for index, slot in enumerate(snapshot.window):
        misfit = _misfit(slot, snapshot.messages, last, seen)
        if misfit:
            raise SnapshotError(f"window[{index}] {misfit}: the snapshot has been changed by hand")
        if slot.message is not None:
            _check(slot.message, f"window[{index}].message")
        last = slot.order
        if slot.position is not None:
            seen.add(slot.position)
    for index, event in enumerate(snapshot.events):
        if not all(-1 <= position < held for position in _positions(event)):
            raise SnapshotError(
                f"events[{index}] names a message that the history of {held} does not have: the "
                "snapshot has been changed by hand"
            )
        if event.made is not None:
            _check(event.made, f"events[{index}].made")


def _check_types(snapshot: Snapshot) -> None:
    """A snapshot that was not read from JSON may hold anything."""
    for name, kind in (
        ("messages", Message),
        ("window", Placed),
        ("events", Event),
        ("tools", dict),
    ):
        given = getattr(snapshot, name)
        if not isinstance(given, tuple) or not all(isinstance(value, kind) for value in given):
            raise SnapshotError(f"{name} must be a tuple of {kind.__name__}")
    if type(snapshot.given) is not int or not isinstance(snapshot.policy, str):
        raise SnapshotError("given must be a whole number, and policy a str")


def _check(message: Message, path: str) -> None:
    try:
        check_message(message)
    except MessageError as wrong:
        raise SnapshotError(f"{path}: {wrong}") from None


def _positions(event: Event) -> Iterator[int]:
    yield event.position
    for unit in event.units:
        yield from unit


def _misfit(slot: Placed, messages: Sequence[Message], last: float, seen: set[int]) -> str:
    position = slot.position
    if position is None and slot.message is None:
        return "is a made message without content"
    if (position is None) != (slot.state == "made"):
        return f"is {slot.state} and has position {position}: a made message has none"
    if (slot.state == "kept") != (slot.message is None):
        return f"is {slot.state}, and its content is{' not' * (slot.message is None)} beside it"
    if position is not None:
        if not 0 <= position < len(messages):
            return f"names message {position}, and the history has {len(messages)}"
        if position in seen:
            return f"shows message {position} again"
        if slot.message is not None and slot.message.role != messages[position].role:
            return f"shows message {position} in another role"
    if not math.isfinite(slot.order) or not last < slot.order < len(messages):
        return f"stands at {slot.order}, not behind {last} and before {len(messages)}"
    return ""
