"""`HeadAndTail`: the first messages and the newest ones."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import Annotated

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.amounts_of_window import head_of
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
        head = list(head_of(window, self.head))
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

    def excess(self, window: Window) -> str | None:
        held = _free(window) - sum(map(len, head_of(window, self.head)))
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


def _free(window: Window) -> int:
    """Messages that are not pinned instructions."""
    return len(window) - window.instruction_messages
