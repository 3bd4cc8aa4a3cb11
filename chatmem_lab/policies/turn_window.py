"""`TurnWindow`: the latest turns."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.suffix import SuffixPolicy
from chatmem_lab.window import Unit, Window

__all__ = ["TurnWindow"]


@dataclass(frozen=True, repr=False)
class TurnWindow(SuffixPolicy):
    """Keep the latest turns: a user message and all that follows until the next one.

    What stands before the first user message leaves with the first turn that does.

    Parameters
    ----------
    max_turns : int
        The most turns.
    low : int, optional
        Low-water mark: once over `max_turns`, evict down to `low` turns.
    start_on_user, pin_user : bool
        See `SuffixPolicy`. The latest turn never leaves, so `pin_user` changes nothing.

    Examples
    --------
    >>> TurnWindow(4)
    TurnWindow(4)
    """

    max_turns: Annotated[int, Bounds(1)] = 4
    _: KW_ONLY
    low: Annotated[int, Bounds(1)] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low is not None and self.low > self.max_turns:
            raise PolicyError(
                f"TurnWindow: low must be at most max_turns, {self.max_turns}, not {self.low}"
            )

    @property
    def high(self) -> int:
        return self.max_turns

    @property
    def why(self) -> str:
        return f"over {self.max_turns:,} turns"

    def weigh(self, unit: Unit) -> int:
        return int(unit.starts_turn)

    def held(self, window: Window) -> int:
        return window.turn_count

    def _oldest_over(self, window: Window) -> list[Unit]:
        if window.turn_count <= self.max_turns:
            return []
        return list(window.units_before_turn(-self.target))
