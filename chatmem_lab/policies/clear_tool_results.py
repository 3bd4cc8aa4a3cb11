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
        replace: dict[Slot, Message] = {}
        gained = 0
        for slot in self._old_results(window):
            stub = slot.message.with_text(self.placeholder)
            gain = slot.tokens - window.count(stub)
            if gain > 0:
                replace[slot] = stub
                gained += gain
        if not replace or (self.at_least is not None and gained < self.at_least.n):
            return KEEP
        return Revision(
            replace=dict(reversed(replace.items())),
            replaced_as="clear",
            reason=f"older than the newest {self.keep:,} tool results",
        )

    def _old_results(self, window: Window) -> list[Slot]:
        """Results behind the newest `keep`, newest first, up to the last one cleared.

        What is older than a cleared result was decided about when that one was cleared.
        The newest unit is passed: the model has not seen it yet.
        """
        old: list[Slot] = []
        newer = 0
        for unit in window.units_backwards:
            slots = unit.slots
            if len(slots) == 1 and slots[0].message.role != "tool":
                continue
            for slot in reversed(slots):
                if slot.message.role != "tool" or (self.exclude and self._is_excluded(slot, unit)):
                    continue
                if slot.state == "cleared":
                    return old
                newer += 1
                if newer > self.keep and unit is not window.newest:
                    old.append(slot)
        return old

    def _is_excluded(self, slot: Slot, unit: Unit) -> bool:
        if slot.message.name in self.exclude:
            return True
        return any(
            call.id == slot.message.tool_call_id and call.name in self.exclude
            for other in unit.slots
            for call in other.message.tool_calls
        )
