"""`Every`: a policy that is asked only once in so many messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Conversation
from chatmem_lab.policies.bounds import Bounds, check_fields
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.wrapped import Wrapped, check_inner
from chatmem_lab.window import KEEP, Revision, Window

__all__ = ["Every"]


@dataclass(frozen=True, repr=False)
class Every(Wrapped):
    """`policy`, asked only when the history has passed another `n` messages.

    In between the window only grows, so that the prefix breaks once in `n` messages; it may
    be over the budget of `policy` until then, and is marked. Google ADK's compaction
    interval and SWE-agent's ``polling``, around any policy.

    Parameters
    ----------
    policy : Policy
        Not one that sees the whole history.
    n : int

    Examples
    --------
    >>> from chatmem_lab.policies import TokenWindow
    >>> Every(TokenWindow(8_000), 10)
    Every(TokenWindow(8_000), 10)
    """

    policy: Policy
    n: Annotated[int, Bounds(1)]

    exported = False

    def __post_init__(self) -> None:
        check_inner("Every", self.policy)
        check_fields(self)
        if any(stage.sees == "history" for stage in self.policy.stages):
            raise PolicyError(
                f"Every cannot hold back {self.policy!r}, which sees the whole history: what "
                "is sent is worked out anew for each request"
            )

    @property
    def stages(self) -> tuple[Policy, ...]:
        if self.policy.stages == (self.policy,):
            return (self,)
        return tuple(Every(stage, self.n) for stage in self.policy.stages)

    def begin(self, conversation: Conversation | None) -> Policy:
        return Every(self.policy.begin(conversation), self.n)

    def revise(self, window: Window) -> Revision:
        newest = window.newest
        if newest is None or not newest.positions:
            return KEEP
        first, last = newest.positions[0], newest.positions[-1]
        return self.policy.revise(window) if (last + 1) // self.n > first // self.n else KEEP

    def __repr__(self) -> str:
        return f"Every({self.policy!r}, {self.n:_})"
