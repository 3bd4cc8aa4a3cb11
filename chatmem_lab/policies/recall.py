"""`Recall`: what a policy evicted comes back while it is relevant."""

from __future__ import annotations

import heapq
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Conversation
from chatmem_lab.policies.bounds import Bounds, check_fields
from chatmem_lab.policies.limits import over_budget_reason, parts_of_window
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.unit_index import UnitIndex, text_of
from chatmem_lab.policies.wrapped import Wrapped, check_inner
from chatmem_lab.window import Revision, Unit, Window

__all__ = ["Recall"]


@dataclass(frozen=True, repr=False)
class Recall(Wrapped):
    """`policy`, and the `k` evicted units most relevant to the latest user message.

    Before each request `policy` is asked about the whole history; of what it would evict the
    units come back, at their old place, that share most words with the latest user message
    (BM25). So do MemGPT's recall storage and LlamaIndex's vector memory block, which search
    by embeddings. A search costs the postings of the message's words; the window is worked
    out anew for each request, at the cost of one look at each unit.

    Parameters
    ----------
    policy : Policy
        One that evicts or clears. One that folds cannot be asked about the whole history
        again and again: its summaries are made once.
    k : int
        The most units that come back.
    max_tokens : int, optional
        What comes back may fill the window up to this, by default the budget of `policy`.

    Examples
    --------
    >>> from chatmem_lab.policies import TokenWindow
    >>> Recall(TokenWindow(6_000), 4, max_tokens=8_000)
    Recall(TokenWindow(6_000), 4, max_tokens=8_000)
    """

    policy: Policy
    k: Annotated[int, Bounds(0)]
    _: KW_ONLY
    max_tokens: Annotated[int, Bounds(1)] | None = None

    sees: ClassVar[Literal["window", "history"]] = "history"
    asks: ClassVar[Literal["append", "request"]] = "request"
    exported = False

    def __post_init__(self) -> None:
        check_inner("Recall", self.policy)
        check_fields(self)
        if self.policy.stages != (self.policy,):
            raise PolicyError(
                f"Recall takes one policy, not {self.policy!r}: a chain decides in stages, "
                "each about what the one before it left"
            )
        if getattr(self.policy, "summarizer", None) is not None:
            raise PolicyError(
                f"Recall cannot be put around {self.policy!r}, which folds: what a summary "
                "stands for is in it already. Use one that evicts, such as TokenWindow"
            )

    @property
    def budget(self) -> int | None:
        return self.policy.budget if self.max_tokens is None else self.max_tokens

    def excess(self, window: Window) -> str | None:
        budget = self.budget
        if budget is None:
            return self.policy.excess(window)
        if window.tokens <= budget:
            return None
        return over_budget_reason(budget, parts_of_window(window))

    def begin(self, conversation: Conversation | None) -> Policy:
        return Recall(self.policy.begin(conversation), self.k, max_tokens=self.max_tokens)

    def revise(self, window: Window) -> Revision:
        revision = self.policy.revise(window)
        if revision.fold:
            raise PolicyError(f"{self!r}: {self.policy!r} folds, which Recall cannot undo")
        if not revision.evict or not self.k:
            return revision
        returned = self._returned(window, revision)
        evict = tuple(unit for unit in revision.evict if id(unit) not in returned)
        return msgspec.structs.replace(revision, evict=evict)

    def _returned(self, window: Window, revision: Revision) -> set[int]:
        asked = window.latest_user
        if asked is None:
            return set()
        index: UnitIndex = window.scratch.setdefault(self, UnitIndex())
        index.look(window)
        scores = index.scores(text_of(asked))
        relevant = (unit for unit in revision.evict if scores.get(unit.order, 0.0) > 0)
        best: list[Unit] = heapq.nlargest(
            self.k, relevant, key=lambda unit: (scores[unit.order], unit.order)
        )
        if self.budget is None:
            return set(map(id, best))
        left = self.budget - window.tokens + sum(unit.tokens for unit in revision.evict)
        left += sum(
            slot.tokens - window.count(message) for slot, message in revision.replace.items()
        )
        found: set[int] = set()
        for unit in best:
            if unit.tokens <= left:
                found.add(id(unit))
                left -= unit.tokens
        return found

    def __repr__(self) -> str:
        most: Any = "" if self.max_tokens is None else f", max_tokens={self.max_tokens:_}"
        return f"Recall({self.policy!r}, {self.k:_}{most})"
