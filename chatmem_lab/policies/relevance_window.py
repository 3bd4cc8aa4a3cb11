"""`RelevanceWindow`: what has least to do with the latest user message leaves first."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.limits import over_budget_reason, parts_of_window
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.unit_index import UnitIndex, text_of
from chatmem_lab.window import KEEP, Revision, Unit, Window

__all__ = ["RelevanceWindow"]


@dataclass(frozen=True, repr=False)
class RelevanceWindow(Policy):
    """Over a budget the units least relevant to the latest user message leave, before a request.

    Relevance is BM25 over the units of the window, in any script; of equals the oldest leave
    first. What has left does not return: see `Recall` for that. Pydantic AI harness's
    relevance compaction keeps 8,000 tokens.

    Parameters
    ----------
    max_tokens : int
        The budget of the whole window.
    low : int, optional
        Low-water mark: once over `max_tokens`, evict down to `low` tokens.
    keep_newest : int
        So many of the newest messages stay, in whole units, whatever they say.

    Examples
    --------
    >>> RelevanceWindow(8_000, keep_newest=6)
    RelevanceWindow(8_000, keep_newest=6)
    """

    max_tokens: Annotated[int, Bounds(1)] = 8_000
    _: KW_ONLY
    low: Annotated[int, Bounds(1)] | None = None
    keep_newest: Annotated[int, Bounds(0)] = 4

    asks: ClassVar[Literal["append", "request"]] = "request"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low is not None and self.low > self.max_tokens:
            raise PolicyError(
                f"RelevanceWindow: low must be at most max_tokens, {self.max_tokens}, "
                f"not {self.low}"
            )

    @property
    def budget(self) -> int:
        return self.max_tokens

    def excess(self, window: Window) -> str | None:
        if window.tokens <= self.max_tokens:
            return None
        return over_budget_reason(self.max_tokens, parts_of_window(window))

    def revise(self, window: Window) -> Revision:
        if window.tokens <= self.max_tokens:
            return KEEP
        index: UnitIndex = window.scratch.setdefault(self, UnitIndex())
        index.look(window)
        asked = window.latest_user
        scores = index.scores(text_of(asked)) if asked is not None else {}
        over = window.tokens - (self.max_tokens if self.low is None else self.low)
        newest = self._newest(window)
        candidates = [unit for unit in window.forwards() if id(unit) not in newest]
        candidates.sort(key=lambda unit: (scores.get(unit.order, 0.0), unit.order))
        # The newest stay as long as there is anything else.
        candidates += [unit for unit in window.forwards() if id(unit) in newest]
        leaving: list[Unit] = []
        for unit in candidates:
            if over <= 0:
                break
            leaving.append(unit)
            over -= unit.tokens
        if not leaving:
            return KEEP
        leaving.sort(key=lambda unit: unit.order)
        return Revision(
            evict=tuple(leaving), reason=f"least relevant over {self.max_tokens:,} tokens"
        )

    def _newest(self, window: Window) -> set[int]:
        left = self.keep_newest
        found: set[int] = set()
        for unit in window.units_backwards:
            left -= len(unit)
            if left < 0:
                break
            found.add(id(unit))
        return found
