"""`Rules`: what happens when a message is added. `Preset`: a policy with its rules."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, NoReturn, get_args, get_type_hints

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.policy import Policy, recipe

__all__ = ["OWN_RULES", "Preset", "Rules", "split_preset"]


@dataclass(frozen=True, repr=False)
class Rules:
    """What happens when a message is added to a memory, and what a read shows.

    Rules go with a policy: ``ChatMemory(Preset(policy, rules), id=…)``.

    Parameters
    ----------
    blank : {"error", "ignore", "keep"}
        A message that says nothing. In a replay "error" keeps it and counts a fault.
    orphan : {"error", "keep"}
        A tool result that answers no open call. In a replay "error" keeps it as a fault.
    duplicate_call : {"keep", "error"}
        An assistant message that makes two calls with the same id. Kept, their results are
        matched in order. The same id in a later message is never a duplicate.
    equal_system : {"ignore", "keep"}
        A system message with the same text as the first one in the window.
    new_system : {"front", "append", "append_front", "replace_all", "keep"}
        A system message while there is one. "front": it takes that one's place, in front.
        "append": the first one leaves, the new one goes to the end. "append_front": the
        same, but it goes to the front, the very first too. "replace_all": one that is not
        there yet removes all others and goes to the end. "keep": all stay.
    oversize : {"keep", "error", "evict"}
        A message that alone, with what every request costs, exceeds the policy's budget.
        "keep": it stays if the policy lets it, and the window is marked. "error": a live
        memory refuses it with a `BudgetError`; a replay keeps it. "evict": the history has
        it, the window does not. A call or its result is never parted by that: it stays.
    batch : {"each", "once"}
        Whether `add_all` asks the policy after each message or once, at the end.
    set_as : {"added", "given"}
        Whether the messages of `set` enter as if they were added one by one, or as they are
        given: system messages where they stand, the policy asked once, at the end.
    read : {"window", "policy"}
        Whether a read shows the window, or what the policy would leave of it now: the two
        differ where a limit has changed since the last message.
    first_request : {"window", "untrimmed"}
        What the request right after a user message holds: the window that the policy left,
        or the one before with that message behind it, which is trimmed only afterwards.

    Examples
    --------
    >>> Rules(blank="ignore")
    Rules(blank='ignore')
    """

    _: KW_ONLY
    blank: Literal["error", "ignore", "keep"] = "error"
    orphan: Literal["error", "keep"] = "error"
    duplicate_call: Literal["keep", "error"] = "keep"
    equal_system: Literal["ignore", "keep"] = "ignore"
    new_system: Literal["front", "append", "append_front", "replace_all", "keep"] = "front"
    oversize: Literal["keep", "error", "evict"] = "keep"
    batch: Literal["each", "once"] = "each"
    set_as: Literal["added", "given"] = "added"
    read: Literal["window", "policy"] = "window"
    first_request: Literal["window", "untrimmed"] = "window"

    def __post_init__(self) -> None:
        for name, choices in get_type_hints(type(self)).items():
            given = getattr(self, name, None)
            if name != "_" and given not in get_args(choices):
                raise PolicyError(
                    f"Rules: {name} must be one of {', '.join(get_args(choices))}, not {given!r}"
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
            "stage of a chain. Give its rules to a chain of your own: Preset(a | b, rules)"
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
    if isinstance(policy, Rules):
        how = ": rules go with a policy, Preset(policy, rules)"
    if getattr(policy, "__module__", "").startswith(f"{__package__}.presets"):
        how = f": call it, {getattr(policy, '__name__', '')}(…)"
    if isinstance(policy, type):
        how = f": call it, {policy.__name__}(…)"
    if isinstance(policy, str):
        how = ": chatmem_lab.policies.registry.parse_policy makes one of such text"
    raise PolicyError(f"a policy is wanted here, not {policy!r}{how}")
