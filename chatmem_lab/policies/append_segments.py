"""`AppendSegments`: summaries that are never touched again."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.amounts import Amount, Messages, Share, Turns
from chatmem_lab.policies.amounts_of_window import check_amounts, check_summarizer, weigh
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Revision, SummaryForm, Unit, Window

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
        fold = self._between(window)
        if not fold or sum(map(weigh(self.segment), fold)) < self._of(self.segment):
            return KEEP
        return Revision(
            fold=tuple(fold),
            by=self.summarizer,
            form=SummaryForm(
                role=self.role, max_tokens=self.max_tokens, instructions=self.instructions
            ),
            reason=f"{self.segment!r} beyond the newest {self.keep!r}",
        )

    def _between(self, window: Window) -> list[Unit]:
        """What stands between the newest segment and the kept tail; nothing before is read."""
        room, weight = self._of(self.keep), weigh(self.keep)
        is_tail = True
        found: list[Unit] = []
        for unit in window.units_backwards:
            if unit.is_instruction:
                continue
            if unit is not window.newest:
                if unit.is_made or unit.is_summary:
                    break
                is_tail = is_tail and weight(unit) <= room
            if not is_tail:
                if not window.is_pinned(unit):
                    found.append(unit)
                continue
            room -= weight(unit)
            is_tail = not (isinstance(self.keep, Turns) and room <= 0)
        return found[::-1]

    def _of(self, amount: Amount) -> int:
        assert not isinstance(amount, Share)
        return amount.n
