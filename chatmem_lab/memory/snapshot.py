"""`Snapshot`: a session as it was at one moment, complete in itself."""

from __future__ import annotations

import math
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
    for index, message in enumerate(snapshot.messages):
        try:
            check_message(message)
        except MessageError as wrong:
            raise SnapshotError(f"messages[{index}]: {wrong}") from None
    if not 0 <= snapshot.given <= len(snapshot.messages):
        raise SnapshotError(f"given is {snapshot.given}, of {len(snapshot.messages)} messages")
    last = -math.inf
    seen: set[int] = set()
    for index, slot in enumerate(snapshot.window):
        misfit = _misfit(slot, len(snapshot.messages), last, seen)
        if misfit:
            raise SnapshotError(f"window[{index}] {misfit}: the snapshot has been changed by hand")
        last = slot.order
        if slot.position is not None:
            seen.add(slot.position)


def _misfit(slot: Placed, messages: int, last: float, seen: set[int]) -> str:
    position = slot.position
    if not math.isfinite(slot.order) or slot.order <= last:
        return f"stands at {slot.order}, not behind {last}"
    if position is None:
        return "" if slot.message is not None else "is a made message without content"
    if not 0 <= position < messages:
        return f"names message {position}, and the history has {messages}"
    return f"shows message {position} again" if position in seen else ""
