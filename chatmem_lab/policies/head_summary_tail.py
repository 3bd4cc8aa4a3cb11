"""`HeadSummaryTail` and `Halve`: the first messages, one summary, the newest messages."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.amounts import Amount, Messages
from chatmem_lab.policies.amounts_of_window import (
    beyond_kept_tail,
    check_amounts,
    check_summarizer,
    head_of,
    holds_more,
)
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Revision, SummaryForm, Unit, Window

__all__ = ["Halve", "HeadSummaryTail"]


def _between(window: Window, head: int, keep: Amount, of: int | None) -> tuple[Unit, ...]:
    """What stands between the head and the kept tail; empty if that is a summary only."""
    first = set(map(id, head_of(window, head)))
    fold = [unit for unit in beyond_kept_tail(window, keep, of) if id(unit) not in first]
    if all(unit.is_made or unit.is_summary for unit in fold):
        return ()
    return tuple(fold)


@dataclass(frozen=True, repr=False)
class HeadSummaryTail(Policy):
    """The first messages verbatim, one summary of the middle, the newest verbatim.

    Inspect's summary compaction, which puts the input in front again, and Gemini CLI's with a
    head. The summary before is folded into the new one; the prefix up to the head stays.

    Parameters
    ----------
    summarizer : Summarizer
    head : int
        Messages that the head may hold, in whole units, instructions left out.
    trigger : Messages, Tokens, Turns or Share
        Fold when the window holds more than this, instructions left out.
    keep : Messages, Tokens, Turns or Share
        The newest whole units that fit into this stay verbatim.
    budget_tokens : int, optional
        What a `Share` is a share of.
    role : {"assistant", "user", "system"}
    max_tokens : int, optional
        A longer summary is a failed one.
    instructions : str
        Handed to the summarizer.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> HeadSummaryTail(Truncate(300), head=4).head
    4
    """

    summarizer: Summarizer
    _: KW_ONLY
    head: Annotated[int, Bounds(0)] = 2
    trigger: Amount = Messages(20)
    keep: Amount = Messages(10)
    budget_tokens: Annotated[int, Bounds(1)] | None = None
    role: Literal["assistant", "user", "system"] = "assistant"
    max_tokens: Annotated[int, Bounds(1)] | None = None
    instructions: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_summarizer("HeadSummaryTail", self.summarizer)
        check_amounts("HeadSummaryTail", self.budget_tokens, trigger=self.trigger, keep=self.keep)
        if self.role not in ("assistant", "user", "system"):
            raise PolicyError(
                f"HeadSummaryTail: role must be assistant, user or system, not {self.role!r}"
            )

    def revise(self, window: Window) -> Revision:
        if not holds_more(window, self.trigger, self.budget_tokens):
            return KEEP
        fold = _between(window, self.head, self.keep, self.budget_tokens)
        if not fold:
            return KEEP
        return Revision(
            fold=fold,
            by=self.summarizer,
            form=SummaryForm(
                role=self.role, max_tokens=self.max_tokens, instructions=self.instructions
            ),
            reason=f"over {self.trigger!r}",
        )


@dataclass(frozen=True, repr=False)
class Halve(Policy):
    """Over a number of messages, half of it stays: the first few, a summary, the newest.

    OpenHands' ``LLMSummarizingCondenser`` with its defaults (software agent SDK 1.58): over
    240 events, the first 2 and the newest stay, and the summary between them is one of the
    120. There an event is a call or its result or a message; here it is a message, and calls
    stay with their results.

    Parameters
    ----------
    summarizer : Summarizer
    max_messages : int
        Instructions left out.
    keep_first : int
        Messages that the head may hold, in whole units.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> Halve(Truncate(300), max_messages=60).keep_first
    2
    """

    summarizer: Summarizer
    _: KW_ONLY
    max_messages: Annotated[int, Bounds(2)] = 240
    keep_first: Annotated[int, Bounds(0)] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_summarizer("Halve", self.summarizer)
        if self.keep_first >= self.max_messages // 2:
            raise PolicyError(
                f"Halve: keep_first must be less than half of max_messages, "
                f"{self.max_messages // 2}, not {self.keep_first}"
            )

    def revise(self, window: Window) -> Revision:
        if not holds_more(window, Messages(self.max_messages), None):
            return KEEP
        tail = max(0, self.max_messages // 2 - self.keep_first - 1)
        fold = _between(window, self.keep_first, Messages(tail), None)
        if not fold:
            return KEEP
        return Revision(
            fold=fold,
            by=self.summarizer,
            form=SummaryForm(),
            reason=f"over {self.max_messages:,} messages",
        )
