"""Every policy and preset by name, found in this package's modules; recipes from text.

A new policy is found because its file is here: nothing is listed.
"""

from __future__ import annotations

import inspect
import operator
import pkgutil
import typing
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from functools import reduce
from importlib import import_module
from re import sub

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.amounts import Amount, Messages, Share, Tokens, Turns
from chatmem_lab.policies.bounds import Bounds, bounds_of
from chatmem_lab.policies.chained import chain
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.rules import Preset
from chatmem_lab.policies.structured_summary import StructuredSummary
from chatmem_lab.summarizers import KeyFields, Summarizer, Truncate

__all__ = [
    "Parameter",
    "in_python_only",
    "parameters_of",
    "parse_policy",
    "policies_by_name",
    "presets_by_name",
]

_AMOUNTS: dict[str, type[Messages | Tokens | Turns]] = {
    "messages": Messages,
    "tokens": Tokens,
    "turns": Turns,
}
_TRUE, _FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")


class Parameter(typing.NamedTuple):
    """A parameter of a policy or preset, as a command line or a slider needs it."""

    name: str
    kind: object
    bounds: Bounds | None
    optional: bool
    default: object


def policies_by_name() -> dict[str, type[Policy]]:
    """The policies that can be built from plain values, by their name on a command line.

    >>> sorted(policies_by_name())[:2]
    ['append-segments', 'as-recorded']
    """
    import chatmem_lab.policies as package

    found: dict[str, type[Policy]] = {}
    for module_info in pkgutil.iter_modules(package.__path__):
        if module_info.name == "presets":
            continue
        module = import_module(f"{package.__name__}.{module_info.name}")
        for name, cls in vars(module).items():
            if (
                inspect.isclass(cls)
                and issubclass(cls, Policy)
                and cls.__module__ == module.__name__
                and not name.startswith("_")
                and cls.__dict__.get("exported", True)
            ):
                found[_kebab(name)] = cls
    return found


def in_python_only() -> dict[str, type[Policy]]:
    """The policies that need another policy or a function, by the name of their class.

    >>> sorted(in_python_only())[:2]
    ['Every', 'FirstThatFits']
    """
    import chatmem_lab.policies as package

    listed = (getattr(package, name) for name in package.__all__)
    return {
        cls.__name__: cls
        for cls in listed
        if inspect.isclass(cls)
        and issubclass(cls, Policy)
        and is_dataclass(cls)
        and not cls.__dict__.get("exported", True)
        and cls.__name__ not in ("Chain", "FunctionPolicy")
    }


def presets_by_name() -> dict[str, Callable[..., Preset]]:
    """The presets, by their name on a command line.

    >>> "ai4j-message-window" in presets_by_name()
    True
    """
    from chatmem_lab.policies import presets

    return {
        name.replace("_", "-"): getattr(presets, name)
        for name in presets.__all__
        if inspect.isfunction(getattr(presets, name))
    }


def parameters_of(build: Callable[..., Policy | Preset]) -> list[Parameter]:
    """The parameters of a policy class or a preset, the positional one first.

    >>> [p.name for p in parameters_of(policies_by_name()["token-window"])]
    ['max_tokens', 'start_on_user', 'pin_user', 'low', 'reserve']
    """
    if inspect.isclass(build):
        declared = bounds_of(build)
        by_position = sorted(fields(build), key=lambda field: bool(field.kw_only))  # type: ignore[arg-type]
        return [
            Parameter(
                field.name,
                *declared[field.name],
                None if field.default is MISSING else field.default,
            )
            for field in by_position
        ]
    hints = typing.get_type_hints(build)
    return [
        Parameter(
            p.name,
            _written_kind(hints[p.name]),
            None,
            type(None) in typing.get_args(hints[p.name]),
            None if p.default is p.empty else p.default,
        )
        for p in inspect.signature(build).parameters.values()
    ]


def _written_kind(hint: object) -> object:
    """What is written for a parameter of a preset; None, or a function, cannot be."""
    kinds = typing.get_args(hint)
    if int in kinds:
        return int
    if type(None) in kinds:
        return reduce(operator.or_, (kind for kind in kinds if kind is not type(None)))
    return hint


def parse_policy(recipe: str) -> Policy | Preset:
    """Build a policy from text: ``name:value,key=value``, stages of a chain parted by ``|``.

    Parameters
    ----------
    recipe : str
        Amounts are written ``messages:20``, ``tokens:8000``, ``turns:4`` or ``share:0.8``;
        several names with ``+`` between them.

    Raises
    ------
    PolicyError
        For an unknown policy or parameter, naming those that there are, or a value outside
        its bounds.

    Examples
    --------
    >>> parse_policy("token-window:4000,low=3000")
    TokenWindow(4_000, low=3_000)
    >>> parse_policy("clear-tool-results:3 | token-window:8000")
    ClearToolResults(3) | TokenWindow(8_000)
    """
    stages = [_parse_stage(stage.strip()) for stage in recipe.split("|")]
    if len(stages) == 1:
        return stages[0]
    policies: list[Policy] = []
    for stage in stages:
        if isinstance(stage, Preset):
            raise PolicyError(f"{stage!r} is a preset with rules of its own: it stands alone")
        policies.append(stage)
    return chain(*policies)


def _parse_stage(stage: str) -> Policy | Preset:
    name, _, rest = stage.partition(":")
    known: dict[str, Callable[..., Policy | Preset]] = {**policies_by_name(), **presets_by_name()}
    build = known.get(name.strip().replace("_", "-"))
    if build is None:
        near = get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise PolicyError(f"there is no policy {name!r}.{hint} There are: {', '.join(known)}")
    parameters = parameters_of(build)
    by_name = {parameter.name: parameter for parameter in parameters}
    given: dict[str, object] = {}
    for index, part in enumerate(filter(None, (p.strip() for p in rest.split(",")))):
        key, equals, value = part.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            if index or not parameters:
                raise PolicyError(
                    f"{name}: only the first value goes without a name, not {part!r}"
                )
            key, value = parameters[0].name, part
        if key not in by_name:
            raise PolicyError(
                f"{name} has no parameter {key!r}: there are {', '.join(by_name) or 'none'}"
            )
        given[key] = _value(name, by_name[key], value.strip())
    for parameter in parameters:
        if parameter.kind is Summarizer:
            given.setdefault(parameter.name, _default_summarizer(build))
    try:
        return build(**given)
    except TypeError:
        missing = [p.name for p in parameters if p.name not in given and p.default is None]
        raise PolicyError(
            f"{name} needs a value for {missing[0] if missing else 'a parameter'}: "
            f"write {name}:VALUE"
        ) from None


def _default_summarizer(build: object) -> Summarizer:
    return KeyFields() if build is StructuredSummary else Truncate()


def _value(name: str, parameter: Parameter, text: str) -> object:
    kind = parameter.kind
    if parameter.optional and text.lower() == "none":
        return None
    if kind is bool:
        if text.lower() in _TRUE + _FALSE:
            return text.lower() in _TRUE
        raise PolicyError(f"{name}: {parameter.name} must be true or false, not {text!r}")
    if kind in (int, float):
        try:
            return int(text.replace("_", "")) if kind is int else float(text)
        except ValueError:
            bounds = f", {parameter.bounds.describe()}" if parameter.bounds else ""
            raise PolicyError(
                f"{name}: {parameter.name} must be a number{bounds}, not {text!r}"
            ) from None
    if kind is Summarizer:
        return _summarizer(name, text)
    if typing.get_origin(kind) is tuple:
        return tuple(filter(None, text.split("+")))
    if kind == Amount or kind in _AMOUNTS.values():
        return _amount(name, parameter.name, text)
    return text


def _amount(name: str, parameter: str, text: str) -> Amount:
    what, _, number = text.partition(":")
    try:
        if what == "share":
            return Share(float(number))
        return _AMOUNTS[what](int(number.replace("_", "")))
    except (KeyError, ValueError):
        raise PolicyError(
            f"{name}: {parameter} must be an amount such as messages:20, tokens:8000, "
            f"turns:4 or share:0.8, not {text!r}"
        ) from None


def _summarizer(name: str, text: str) -> Summarizer:
    what, _, number = text.partition(":")
    known: dict[str, Callable[..., Summarizer]] = {"truncate": Truncate, "key-fields": KeyFields}
    if what in known and (not number or number.isdigit()):
        return known[what](int(number)) if number else known[what]()
    raise PolicyError(
        f"{name}: summarizer must be truncate, truncate:CHARACTERS or key-fields, not {text!r}"
    )


def _kebab(name: str) -> str:
    return sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
