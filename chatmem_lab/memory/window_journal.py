"""`WindowJournal`: what changed in a window since it was last asked."""

from __future__ import annotations

from collections.abc import Sequence

from chatmem_lab.messages import Message
from chatmem_lab.stores import Change, Placed
from chatmem_lab.window import Slot

__all__ = ["WindowJournal", "placed"]


class WindowJournal:
    """Told of every slot that enters or leaves; tells the difference."""

    def __init__(self) -> None:
        self._entered: dict[int, Slot] = {}
        self._left: list[float] = []

    def entered(self, slot: Slot) -> None:
        self._entered[id(slot)] = slot

    def left(self, slot: Slot, why: str) -> None:
        if self._entered.pop(id(slot), None) is None:
            self._left.append(slot.order)

    def forget(self) -> None:
        """What has happened so far is known."""
        self._entered.clear()
        self._left.clear()

    def take(self, history: Sequence[Message], *, arrived: bool) -> Change | None:
        """What happened, beside that the newest message, if it `arrived`, took its place."""
        entered = sorted(self._entered.values(), key=lambda slot: slot.order)
        left = list(self._left)
        self.forget()
        if arrived:
            position = len(history) - 1
            natural = [s for s in entered if _is_natural(s, position, history)]
            if natural:
                entered.remove(natural[0])
            else:
                left.append(float(position))
        if not entered and not left:
            return None
        return Change(len(history), tuple(left), tuple(placed(slot, history) for slot in entered))


def _is_natural(slot: Slot, position: int, history: Sequence[Message]) -> bool:
    return (
        slot.position == position
        and slot.order == float(position)
        and slot.state == "kept"
        and slot.message is history[position]
    )


def placed(slot: Slot, history: Sequence[Message]) -> Placed:
    """A slot as it is stored: without the message where the history has it."""
    own = slot.position is not None and slot.message is history[slot.position]
    return Placed(slot.order, slot.position, slot.state, None if own else slot.message)
