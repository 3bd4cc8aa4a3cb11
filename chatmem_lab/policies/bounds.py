"""`Bounds`: what a policy's parameter may be; checks, command line and sliders use it."""

from __future__ import annotations

import operator
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import Any
from weakref import WeakKeyDictionary

from chatmem_lab.errors import PolicyError
from chatmem_lab.html.text import cut

__all__ = ["Bounds", "bounds_of", "check_fields"]

#: No limit is larger: windows are counted in arrays of 64 bits.
_MOST = 2**62
_AT_MOST = f"at most {_MOST:_}"


class Bounds:
    """The least and the most that a number may be; None where there is no end.

    Examples
    --------
    >>> from typing import Annotated
    >>> Annotated[int, Bounds(1)].__metadata__
    (Bounds(1, None),)
    """

    __slots__ = ("least", "most")

    def __init__(self, least: float | None = None, most: float | None = None) -> None:
        self.least = least
        self.most = most

    def __repr__(self) -> str:
        return f"Bounds({self.least}, {self.most})"

    def describe(self) -> str:
        """In words: "at least 1", "from 0 to 1"."""
        if self.least is not None and self.most is not None:
            return f"from {self.least:g} to {self.most:g}"
        if self.least is not None:
            return f"at least {self.least:g}"
        if self.most is not None:
            return f"at most {self.most:g}"
        return "any number"

    def __contains__(self, value: float) -> bool:
        return not (
            (self.least is not None and value < self.least)
            or (self.most is not None and value > self.most)
        )


#: Annotations are read once a class; a class that goes away takes its entry along.
_declared: WeakKeyDictionary[type, dict[str, tuple[type, Bounds | None, bool]]] = (
    WeakKeyDictionary()
)


def bounds_of(cls: type) -> dict[str, tuple[type, Bounds | None, bool]]:
    """The type, the bounds and whether None is legal, for each annotated field of `cls`."""
    if cls in _declared:
        return _declared[cls]
    found: dict[str, tuple[type, Bounds | None, bool]] = {}
    for name, hint in typing.get_type_hints(cls, include_extras=True).items():
        bounds = None
        optional = False
        for _ in range(3):
            if typing.get_origin(hint) is typing.Annotated:
                bounds = next((m for m in hint.__metadata__ if isinstance(m, Bounds)), bounds)
                hint = typing.get_args(hint)[0]
            elif typing.get_origin(hint) in (typing.Union, types.UnionType):
                members = [a for a in typing.get_args(hint) if a is not type(None)]
                optional = optional or len(members) < len(typing.get_args(hint))
                if len(members) != 1:
                    break
                hint = members[0]
        found[name] = (hint, bounds, optional)
    _declared[cls] = found
    return found


def check_fields(value: Any) -> None:
    """Check and normalise the fields of a frozen dataclass against their annotations.

    Raises
    ------
    PolicyError
        Naming the class, the field, what it may be and what was given.
    """
    cls = type(value)
    declared = bounds_of(cls)
    for field in fields(value):
        hint, bounds, optional = declared[field.name]
        given = getattr(value, field.name)
        if given is None and optional:
            continue
        checked = given
        if hint is bool:
            if not isinstance(given, bool):
                raise PolicyError(_wanted(cls, field.name, "True or False", given))
        elif hint is int:
            checked = _integer(cls, field.name, given, bounds)
        elif hint is float:
            if isinstance(given, bool) or not isinstance(given, int | float) or given != given:
                raise PolicyError(_wanted(cls, field.name, _number(bounds), given))
            if isinstance(given, int) and abs(given) > _MOST:
                raise PolicyError(_wanted(cls, field.name, _AT_MOST, given))
            checked = float(given)
        elif typing.get_origin(hint) is tuple:
            checked = _strings(cls, field.name, given)
        elif hint is str and not isinstance(given, str):
            raise PolicyError(_wanted(cls, field.name, "a str", given))
        elif _is_plain_class(hint) and not isinstance(given, hint):
            made = f"{hint.__name__}(…)" if is_dataclass(hint) else f"of type {hint.__name__}"
            raise PolicyError(_wanted(cls, field.name, made, given))
        if bounds is not None and checked not in bounds:
            raise PolicyError(_wanted(cls, field.name, bounds.describe(), given))
        if checked is not given:
            object.__setattr__(value, field.name, checked)


def _integer(cls: type, name: str, given: object, bounds: Bounds | None) -> int:
    if isinstance(given, bool):
        raise PolicyError(_wanted(cls, name, _number(bounds, whole=True), given))
    try:
        number = operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        raise PolicyError(_wanted(cls, name, _number(bounds, whole=True), given)) from None
    if number > _MOST:
        raise PolicyError(_wanted(cls, name, _AT_MOST, given))
    return number


#: Checked in another way, or not at all.
_NOT_BY_CLASS: tuple[object, ...] = (Any, Callable, bool, int, float, complex, str)


def _is_plain_class(hint: object) -> bool:
    """Whether `isinstance` tells something about a value annotated with `hint`."""
    return (
        isinstance(hint, type)
        and hint not in _NOT_BY_CLASS
        and not getattr(hint, "_is_protocol", False)
        and not typing.is_typeddict(hint)
    )


def _strings(cls: type, name: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Iterable):
        strings = tuple(given)
        if all(isinstance(s, str) for s in strings):
            return strings
    raise PolicyError(_wanted(cls, name, "names", given))


def _number(bounds: Bounds | None, *, whole: bool = False) -> str:
    noun = "a whole number" if whole else "a number"
    return f"{noun}, {bounds.describe()}" if bounds is not None else noun


def _wanted(cls: type, name: str, wanted: str, given: object) -> str:
    return f"{cls.__name__}: {name} must be {wanted}, not {_shown(given)}"


def _shown(given: object) -> str:
    try:
        return cut(repr(given), 80)
    except ValueError:  # Python writes no int of more than 4,300 digits
        return "a number of thousands of digits"
