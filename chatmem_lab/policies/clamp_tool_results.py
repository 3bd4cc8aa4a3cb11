"""`ClampToolResults`: long tool results keep their head and their tail."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from chatmem_lab.messages import Message
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.result_log import ResultLog
from chatmem_lab.summarizers.cutting import ends_of
from chatmem_lab.window import KEEP, Revision, Slot, Window

__all__ = ["ClampToolResults"]


@dataclass(frozen=True, repr=False)
class ClampToolResults(Policy):
    """Tool results longer than `head` and `tail` together lose what is between.

    The first thing that Strands does when a request overflows (200 and 200 characters); the
    defaults are those with which Pydantic AI harness clamps the model's own long messages.
    Cut only where that is smaller, and never inside a character that is made of several. With
    ``keep=0`` a result is cut when it comes, before any request sends it, so that no prefix
    breaks.

    Parameters
    ----------
    head, tail : int
        Characters that stay at either end.
    keep : int
        So many of the newest results stay whole.

    Examples
    --------
    >>> ClampToolResults(500, tail=200, keep=2)
    ClampToolResults(500, tail=200, keep=2)
    """

    head: Annotated[int, Bounds(0)] = 2_000
    _: KW_ONLY
    tail: Annotated[int, Bounds(0)] = 2_000
    keep: Annotated[int, Bounds(0)] = 0

    def revise(self, window: Window) -> Revision:
        seen = window.scratch.setdefault(self, _Seen())
        seen.waiting += [result.slot.order for result in seen.log.new(window)]
        if len(seen.waiting) <= self.keep:
            return KEEP
        older = seen.waiting[: len(seen.waiting) - self.keep]
        del seen.waiting[: len(older)]
        replace: dict[Slot, Message] = {}
        for slot in filter(None, map(window.slot_at, older)):
            clamped = self._clamped(slot)
            if clamped is not None and window.count(clamped) < slot.tokens:
                replace[slot] = clamped
        if not replace:
            return KEEP
        limit = self.head + self.tail
        return Revision(
            replace=replace, replaced_as="clamp", reason=f"over {limit:,} characters of a result"
        )

    def _clamped(self, slot: Slot) -> Message | None:
        text = slot.message.text
        if slot.state != "kept" or len(text) <= self.head + self.tail:
            return None
        head, tail = ends_of(text, self.head, self.tail)
        cut = len(text) - len(head) - len(tail)
        return slot.message.with_text(f"{head}\n[… {cut:,} characters cut …]\n{tail}")


class _Seen:
    """`waiting` are the places of the results that were not old enough yet."""

    def __init__(self) -> None:
        self.log = ResultLog()
        self.waiting: list[float] = []
