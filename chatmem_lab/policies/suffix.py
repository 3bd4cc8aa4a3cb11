"""What the window policies have in common: keep the newest whole units that fit.

Each of them weighs units (messages, tokens, turns) against a limit. When the window is
over it, the oldest units leave until the rest is at or under the low-water mark.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from chatmem_lab.policies.policy import Policy
from chatmem_lab.window import KEEP, Revision, Unit, Window

__all__ = ["SuffixPolicy"]


@dataclass(frozen=True, repr=False)
class SuffixPolicy(Policy):
    """Keep the newest whole units that fit.

    Parameters
    ----------
    start_on_user : bool
        After the pinned messages the window starts on a user message. If none fits, the
        latest user message stays too, and the window is marked where that is too much.
    pin_user : bool
        The latest user message is never evicted.
    """

    _: KW_ONLY
    start_on_user: bool = False
    pin_user: bool = False

    exported = False

    def weigh(self, unit: Unit) -> int:
        """What `unit` counts against the limit."""
        raise NotImplementedError

    def held(self, window: Window) -> int:
        """What `window` holds, in the unit of the limit."""
        raise NotImplementedError

    @property
    def high(self) -> int:
        """The limit: above it the policy acts."""
        raise NotImplementedError

    @property
    def target(self) -> int:
        """What it evicts down to: the low-water mark, or the limit."""
        low: int | None = getattr(self, "low", None)
        return self.high if low is None else low

    def revise(self, window: Window) -> Revision:
        evict = over = self._oldest_over(window)
        if self.start_on_user:
            evict = self._start_on_user(window, over)
        if not evict:
            return KEEP
        why = self.why if over else "before the first user message"
        return Revision(evict=tuple(evict), reason=why)

    def _oldest_over(self, window: Window) -> list[Unit]:
        held = self.held(window)
        if held <= self.high:
            return []
        evict: list[Unit] = []
        for unit in window.forwards():
            if held <= self.target:
                break
            evict.append(unit)
            held -= self.weigh(unit)
        return evict

    def _start_on_user(self, window: Window, evict: list[Unit]) -> list[Unit]:
        gone = {id(unit) for unit in evict}
        before: list[Unit] = []
        for unit in window.units:
            if id(unit) in gone or unit.is_instruction:
                continue
            if unit.starts_turn or (unit.is_made and not before):
                return evict + before
            before.append(unit)
        return [unit for unit in evict if unit is not window.latest_user]

    @property
    def why(self) -> str:
        """The reason of its evictions."""
        raise NotImplementedError
