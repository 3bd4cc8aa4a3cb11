"""`Chain`: policies asked one after the other, each on what the one before it left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Conversation, Message
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.rules import Preset
from chatmem_lab.window import Revision, Window

__all__ = ["Chain", "chain"]


@dataclass(frozen=True, repr=False)
class Chain(Policy):
    """Policies asked in turn; the keeper applies each stage before it asks the next.

    Build it with ``a | b`` or ``chain(a, b)``.

    Examples
    --------
    >>> from chatmem_lab.policies import ClearToolResults, TokenWindow
    >>> ClearToolResults(keep=3) | TokenWindow(8_000)
    ClearToolResults(3) | TokenWindow(8_000)
    """

    policies: tuple[Policy, ...]

    exported = False

    def __post_init__(self) -> None:
        """Policies are checked by `chain`; there are no numbers to check."""

    @property
    def contract(self) -> Any:  # type: ignore[override]
        return "loose" if any(p.contract == "loose" for p in self.policies) else "strict"

    @property
    def segments(self) -> Any:  # type: ignore[override]
        return self.policies[0].segments

    def revise(self, window: Window) -> Revision:
        """A chain itself decides nothing: the keeper asks its stages."""
        raise PolicyError("a chain has no revision of its own: ask its stages in turn")

    def begin(self, conversation: Conversation | None) -> Policy:
        return Chain(tuple(policy.begin(conversation) for policy in self.policies))

    def excess(self, window: Window) -> str | None:
        return next(
            (why for policy in self.policies if (why := policy.excess(window)) is not None), None
        )

    @property
    def budget(self) -> int | None:
        return min((p.budget for p in self.policies if p.budget is not None), default=None)

    @property
    def pins_user(self) -> bool:
        return any(policy.pins_user for policy in self.policies)

    @property
    def pins(self) -> Callable[[Message], bool] | None:
        rules = [policy.pins for policy in self.policies if policy.pins is not None]
        if len(rules) < 2:
            return rules[0] if rules else None
        return lambda message: any(rule(message) for rule in rules)

    @property
    def stages(self) -> tuple[Policy, ...]:
        return tuple(stage for policy in self.policies for stage in policy.stages)

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.policies))


def chain(*policies: Policy) -> Chain:
    """Policies asked in turn: ``chain(a, b)`` is ``a | b``.

    Raises
    ------
    PolicyError
        Without policies; with something that is none; with stages that divide the
        conversation differently, or one that sees the whole history behind another.
    """
    flat: list[Policy] = []
    for policy in policies:
        if isinstance(policy, Preset):
            raise PolicyError(
                f"a preset stands alone, since it brings rules of its own: {policy!r} cannot "
                "be a stage of a chain. Give its rules to a chain of your own: "
                "Preset(a | b, rules)"
            )
        if not isinstance(policy, Policy):
            raise PolicyError(
                f"a chain is made of policies, not {type(policy).__name__}: "
                "wrap a plain function with policy_from(function)"
            )
        flat.extend(policy.policies if isinstance(policy, Chain) else (policy,))
    if not flat:
        raise PolicyError("a chain needs at least one policy")
    if len({policy.segments for policy in flat}) > 1:
        raise PolicyError(
            "a chain cannot mix policies that keep calls and results together with "
            f"policies that take each message alone: {' | '.join(map(repr, flat))}"
        )
    if len(flat) > 1 and any(policy.sees == "history" for policy in flat):
        raise PolicyError(
            "a policy that sees the whole history cannot be a stage of a chain, "
            "since it would bring back what the other stages took out"
        )
    return Chain(tuple(flat))
