"""`AppendSegments`: summaries that are never touched again."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.amounts import Amount, Messages, Share, Turns
from chatmem_lab.policies.amounts_of_window import (
    beyond_kept_tail,
    check_amounts,
    check_summarizer,
    weigh,
)
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Revision, SummaryForm, Window

__all__ = ["AppendSegments"]


@dataclass(frozen=True, repr=False)
class AppendSegments(Policy):
    """Fold what has left the kept tail into a segment of its own, behind the earlier ones.

    Append-only summary segments, as in k0valik/pi-blackhole#46: an earlier segment is never
    folded again, so the prefix up to the newest one never breaks, and nothing is a summary
    of a summary. The window grows by one segment at each fold; chain it with a window where
    that must have an end.

    Parameters
    ----------
    summarizer : Summarizer
    segment : Messages, Tokens or Turns
        Fold when at least so much stands between the newest segment and the kept tail.
    keep : Messages, Tokens or Turns
        The newest whole units that fit into this stay verbatim.
    role : {"assistant", "user", "system"}
    max_tokens : int, optional
        A longer segment is a failed one.
    instructions : str
        Handed to the summarizer.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> AppendSegments(Truncate(300), segment=Messages(8)).segment
    Messages(8)
    """

    summarizer: Summarizer
    _: KW_ONLY
    segment: Amount = Messages(10)
    keep: Amount = Messages(12)
    role: Literal["assistant", "user", "system"] = "assistant"
    max_tokens: Annotated[int, Bounds(1)] | None = None
    instructions: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_summarizer("AppendSegments", self.summarizer)
        check_amounts("AppendSegments", None, segment=self.segment, keep=self.keep)
        if self.role not in ("assistant", "user", "system"):
            raise PolicyError(
                f"AppendSegments: role must be assistant, user or system, not {self.role!r}"
            )

    def revise(self, window: Window) -> Revision:
        if not self._may_have_enough(window):
            return KEEP
        fold = [
            unit
            for unit in beyond_kept_tail(window, self.keep, None)
            if not unit.is_made and not unit.is_summary
        ]
        assert not isinstance(self.segment, Share)
        if not fold or sum(map(weigh(self.segment), fold)) < self.segment.n:
            return KEEP
        return Revision(
            fold=tuple(fold),
            by=self.summarizer,
            form=SummaryForm(
                role=self.role, max_tokens=self.max_tokens, instructions=self.instructions
            ),
            reason=f"{self.segment!r} beyond the newest {self.keep!r}",
        )

    def _may_have_enough(self, window: Window) -> bool:
        """Without looking at the units: whether there can be so much beyond the tail."""
        match self.keep:
            case Messages(n):
                return len(window) - window.instruction_messages > n
            case Turns(n):
                return window.turn_count > n
        assert not isinstance(self.keep, Share)
        return window.message_tokens - window.instruction_tokens > self.keep.n
