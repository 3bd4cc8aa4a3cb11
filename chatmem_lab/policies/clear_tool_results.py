"""`ClearToolResults`: old tool results become a stub."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from chatmem_lab.messages import Message
from chatmem_lab.policies.amounts import Tokens
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.window import KEEP, Revision, Slot, Unit, Window

__all__ = ["ClearToolResults"]


@dataclass(frozen=True, repr=False)
class ClearToolResults(Policy):
    """Keep the newest tool results whole; older ones keep their place and say `placeholder`.

    A result is cleared only where the placeholder is strictly smaller. Calls, ids and
    pairs stay as they are. This is Anthropic's ``clear_tool_uses`` and LangChain's
    ``ClearToolUsesEdit``, with their default of 3.

    Parameters
    ----------
    keep : int
        How many of the newest results stay whole.
    trigger : Tokens, optional
        Act only when the window holds more than this.
    at_least : Tokens, optional
        Act only when at least this much is gained: each clearing breaks the prefix.
    exclude : tuple of str
        Names of tools whose results are never cleared; they do not count as kept either.
    placeholder : str
        The stub.

    Examples
    --------
    >>> ClearToolResults(keep=3, exclude=("think",))
    ClearToolResults(3, exclude=('think',))
    """

    keep: Annotated[int, Bounds(0)] = 3
    _: KW_ONLY
    trigger: Tokens | None = None
    at_least: Tokens | None = None
    exclude: tuple[str, ...] = ()
    placeholder: str = "[cleared]"

    def revise(self, window: Window) -> Revision:
        if self.trigger is not None and window.tokens <= self.trigger.n:
            return KEEP
        seen = window.scratch.setdefault(self, _Seen())
        self._look_at_new(window, seen)
        if not seen.waiting or (self.at_least is not None and seen.gain < self.at_least.n):
            return KEEP
        replace: dict[Slot, Message] = {}
        gained = 0
        for slot in filter(None, map(window.slot_at, seen.waiting)):
            stub = slot.message.with_text(self.placeholder)
            gain = slot.tokens - window.count(stub)
            if gain > 0:
                replace[slot] = stub
                gained += gain
        seen.gain = gained
        if not replace or (self.at_least is not None and gained < self.at_least.n):
            return KEEP
        seen.waiting, seen.gain = [], 0
        return Revision(
            replace=replace,
            replaced_as="clear",
            reason=f"older than the newest {self.keep:,} tool results",
        )

    def _look_at_new(self, window: Window, seen: _Seen) -> None:
        """Results that have come since; those beyond the newest `keep` wait to be cleared.

        Results of the newest unit stay: the model has not seen them yet. Each result is
        weighed once, so that a window full of what cannot be cleared costs nothing.
        """
        new: list[float] = []
        end = seen.upto
        for unit in window.units_backwards:
            if unit.slots[-1].order <= seen.upto:
                break
            end = max(end, unit.slots[-1].order)
            for slot in reversed(unit.slots):
                if (
                    slot.order > seen.upto
                    and slot.message.role == "tool"
                    and slot.state != "cleared"
                    and not (self.exclude and self._is_excluded(slot, unit))
                ):
                    new.append(slot.order)
        newest, seen.upto = window.newest, end
        if window.departures != seen.departures:
            seen.departures = window.departures
            seen.recent = [order for order in seen.recent if window.slot_at(order) is not None]
        seen.recent += reversed(new)
        unseen = float("inf")
        if newest is not None and not newest.is_instruction:
            unseen = newest.order
        while len(seen.recent) > self.keep and seen.recent[0] < unseen:
            order = seen.recent.pop(0)
            old = window.slot_at(order)
            if old is not None:
                gain = old.tokens - window.count(old.message.with_text(self.placeholder))
                if gain > 0:
                    seen.waiting.append(order)
                    seen.gain += gain

    def _is_excluded(self, slot: Slot, unit: Unit) -> bool:
        if slot.message.name in self.exclude:
            return True
        return any(
            call.id == slot.message.tool_call_id and call.name in self.exclude
            for other in unit.slots
            for call in other.message.tool_calls
        )


class _Seen:
    """What was decided about a window before: only a shortcut, the answer is the same without.

    `upto` is the place up to which results have been looked at, `recent` the places of the
    newest ones, `waiting` those that may be cleared and `gain` what that would free.
    """

    def __init__(self) -> None:
        self.upto = float("-inf")
        self.departures = 0
        self.recent: list[float] = []
        self.waiting: list[float] = []
        self.gain = 0
