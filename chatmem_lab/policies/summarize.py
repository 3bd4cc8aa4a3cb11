"""`Summarize`: the oldest units leave with a summary in their place."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.amounts import Amount, Messages
from chatmem_lab.policies.amounts_of_window import (
    beyond_kept_tail,
    check_amounts,
    check_summarizer,
    holds_more,
)
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Revision, SummaryForm, Unit, Window

__all__ = ["Summarize"]


@dataclass(frozen=True, repr=False)
class Summarize(Policy):
    """Fold the oldest messages into a summary, which stands in their place.

    An earlier summary is handed to the summarizer apart (`SummaryRequest.previous`), so
    every message is sent to it once as new text. A failed, empty or not smaller summary
    changes nothing, and is not tried again before one more unit has arrived.

    Parameters
    ----------
    summarizer : Summarizer
        Anything with ``summarize(request) -> Summary``.
    trigger : Messages, Tokens, Turns or Share
        Fold when the window holds more than this, pinned system and developer messages left
        out. A `Share` is one of `budget`.
    keep : Messages, Tokens or Turns
        The newest whole units that fit into this stay verbatim.
    budget_tokens : int, optional
        What a `Share` is a share of.
    role : {"assistant", "user", "system"}
        The role of the summary.
    place : {"first", "front"}
        At the place of the first folded message, or before everything else.
    check_on : {"any", "assistant"}
        Whether the trigger is checked after any message, or after assistant messages only.
    count_pinned : bool
        Whether pinned system and developer messages count for the trigger.
    prefix : str
        Put in front of the summary's text.
    max_tokens : int, optional
        A longer summary is a failed one.
    instructions : str
        Handed to the summarizer.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> Summarize(Truncate(400), trigger=Messages(30), keep=Messages(10)).keep
    Messages(10)
    """

    summarizer: Summarizer
    _: KW_ONLY
    trigger: Amount = Messages(20)
    keep: Amount = Messages(12)
    budget_tokens: Annotated[int, Bounds(1)] | None = None
    role: Literal["assistant", "user", "system"] = "assistant"
    place: Literal["first", "front"] = "first"
    check_on: Literal["any", "assistant"] = "any"
    count_pinned: bool = False
    prefix: str = ""
    max_tokens: Annotated[int, Bounds(1)] | None = None
    instructions: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_summarizer("Summarize", self.summarizer)
        check_amounts("Summarize", self.budget_tokens, trigger=self.trigger, keep=self.keep)
        for name, choices in (
            ("role", ("assistant", "user", "system")),
            ("place", ("first", "front")),
            ("check_on", ("any", "assistant")),
        ):
            if getattr(self, name) not in choices:
                listed = f"{', '.join(choices[:-1])} or {choices[-1]}"
                raise PolicyError(
                    f"Summarize: {name} must be {listed}, not {getattr(self, name)!r}"
                )

    def revise(self, window: Window) -> Revision:
        if not self._is_checked_at(window.newest) or not holds_more(
            window, self.trigger, self.budget_tokens, count_pinned=self.count_pinned
        ):
            return KEEP
        fold = beyond_kept_tail(window, self.keep, self.budget_tokens)
        if all(unit.is_made or unit.is_summary for unit in fold):
            return KEEP
        return Revision(
            fold=tuple(fold),
            by=self.summarizer,
            form=SummaryForm(
                role=self.role,
                place=self.place,
                prefix=self.prefix,
                max_tokens=self.max_tokens,
                instructions=self.instructions,
            ),
            reason=f"over {self.trigger!r}",
        )

    def _is_checked_at(self, newest: Unit | None) -> bool:
        if self.check_on == "any":
            return True
        return newest is not None and newest.slots[-1].message.role == "assistant"
