"""`SummarizeInPlace`: a long message is summarized where it stands."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from chatmem_lab.policies.amounts_of_window import check_summarizer
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Revision, SummaryForm, Window

__all__ = ["SummarizeInPlace"]


@dataclass(frozen=True, repr=False)
class SummarizeInPlace(Policy):
    """A message that is too long says its summary, from the first request on that sends it.

    Role, ids, calls and place stay, so that pairs stay whole and no prefix breaks; the
    history keeps what was said. Each message is tried once, when it comes; calls must be
    answered first. A failed summary, or one that is not smaller, changes nothing and is
    charged. What Haystack's and LangGraph's tool offloading do with a preview.

    Parameters
    ----------
    summarizer : Summarizer
    max_tokens : int
        A longer message is summarized; the summary may be no longer than this either.
    roles : tuple of str
        Whose messages; system and developer messages are never touched.
    instructions : str
        Handed to the summarizer.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> SummarizeInPlace(Truncate(300), max_tokens=500).roles
    ('user', 'tool')
    """

    summarizer: Summarizer
    _: KW_ONLY
    max_tokens: Annotated[int, Bounds(1)] = 2_000
    roles: tuple[str, ...] = ("user", "tool")
    instructions: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_summarizer("SummarizeInPlace", self.summarizer)

    def revise(self, window: Window) -> Revision:
        newest = window.newest
        if newest is None or newest.is_instruction:
            return KEEP
        long = tuple(
            slot
            for slot in newest.slots
            if slot.state == "kept"
            and slot.tokens > self.max_tokens
            and slot.message.role in self.roles
        )
        if not long:
            return KEEP
        return Revision(
            shorten=long,
            by=self.summarizer,
            form=SummaryForm(max_tokens=self.max_tokens, instructions=self.instructions),
            reason=f"over {self.max_tokens:,} tokens in one message",
        )
