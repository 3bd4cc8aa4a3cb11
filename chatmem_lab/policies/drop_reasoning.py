"""`DropReasoning`: the reasoning of older turns leaves."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import msgspec

from chatmem_lab.messages import Message, Reasoning
from chatmem_lab.policies.amounts import Turns
from chatmem_lab.policies.policy import Policy
from chatmem_lab.window import KEEP, Revision, Slot, Unit, Window

__all__ = ["DropReasoning"]


@dataclass(frozen=True, repr=False)
class DropReasoning(Policy):
    """Reasoning stays in the latest turns; before them messages lose it.

    Anthropic's ``clear_thinking_20251015``, with its default of one turn. With ``Turns(0)``
    only the newest unit has its reasoning. A message that would say nothing without it is
    left as it is, and so are messages in which it counts no tokens.

    Parameters
    ----------
    keep : Turns

    Examples
    --------
    >>> DropReasoning(Turns(2))
    DropReasoning(Turns(2))
    """

    keep: Turns = Turns(1)

    def revise(self, window: Window) -> Revision:
        seen = window.scratch.setdefault(self, _Seen())
        seen.look(window)
        end = self._kept_from(window, seen.turns)
        replace: dict[Slot, Message] = {}
        while seen.waiting and seen.waiting[0] < end:
            slot = window.slot_at(seen.waiting.popleft())
            bare = None if slot is None else _without_reasoning(slot.message)
            if slot is not None and bare is not None and window.count(bare) < slot.tokens:
                replace[slot] = bare
        if not replace:
            return KEEP
        turns = f"{self.keep.n:,} turn{'' if self.keep.n == 1 else 's'}"
        return Revision(
            replace=replace, replaced_as="clear", reason=f"reasoning before the latest {turns}"
        )

    def _kept_from(self, window: Window, turns: list[float]) -> float:
        """The place from which on reasoning stays."""
        newest = window.newest
        if self.keep.n == 0:
            return float("inf") if newest is None else newest.order
        return turns[-self.keep.n] if len(turns) >= self.keep.n else float("-inf")


class _Seen:
    """Where turns begin, and the places of messages with reasoning; only a shortcut."""

    def __init__(self) -> None:
        self.turns: list[float] = []
        self.waiting: deque[float] = deque()
        self._upto = float("-inf")
        self._departures = 0

    def look(self, window: Window) -> None:
        new: list[Unit] = []
        for unit in window.units_backwards:
            if unit.slots[-1].order <= self._upto:
                break
            new.append(unit)
        for unit in reversed(new):
            if unit.starts_turn and unit.order > self._upto:
                self.turns.append(unit.order)
            self.waiting.extend(
                slot.order
                for slot in unit.slots
                if slot.order > self._upto and _without_reasoning(slot.message) is not None
            )
        if new:
            self._upto = max(self._upto, new[0].slots[-1].order)
        if window.departures != self._departures:
            self._departures = window.departures
            self.turns = [order for order in self.turns if window.slot_at(order) is not None]


def _without_reasoning(message: Message) -> Message | None:
    """`message` without its reasoning; None if it has none, or would say nothing."""
    left = tuple(part for part in message.parts if not isinstance(part, Reasoning))
    if len(left) == len(message.parts):
        return None
    bare = msgspec.structs.replace(message, parts=left)
    return None if bare.is_blank else bare
