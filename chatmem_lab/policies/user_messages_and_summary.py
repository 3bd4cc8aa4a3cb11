"""`UserMessagesAndSummary`: the user's own words, and one summary of all else."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from chatmem_lab.policies.amounts import Amount, Tokens
from chatmem_lab.policies.amounts_of_window import check_amounts, check_summarizer, holds_more
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Revision, SummaryForm, Window

__all__ = ["UserMessagesAndSummary"]


@dataclass(frozen=True, repr=False)
class UserMessagesAndSummary(Policy):
    """The newest user messages verbatim, and behind them one summary of everything else.

    Codex CLI's compaction: the whole history becomes one summary, and of the user's own
    messages the newest stay, up to 20,000 tokens. Calls, results and the assistant's text
    are folded; so are the summary before, and user messages that are too old.

    Parameters
    ----------
    summarizer : Summarizer
    trigger : Messages, Tokens, Turns or Share
        Fold when the window holds more than this, instructions left out. Codex takes nine
        tenths of the model's context window.
    user_tokens : int
        Tokens of user messages that stay.
    budget_tokens : int, optional
        What a `Share` is a share of.
    max_tokens : int, optional
        A longer summary is a failed one.
    instructions : str
        Handed to the summarizer.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> UserMessagesAndSummary(Truncate(300), trigger=Tokens(9_000)).user_tokens
    20000
    """

    summarizer: Summarizer
    _: KW_ONLY
    trigger: Amount = Tokens(180_000)
    user_tokens: Annotated[int, Bounds(0)] = 20_000
    budget_tokens: Annotated[int, Bounds(1)] | None = None
    max_tokens: Annotated[int, Bounds(1)] | None = None
    instructions: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_summarizer("UserMessagesAndSummary", self.summarizer)
        check_amounts("UserMessagesAndSummary", self.budget_tokens, trigger=self.trigger)

    def revise(self, window: Window) -> Revision:
        if not holds_more(window, self.trigger, self.budget_tokens):
            return KEEP
        kept = self._kept_user_messages(window)
        fold = tuple(unit for unit in window.forwards() if id(unit) not in kept)
        if all(unit.is_made or unit.is_summary for unit in fold):
            return KEEP
        return Revision(
            fold=fold,
            by=self.summarizer,
            form=SummaryForm(
                role="user",
                place="last",
                max_tokens=self.max_tokens,
                instructions=self.instructions,
            ),
            reason=f"over {self.trigger!r}",
        )

    def _kept_user_messages(self, window: Window) -> set[int]:
        room = self.user_tokens
        kept: set[int] = set()
        for unit in window.units_backwards:
            if not unit.starts_turn or unit.is_summary:
                continue
            room -= unit.tokens
            if room < 0:
                break
            kept.add(id(unit))
        return kept
