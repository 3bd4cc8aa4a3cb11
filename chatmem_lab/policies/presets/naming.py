"""A preset's name is the call that builds it again."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.rules import Preset, Rules

__all__ = ["named_preset"]


def named_preset(
    build: Callable[..., Preset], policy: Policy, rules: Rules, **given: Any
) -> Preset:
    """The preset that ``build(**given)`` is: policy and rules, and that call as its name.

    A first parameter without name, the others by name; defaults are left out.
    """
    parts: list[str] = []
    for index, parameter in enumerate(signature(build).parameters.values()):
        value = given[parameter.name]
        is_first = index == 0 and parameter.kind is not Parameter.KEYWORD_ONLY
        if (is_first and value != "") or value != parameter.default:
            shown = f"{value:_}" if type(value) is int else repr(value)
            parts.append(shown if is_first else f"{parameter.name}={shown}")
    return Preset(policy, rules, name=f"{build.__name__}({', '.join(parts)})")
