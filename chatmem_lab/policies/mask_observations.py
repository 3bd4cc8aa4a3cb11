"""`MaskObservations`: observations older than the newest few become one line."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from chatmem_lab.messages import Message
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.result_log import ResultLog
from chatmem_lab.window import KEEP, Revision, Slot, Window

__all__ = ["MaskObservations"]


@dataclass(frozen=True, repr=False)
class MaskObservations(Policy):
    """All but the newest `keep` tool results say how many lines they had.

    SWE-agent's ``LastNObservations`` (its paper, arXiv 2405.15793, keeps 5), which
    arXiv 2508.21433 finds as good as summaries at half the cost. Here an observation is a
    tool result; one of the newest unit is never masked, the model has not seen it yet.

    Parameters
    ----------
    keep : int
        How many of the newest results stay whole; SWE-agent's ``n``.
    batch : int
        The cut moves on only when so many more have come, so that the prefix breaks once
        for all of them; SWE-agent's ``polling``.
    keep_first : bool
        The first result of the window is never masked, as in SWE-agent, where it is the
        view of the task.

    Examples
    --------
    >>> MaskObservations(5, batch=10)
    MaskObservations(5, batch=10)
    """

    keep: Annotated[int, Bounds(1)] = 5
    _: KW_ONLY
    batch: Annotated[int, Bounds(1)] = 1
    keep_first: bool = True

    def revise(self, window: Window) -> Revision:
        seen = window.scratch.setdefault(self, _Seen())
        seen.look(window)
        cut = len(seen.orders) // self.batch * self.batch - self.keep
        first = max(seen.masked, 1 if self.keep_first else 0)
        if cut <= first:
            return KEEP
        unseen = window.newest.order if window.newest is not None else float("inf")
        replace: dict[Slot, Message] = {}
        for order in seen.orders[first:cut]:
            slot = window.slot_at(order)
            if slot is None or slot.state == "cleared" or order >= unseen:
                continue
            masked = _masked(slot.message)
            if window.count(masked) < slot.tokens:
                replace[slot] = masked
        seen.masked = sum(order < unseen for order in seen.orders[:cut])
        if not replace:
            return KEEP
        return Revision(
            replace=replace,
            replaced_as="clear",
            reason=f"older than the newest {self.keep:,} observations",
        )


def _masked(message: Message) -> Message:
    lines = len(message.text.splitlines())
    return message.with_text(
        f"Old environment output: ({lines:,} line{'' if lines == 1 else 's'} omitted)"
    )


class _Seen:
    """The places of the window's results, and how many of them were masked already."""

    def __init__(self) -> None:
        self.log = ResultLog()
        self.orders: list[float] = []
        self.masked = 0
        self._departures = 0

    def look(self, window: Window) -> None:
        self.orders += [result.slot.order for result in self.log.new(window)]
        if window.departures != self._departures:
            self._departures = window.departures
            self.orders = [o for o in self.orders if window.slot_at(o) is not None]
            self.masked = 0
