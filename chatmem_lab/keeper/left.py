"""What a session left: how a keeper goes on with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Protocol

from chatmem_lab.keeper.event import Event
from chatmem_lab.messages import Message
from chatmem_lab.window import Slot

__all__ = ["Left", "with_joins"]


class Left(Protocol):
    """What a session left: history, events, how many messages entered as given, marks."""

    @property
    def messages(self) -> Sequence[Message]: ...

    @property
    def events(self) -> Sequence[Event]: ...

    @property
    def given(self) -> int: ...

    @property
    def is_over(self) -> bool: ...

    @property
    def was_asked(self) -> bool: ...


def with_joins(slots: Iterable[Slot], joined: Set[int]) -> Iterator[tuple[Slot, bool]]:
    """Each slot with whether it belongs to the unit before it."""
    last: int | None = None
    for slot in slots:
        position = slot.position
        yield slot, position is not None and position in joined and last == position - 1
        last = position
