"""`Wrapped`: what policies around another policy have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Message
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.rules import Preset
from chatmem_lab.window import Revision, Window

__all__ = ["Wrapped", "check_inner"]


class Wrapped(Policy):
    """A policy around another one, `policy`: all but what it changes is the other's."""

    exported = False
    policy: Policy

    @property
    def contract(self) -> Any:  # type: ignore[override]
        return self.policy.contract

    @property
    def segments(self) -> Any:  # type: ignore[override]
        return self.policy.segments

    @property
    def asks(self) -> Any:  # type: ignore[override]
        return self.policy.asks

    @property
    def sees(self) -> Any:  # type: ignore[override]
        return self.policy.sees

    @property
    def asked_while_open(self) -> Any:  # type: ignore[override]
        return self.policy.asked_while_open

    @property
    def budget(self) -> int | None:
        return self.policy.budget

    @property
    def pins_user(self) -> bool:
        return self.policy.pins_user

    @property
    def pins(self) -> Callable[[Message], bool] | None:
        return self.policy.pins

    def excess(self, window: Window) -> str | None:
        return self.policy.excess(window)

    def revise(self, window: Window) -> Revision:
        return self.policy.revise(window)


def check_inner(name: str, policy: object) -> None:
    """Refuse what is no policy inside the combinator `name`.

    Raises
    ------
    PolicyError
    """
    if isinstance(policy, Preset):
        raise PolicyError(
            f"{name}: a preset stands alone, since it brings rules of its own: not {policy!r}. "
            f"Give its rules to the whole: Preset({name}(…), rules)"
        )
    if not isinstance(policy, Policy):
        raise PolicyError(
            f"{name} is built around a policy, not {policy!r}: wrap a plain function with "
            "policy_from(function)"
        )
