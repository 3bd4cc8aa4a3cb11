"""A summary that is a list of fields: read from what a model wrote, written in one form."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

__all__ = ["FieldsMissing", "field_list", "read_fields"]

_MARKS = re.compile(r"^[\s#*\-\d.)]*")


class FieldsMissing(ValueError):
    """A summary that has none of its fields."""


def field_list(answer: str, previous: str | None, fields: Sequence[str]) -> str:
    r"""`answer` in the one form: a line for each field, and ``- `` lines for its items.

    A field of which `answer` says nothing keeps what `previous` says of it.

    Raises
    ------
    FieldsMissing
        If `answer` has none of `fields`.

    Examples
    --------
    >>> print(field_list('{"goal": "book a room", "done": ["asked", "paid"]}',
    ...                  "goal: a room\nfiles: plan.md", ("goal", "done", "files")))
    goal: book a room
    done:
    - asked
    - paid
    files: plan.md
    """
    found = read_fields(answer, fields)
    if not found:
        raise FieldsMissing(f"it has none of the fields {', '.join(fields)}")
    values = {**read_fields(previous or "", fields), **found}
    return "\n".join(_written(name, values[name]) for name in fields if values.get(name))


def read_fields(text: str, fields: Sequence[str]) -> dict[str, list[str]]:
    """The items of each field that `text` has: a JSON object, or ``Field: …`` and headings."""
    known = {_plain(name): name for name in fields}
    try:
        value = json.loads(_without_fence(text))
    except (ValueError, RecursionError):
        return _from_lines(text, known)
    if not isinstance(value, dict):
        return {}
    return {
        known[_plain(key)]: _items(given) for key, given in value.items() if _plain(key) in known
    }


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def _without_fence(text: str) -> str:
    match = re.fullmatch(r"\s*```\w*\n(.*)\n```\s*", text, re.DOTALL)
    return match[1] if match else text


def _items(given: object) -> list[str]:
    if isinstance(given, list):
        return [text for item in given for text in _items(item)]
    if given is None:
        return []
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return [" ".join(text.split())] if text.strip() else []


def _from_lines(text: str, known: dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        head, colon, rest = line.partition(":")
        is_heading = line.lstrip().startswith("#")
        name = known.get(_plain(_MARKS.sub("", line if is_heading and not colon else head)))
        if name is not None and (colon or is_heading):
            current = found.setdefault(name, [])
            line = rest
        elif is_heading:
            current = None
        item = _MARKS.sub("", line).strip(" *_")
        if current is not None and item:
            current.append(item)
    return found


def _written(name: str, items: Sequence[str]) -> str:
    if len(items) == 1:
        return f"{name}: {items[0]}"
    return "\n".join([f"{name}:", *(f"- {item}" for item in items)])
