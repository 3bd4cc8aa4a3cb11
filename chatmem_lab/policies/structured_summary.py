"""`StructuredSummary`: the oldest units leave with a list of fixed fields in their place."""

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
from chatmem_lab.window import KEEP, Revision, SummaryForm, Window

__all__ = ["StructuredSummary"]


@dataclass(frozen=True, repr=False)
class StructuredSummary(Policy):
    """Fold the oldest messages into a summary of fixed fields.

    OpenHands' ``StructuredSummaryCondenser`` and Factory's anchored summaries: what has a
    place of its own is not forgotten over the rest. The summarizer is asked for the fields;
    it may answer with a JSON object, with ``field: …`` lines or headings. A field of which it
    says nothing keeps what the summary before said of it; an answer with no field at all is
    a failed one.

    Parameters
    ----------
    summarizer : Summarizer
        `KeyFields` fills them without a model.
    fields : tuple of str
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
        In front of the request for the fields.

    Examples
    --------
    >>> from chatmem_lab.summarizers import KeyFields
    >>> StructuredSummary(KeyFields(), fields=("goal", "done"))
    StructuredSummary(KeyFields(200), fields=('goal', 'done'))
    """

    summarizer: Summarizer
    _: KW_ONLY
    fields: tuple[str, ...] = ("goal", "done", "pending", "decisions", "errors", "files")
    trigger: Amount = Messages(20)
    keep: Amount = Messages(12)
    budget_tokens: Annotated[int, Bounds(1)] | None = None
    role: Literal["assistant", "user", "system"] = "assistant"
    max_tokens: Annotated[int, Bounds(1)] | None = None
    instructions: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_summarizer("StructuredSummary", self.summarizer)
        check_amounts(
            "StructuredSummary", self.budget_tokens, trigger=self.trigger, keep=self.keep
        )
        if not self.fields or not all(name.strip() for name in self.fields):
            raise PolicyError(f"StructuredSummary: fields must be names, not {self.fields!r}")
        if self.role not in ("assistant", "user", "system"):
            raise PolicyError(
                f"StructuredSummary: role must be assistant, user or system, not {self.role!r}"
            )

    def revise(self, window: Window) -> Revision:
        if not holds_more(window, self.trigger, self.budget_tokens):
            return KEEP
        fold = beyond_kept_tail(window, self.keep, self.budget_tokens)
        if all(unit.is_made or unit.is_summary for unit in fold):
            return KEEP
        asked = (
            "Answer with one JSON object with the fields "
            f"{', '.join(self.fields)}; each is a text or a list of texts."
        )
        return Revision(
            fold=tuple(fold),
            by=self.summarizer,
            form=SummaryForm(
                role=self.role,
                max_tokens=self.max_tokens,
                instructions=f"{self.instructions}\n\n{asked}".strip(),
                fields=self.fields,
            ),
            reason=f"over {self.trigger!r}",
        )
