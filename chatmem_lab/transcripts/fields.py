"""Fields of decoded JSON, with the path to the one that is wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

__all__ = ["WrongField", "describe", "of_type", "optional_time"]

_NAMES = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


class WrongField(Exception):
    """A field that does not hold what its format says; `path` leads to it."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(path, what)
        self.path = path
        self.what = what

    def under(self, prefix: str) -> WrongField:
        """The same, seen from further out."""
        joint = "" if not self.path or not prefix or self.path.startswith("[") else "."
        return WrongField(f"{prefix}{joint}{self.path}", self.what)

    def __str__(self) -> str:
        return f"{self.path}: {self.what}" if self.path else self.what


def describe(value: Any) -> str:
    """What a JSON value is, in words.

    >>> describe(None), describe([1]), describe(3)
    ('null', 'a list', 'a number')
    """
    return _NAMES.get(type(value), type(value).__name__)


def of_type(value: Any, kind: type, path: str) -> Any:
    """`value` if it is of that type, else `WrongField`."""
    if type(value) is not kind:
        raise WrongField(path, f"{_NAMES[kind]} was expected, not {describe(value)}")
    return value


def optional_time(value: Any) -> datetime | None:
    """A time from ISO text or seconds since 1970; None if it is neither.

    >>> optional_time(0), optional_time("2026-03-10T10:14:08Z").hour, optional_time("noon")
    (datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), 10, None)
    """
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
