"""`Rules`: what happens when a message is added. `Preset`: a policy with its rules."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, NoReturn

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.policy import Policy, recipe

__all__ = ["OWN_RULES", "Preset", "Rules", "split_preset"]

_CHOICES = {
    "blank": ("error", "ignore", "keep"),
    "orphan": ("error", "keep"),
    "equal_system": ("ignore", "keep"),
    "new_system": ("front", "append", "append_front", "keep"),
}


@dataclass(frozen=True, repr=False)
class Rules:
    """What happens when a message is added to a memory.

    Parameters
    ----------
    blank : {"error", "ignore", "keep"}
        A message that says nothing. In a replay "error" keeps it and counts a fault.
    orphan : {"error", "keep"}
        A tool result that answers no open call. In a replay "error" keeps it as a fault.
    equal_system : {"ignore", "keep"}
        A system message with the same text as the first one in the window.
    new_system : {"front", "append", "append_front", "keep"}
        A system message while there is one. "front": it takes that one's place, in front.
        "append": the first one leaves, the new one goes to the end. "append_front": the
        same, but it goes to the front, the very first too. "keep": both stay.

    Examples
    --------
    >>> Rules(blank="ignore")
    Rules(blank='ignore')
    """

    _: KW_ONLY
    blank: Literal["error", "ignore", "keep"] = "error"
    orphan: Literal["error", "keep"] = "error"
    equal_system: Literal["ignore", "keep"] = "ignore"
    new_system: Literal["front", "append", "append_front", "keep"] = "front"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            given = getattr(self, name)
            if given not in choices:
                raise PolicyError(
                    f"Rules: {name} must be one of {', '.join(choices)}, not {given!r}"
                )

    def __repr__(self) -> str:
        return recipe(self)


#: What a policy without rules of its own goes by.
OWN_RULES = Rules()


@dataclass(frozen=True, repr=False)
class Preset:
    """A policy with the rules of the system that it comes from.

    A preset goes wherever a policy goes: memory, replay, compare, command line.

    Examples
    --------
    >>> from chatmem_lab.policies import KeepAll
    >>> Preset(KeepAll(), Rules(new_system="keep"))
    Preset(KeepAll(), Rules(new_system='keep'))
    """

    policy: Policy
    rules: Rules = OWN_RULES
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy):
            raise PolicyError(f"Preset: policy must be a policy, not {self.policy!r}")
        if not isinstance(self.rules, Rules):
            raise PolicyError(f"Preset: rules must be Rules, not {self.rules!r}")
        if not isinstance(self.name, str):
            raise PolicyError(f"Preset: name must be a str, not {self.name!r}")

    def __or__(self, other: object) -> NoReturn:
        raise PolicyError(
            f"a preset stands alone, since it brings rules of its own: {self!r} cannot be a "
            "stage of a chain"
        )

    __ror__ = __or__

    def __repr__(self) -> str:
        return self.name or f"Preset({self.policy!r}, {self.rules!r})"


def split_preset(policy: Policy | Preset) -> tuple[Policy, Rules]:
    """The policy and the rules of either.

    Raises
    ------
    PolicyError
        If `policy` is neither; a plain function is told how to become one.
    """
    if isinstance(policy, Preset):
        return policy.policy, policy.rules
    if isinstance(policy, Policy):
        return policy, OWN_RULES
    how = ": wrap it with policy_from(function)" if callable(policy) else ""
    if isinstance(policy, type):
        how = f": call it, {policy.__name__}(…)"
    if isinstance(policy, str):
        how = ": chatmem_lab.policies.registry.parse_policy makes one of such text"
    raise PolicyError(f"a policy is wanted here, not {policy!r}{how}")
