"""`FirstThatFits`: policies asked in turn until the window fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Conversation, Message
from chatmem_lab.policies.bounds import Bounds, check_fields
from chatmem_lab.policies.chained import chain
from chatmem_lab.policies.limits import over_budget_reason, parts_of_window
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.wrapped import Wrapped, check_inner
from chatmem_lab.window import KEEP, Revision, Window

__all__ = ["FirstThatFits"]


@dataclass(frozen=True, repr=False)
class FirstThatFits(Policy):
    """While the window is over `max_tokens`, the policies are asked in turn, the mildest first.

    Each is asked about what the one before it left, and only if that is still too much; a
    window that fits is left alone. Pydantic AI harness's ``TieredCompaction`` and Microsoft
    Agent Framework's ``TokenBudgetComposedStrategy``. Where none makes it fit, it is marked.

    Parameters
    ----------
    max_tokens : int
        The budget of the whole window.
    policies : tuple of Policy
        The cheapest in what it loses first, as in ``(ClearToolResults(3), Summarize(…))``.

    Examples
    --------
    >>> from chatmem_lab.policies import ClearToolResults, TokenWindow
    >>> FirstThatFits(8_000, policies=(ClearToolResults(3), TokenWindow(8_000)))
    FirstThatFits(8_000, policies=(ClearToolResults(3), TokenWindow(8_000)))
    """

    max_tokens: Annotated[int, Bounds(1)]
    _: KW_ONLY
    policies: Any

    exported = False

    def __post_init__(self) -> None:
        check_fields(self)
        if not isinstance(self.policies, Iterable) or isinstance(self.policies, Policy):
            raise PolicyError(
                f"FirstThatFits: policies must be several policies, not {self.policies!r}"
            )
        object.__setattr__(self, "policies", tuple(self.policies))
        for policy in self.policies:
            check_inner("FirstThatFits", policy)
        chain(*self.policies)

    @property
    def contract(self) -> Any:  # type: ignore[override]
        return chain(*self.policies).contract

    @property
    def segments(self) -> Any:  # type: ignore[override]
        return self.policies[0].segments

    @property
    def asked_while_open(self) -> Any:  # type: ignore[override]
        return any(policy.asked_while_open for policy in self.policies)

    @property
    def pins_user(self) -> bool:
        return any(policy.pins_user for policy in self.policies)

    @property
    def pins(self) -> Callable[[Message], bool] | None:
        return chain(*self.policies).pins

    @property
    def budget(self) -> int:
        return self.max_tokens

    def excess(self, window: Window) -> str | None:
        if window.tokens <= self.max_tokens:
            return None
        return over_budget_reason(self.max_tokens, parts_of_window(window))

    def begin(self, conversation: Conversation | None) -> Policy:
        begun = tuple(policy.begin(conversation) for policy in self.policies)
        return FirstThatFits(self.max_tokens, policies=begun)

    @property
    def stages(self) -> tuple[Policy, ...]:
        return tuple(
            _UntilItFits(stage, self.max_tokens)
            for policy in self.policies
            for stage in policy.stages
        )

    def revise(self, window: Window) -> Revision:
        """It decides nothing itself: the keeper asks its stages."""
        raise PolicyError("FirstThatFits has no revision of its own: ask its stages in turn")

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.policies)) + ("," if len(self.policies) == 1 else "")
        return f"FirstThatFits({self.max_tokens:_}, policies=({inner}))"


@dataclass(frozen=True, repr=False)
class _UntilItFits(Wrapped):
    policy: Policy
    max_tokens: int

    def __post_init__(self) -> None:
        """Built by `FirstThatFits` only."""

    def revise(self, window: Window) -> Revision:
        return KEEP if window.tokens <= self.max_tokens else self.policy.revise(window)

    def __repr__(self) -> str:
        return repr(self.policy)
