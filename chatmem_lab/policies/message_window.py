"""`MessageWindow`: the newest messages, by number."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.limits import over_count_reason
from chatmem_lab.policies.suffix import SuffixPolicy
from chatmem_lab.window import Unit, Window

__all__ = ["MessageWindow"]


@dataclass(frozen=True, repr=False)
class MessageWindow(SuffixPolicy):
    """Keep the newest whole units that fit into a number of messages.

    Parameters
    ----------
    max_messages : int
        The most messages.
    low : int, optional
        Low-water mark: once over `max_messages`, evict down to `low` messages, so that the
        prefix breaks once and not at every request.
    count_pinned : bool
        Whether pinned system and developer messages count. Made messages always do.
    start_on_user, pin_user : bool
        See `SuffixPolicy`.

    Examples
    --------
    >>> MessageWindow(20, low=12)
    MessageWindow(20, low=12)

    A tool call and its results are one unit: they stay or leave together, and a newest
    unit that is larger than the window stays and is marked.
    """

    max_messages: Annotated[int, Bounds(1)] = 20
    _: KW_ONLY
    low: Annotated[int, Bounds(1)] | None = None
    count_pinned: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low is not None and self.low > self.max_messages:
            raise PolicyError(
                f"MessageWindow: low must be at most max_messages, {self.max_messages}, "
                f"not {self.low}"
            )

    @property
    def high(self) -> int:
        return self.max_messages

    @property
    def why(self) -> str:
        return f"over {self.max_messages:,} messages"

    def weigh(self, unit: Unit) -> int:
        return len(unit)

    def held(self, window: Window) -> int:
        return len(window) - (0 if self.count_pinned else window.instruction_messages)

    def excess(self, window: Window) -> str | None:
        held = self.held(window)
        if held <= self.max_messages:
            return None
        newest = window.newest
        return over_count_reason(
            self.max_messages,
            "message",
            held,
            pinned=window.instruction_messages if self.count_pinned else 0,
            newest=None if newest is None or newest.is_instruction else len(newest),
        )
