"""`ImportanceWindow`: what a user's function finds least important leaves first."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Message
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.limits import over_budget_reason, parts_of_window
from chatmem_lab.policies.policy import Policy
from chatmem_lab.window import KEEP, Revision, Unit, Window

__all__ = ["ImportanceWindow"]


@dataclass(frozen=True, repr=False)
class ImportanceWindow(Policy):
    """Over a budget of tokens the least important units leave, the oldest of equals first.

    A unit is as important as the most important of its messages. Each message is asked
    about once. Generative Agents (arXiv 2304.03442) and OpenHands' attention condenser score
    by a model; here it is any function.

    Parameters
    ----------
    score : callable
        From a `Message` to a number; more is more important.
    max_tokens : int
        The budget of the whole window.
    low : int, optional
        Low-water mark: once over `max_tokens`, evict down to `low` tokens.

    Examples
    --------
    >>> def length(message):
    ...     return len(message.text)
    >>> ImportanceWindow(length, max_tokens=8_000)
    ImportanceWindow(length, max_tokens=8_000)
    """

    score: Callable[[Message], float]
    _: KW_ONLY
    max_tokens: Annotated[int, Bounds(1)]
    low: Annotated[int, Bounds(1)] | None = None

    exported = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.score):
            raise PolicyError(f"ImportanceWindow needs a function, not {self.score!r}")
        if self.low is not None and self.low > self.max_tokens:
            raise PolicyError(
                f"ImportanceWindow: low must be at most max_tokens, {self.max_tokens}, "
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
        seen: _Seen = window.scratch.setdefault(self, _Seen())
        seen.look(window, self._importance)
        if window.tokens <= self.max_tokens:
            return KEEP
        over = window.tokens - (self.max_tokens if self.low is None else self.low)
        leaving: list[Unit] = []
        waiting: list[tuple[float, float, Unit]] = []
        while over > 0 and seen.heap:
            entry = heapq.heappop(seen.heap)
            unit = entry[2]
            if not window.holds(unit):
                continue
            if window.is_pinned(unit):
                waiting.append(entry)
                continue
            leaving.append(unit)
            over -= unit.tokens
        for entry in waiting:
            heapq.heappush(seen.heap, entry)
        if not leaving:
            return KEEP
        leaving.sort(key=lambda unit: unit.order)
        return Revision(evict=tuple(leaving), reason=f"least important over {self.max_tokens:,}")

    def _importance(self, message: Message) -> float:
        try:
            value: Any = self.score(message)
            number = float(value)
        except Exception as error:
            raise PolicyError(
                f"{self!r}: {type(error).__name__} for the message {message.text[:60]!r}: {error}"
            ) from error
        if number != number:
            raise PolicyError(
                f"{self!r}: the importance of the message {message.text[:60]!r} is no number"
            )
        return number

    def __repr__(self) -> str:
        name = getattr(self.score, "__qualname__", repr(self.score)).rpartition(".")[2]
        low = "" if self.low is None else f", low={self.low:_}"
        return f"ImportanceWindow({name}, max_tokens={self.max_tokens:_}{low})"


class _Seen:
    """The units of a window as a heap, the least important and oldest first."""

    def __init__(self) -> None:
        self.heap: list[tuple[float, float, Unit]] = []
        self._upto = float("-inf")

    def look(self, window: Window, importance: Callable[[Message], float]) -> None:
        new: list[Unit] = []
        for unit in window.units_backwards:
            if unit.slots[-1].order <= self._upto:
                break
            new.append(unit)
        for unit in reversed(new):
            value = max(map(importance, unit.messages))
            heapq.heappush(self.heap, (value, unit.order, unit))
        if new:
            self._upto = max(self._upto, new[0].slots[-1].order)
