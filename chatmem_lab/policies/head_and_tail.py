"""`HeadAndTail`: the first messages and the newest ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import Annotated

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.limits import over_count_reason
from chatmem_lab.policies.policy import Policy
from chatmem_lab.window import KEEP, Revision, Unit, Window

__all__ = ["HeadAndTail"]


@dataclass(frozen=True, repr=False)
class HeadAndTail(Policy):
    """Keep the first whole units and the newest ones; those between leave.

    AutoGen's ``HeadAndTailChatCompletionContext``, where both sizes must be given too; there
    a marker says how many messages are missing, and pairs may be torn. The head never
    leaves, so the prefix breaks only behind it. Pinned messages count in neither.

    Parameters
    ----------
    head : int
        Messages that the head may hold.
    tail : int
        Messages that the tail may hold; the newest unit stays whatever its size.
    low : int, optional
        Low-water mark of the tail: once it is over `tail`, evict down to `low` messages, so
        that the prefix breaks once and not at every request.

    Examples
    --------
    >>> HeadAndTail(2, tail=18)
    HeadAndTail(2, tail=18)
    """

    head: Annotated[int, Bounds(0)]
    _: KW_ONLY
    tail: Annotated[int, Bounds(1)]
    low: Annotated[int, Bounds(1)] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low is not None and self.low > self.tail:
            raise PolicyError(
                f"HeadAndTail: low must be at most tail, {self.tail}, not {self.low}"
            )

    def revise(self, window: Window) -> Revision:
        if _free(window) <= self.tail:
            return KEEP
        head = list(self._in_head(window))
        held = _free(window) - sum(map(len, head))
        if held <= self.tail:
            return KEEP
        target = self.tail if self.low is None else self.low
        evict: list[Unit] = []
        for unit in islice(window.forwards(), len(head), None):
            if held <= target:
                break
            evict.append(unit)
            held -= len(unit)
        if not evict:
            return KEEP
        return Revision(
            evict=tuple(evict),
            reason=f"between the first {self.head:,} and the newest {self.tail:,} messages",
        )

    def _in_head(self, window: Window) -> Iterator[Unit]:
        """The first units that fit; the head ends where something has left behind it."""
        left, following = self.head, None
        for unit in window.forwards():
            if len(unit) > left or not (following is None or _is_next(window, unit, following)):
                return
            left -= len(unit)
            following = unit.positions[-1] + 1 if unit.positions else following
            yield unit

    def excess(self, window: Window) -> str | None:
        held = _free(window) - sum(map(len, self._in_head(window)))
        if held <= self.tail:
            return None
        newest = window.newest
        return over_count_reason(
            self.tail,
            "message",
            held,
            pinned=0,
            newest=None if newest is None or newest.is_instruction else len(newest),
        )


def _is_next(window: Window, unit: Unit, following: int) -> bool:
    """Whether nothing but instructions stood between `following` and `unit`."""
    if not unit.positions:
        return True
    between = range(following, unit.positions[0])
    return all(window.slot_at(float(position)) is not None for position in between)


def _free(window: Window) -> int:
    """Messages that are not pinned instructions."""
    return len(window) - window.instruction_messages
