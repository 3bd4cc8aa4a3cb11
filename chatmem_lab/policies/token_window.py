"""`TokenWindow`: the newest messages, by tokens."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.limits import over_budget_reason, parts_of_window
from chatmem_lab.policies.suffix import SuffixPolicy
from chatmem_lab.window import Unit, Window

__all__ = ["TokenWindow"]


@dataclass(frozen=True, repr=False)
class TokenWindow(SuffixPolicy):
    """Keep the newest whole units that fit into a budget of tokens.

    Everything that is sent counts: pinned messages, tool schemas, the reply priming.

    Parameters
    ----------
    max_tokens : int
        The budget; ``cml.budget("gpt-5", reply=8_192)`` gives a model's.
    low : int, optional
        Low-water mark: once over `max_tokens`, evict down to `low` tokens, so that the
        prefix breaks once and not at every request.
    reserve : int
        Room of `max_tokens` that is kept free for the reply.
    start_on_user, pin_user : bool
        See `SuffixPolicy`.

    Examples
    --------
    >>> TokenWindow(8_000, low=6_000)
    TokenWindow(8_000, low=6_000)
    >>> TokenWindow(8_000, reserve=1_000).budget
    7000
    """

    max_tokens: Annotated[int, Bounds(1)]
    _: KW_ONLY
    low: Annotated[int, Bounds(1)] | None = None
    reserve: Annotated[int, Bounds(0)] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reserve >= self.max_tokens:
            raise PolicyError(
                f"TokenWindow: reserve must be less than max_tokens: input budget = "
                f"{self.max_tokens} - {self.reserve} = {self.max_tokens - self.reserve}"
            )
        if self.low is not None and self.low > self.high:
            most = f"max_tokens, {self.max_tokens}"
            if self.reserve:
                most = f"max_tokens less reserve, {self.high}"
            raise PolicyError(f"TokenWindow: low must be at most {most}, not {self.low}")

    @property
    def high(self) -> int:
        return self.max_tokens - self.reserve

    @property
    def budget(self) -> int:
        return self.high

    @property
    def why(self) -> str:
        return f"over {self.high:,} tokens"

    def weigh(self, unit: Unit) -> int:
        return unit.tokens

    def held(self, window: Window) -> int:
        return window.tokens

    def excess(self, window: Window) -> str | None:
        if window.tokens <= self.high:
            return None
        return over_budget_reason(self.high, parts_of_window(window))
