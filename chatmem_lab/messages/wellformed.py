"""What a message must hold to be one, however it was built; and changing all its texts."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Any, get_args

import msgspec

from chatmem_lab.errors import MessageError
from chatmem_lab.html.text import cut
from chatmem_lab.messages.message import Message, Role
from chatmem_lab.messages.parts import Part, SummaryOf, ToolCall, Usage

__all__ = ["check_kept", "check_message", "find_not_finite", "with_texts"]

#: Metadata that is nested deeper is refused: what reads JSON has such an end, too.
_DEEPEST = 100

_ROLES: tuple[str, ...] = get_args(Role)
_PARTS: tuple[type, ...] = get_args(Part)
_TEXTS = ("tool_call_id", "name", "id", "model", "finish_reason")
_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "parts": (tuple, "a tuple of parts"),
    "tool_calls": (tuple, "a tuple of ToolCall"),
    "is_error": (bool, "True or False"),
    "generated": (bool, "True or False"),
    "summary": ((SummaryOf, type(None)), "a SummaryOf or None"),
    "usage": ((Usage, type(None)), "a Usage or None"),
    "created_at": ((datetime, type(None)), "a datetime or None"),
    "metadata": ((dict, type(None)), "a dict or None"),
    "extra": ((dict, type(None)), "a dict or None"),
    **{name: ((str, type(None)), "a str or None") for name in _TEXTS},
}


def check_message(message: Message) -> None:
    """Refuse what is no message: wrong types, an unknown role, numbers that JSON lacks.

    Structs do not check what they are built from; files are checked when they are read.

    Raises
    ------
    MessageError
        With the path to what is wrong.

    Examples
    --------
    >>> check_message(Message("user", tool_calls=(ToolCall("c1", "f"),)))
    Traceback (most recent call last):
    ...
    chatmem_lab.errors.MessageError: only an assistant message makes tool calls, not a user message
    """
    if message.role not in _ROLES:
        raise MessageError(f"role must be one of {', '.join(_ROLES)}, not {_shown(message.role)}")
    for name, (kind, wanted) in _TYPES.items():
        given = getattr(message, name)
        if not isinstance(given, kind):
            raise MessageError(f"{name} must be {wanted}, not {_shown(given)}")
    for index, part in enumerate(message.parts):
        if not isinstance(part, _PARTS):
            raise MessageError(
                f"parts[{index}] must be a part such as Text or Image, not {_shown(part)}"
            )
        _check_texts(part, f"parts[{index}]")
    if message.tool_calls and message.role != "assistant":
        raise MessageError(
            f"only an assistant message makes tool calls, not a {message.role} message"
        )
    for index, call in enumerate(message.tool_calls):
        if not isinstance(call, ToolCall):
            raise MessageError(f"tool_calls[{index}] must be a ToolCall, not {_shown(call)}")
        _check_texts(call, f"tool_calls[{index}]")
    if message.summary is not None:
        _check_summary(message.summary)
    if message.usage is not None:
        for name in message.usage.__struct_fields__:
            _check_number(getattr(message.usage, name), f"usage.{name}", optional=True)
    for name in ("metadata", "extra"):
        path = find_not_finite(getattr(message, name), name)
        if path:
            raise MessageError(f"{path} is no number that JSON can hold: use None or text")


def check_kept(message: Message) -> None:
    """Refuse metadata and extra that would not come back from JSON as they are.

    Raises
    ------
    MessageError
        With the path to what cannot be kept.

    Examples
    --------
    >>> check_kept(Message("user", metadata={"tags": {"a", "b"}}))
    Traceback (most recent call last):
    ...
    chatmem_lab.errors.MessageError: metadata.tags is a set: only None, True and False, numbers, \
text, lists and dicts with text as keys can be kept
    """
    for name in ("metadata", "extra"):
        found = _find_unkept(getattr(message, name), name)
        if found:
            raise MessageError(
                f"{found}: only None, True and False, numbers, text, lists and dicts with text "
                "as keys can be kept"
            )


def _find_unkept(value: object, path: str) -> str | None:
    remaining: list[tuple[object, str, int]] = [(value, path, 0)]
    while remaining:
        value, path, depth = remaining.pop()
        if depth > _DEEPEST:
            return f"{cut(path, 80)} is nested more than {_DEEPEST} deep, or holds itself"
        if value is None or type(value) in (bool, float, str):
            continue
        if type(value) is int and -(2**63) <= value < 2**64:
            continue
        if type(value) is list:
            remaining += [(child, f"{path}[{i}]", depth + 1) for i, child in enumerate(value)]
            continue
        if type(value) is not dict:
            what = "a number of more than 64 bits" if type(value) is int else type(value).__name__
            return f"{path} is {_with_article(what)}"
        for key, child in value.items():
            if type(key) is not str:
                return f"{path} has the key {_shown(key)}"
            remaining.append((child, f"{path}.{key}", depth + 1))
    return None


def _with_article(what: str) -> str:
    if " " in what:
        return what
    return f"{'an' if what[:1].lower() in 'aeiou' else 'a'} {what}"


def _check_summary(summary: SummaryOf) -> None:
    _check_number(summary.generation, "summary.generation")
    if not isinstance(summary.by, str):
        raise MessageError(f"summary.by must be a str, not {_shown(summary.by)}")
    if not isinstance(summary.ranges, tuple):
        raise MessageError(
            f"summary.ranges must be a tuple of pairs, not {_shown(summary.ranges)}"
        )
    for index, pair in enumerate(summary.ranges):
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise MessageError(f"summary.ranges[{index}] must be a pair, not {_shown(pair)}")
        for number in pair:
            _check_number(number, f"summary.ranges[{index}]")


def _check_number(value: object, path: str, *, optional: bool = False) -> None:
    if value is None and optional:
        return
    if type(value) is not int or not 0 <= value < 2**53:
        raise MessageError(f"{path} must be a whole number from 0, not {_shown(value)}")


def with_texts(message: Message, change: Callable[[str], str]) -> Message:
    """`message` with every text of it changed: parts, calls, ids, names; not metadata or extra.

    Where `change` gives back the same objects, so does this.

    >>> with_texts(Message("user", name="ada"), str.upper).name
    'ADA'
    """
    changed: dict[str, Any] = {}
    for name in ("parts", "tool_calls"):
        before = getattr(message, name)
        after = tuple(_changed(value, change) for value in before)
        if any(new is not old for new, old in zip(after, before)):
            changed[name] = after
    for name in _TEXTS:
        text = getattr(message, name)
        if text is not None and (new := change(text)) is not text:
            changed[name] = new
    return msgspec.structs.replace(message, **changed) if changed else message


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    changed: dict[str, str] = {}
    for name in value.__struct_fields__:
        text = getattr(value, name)
        if text is not None and (new := change(text)) is not text:
            changed[name] = new
    return msgspec.structs.replace(value, **changed) if changed else value


@cache
def _optional_texts(kind: type) -> frozenset[str]:
    return frozenset(field.name for field in msgspec.structs.fields(kind) if field.default is None)


def _check_texts(value: Any, path: str) -> None:
    """Parts and tool calls hold nothing but texts."""
    optional = _optional_texts(value.__class__)
    for name in value.__struct_fields__:
        given = getattr(value, name)
        if isinstance(given, str) or (given is None and name in optional):
            continue
        wanted = "the raw JSON text, a str" if name == "arguments" else "a str"
        raise MessageError(f"{path}.{name} must be {wanted}, not {_shown(given)}")


def find_not_finite(value: object, path: str) -> str | None:
    """The first NaN or infinity, as ``path = value``; what holds itself is looked at once."""
    seen: set[int] = set()
    remaining: list[tuple[object, str]] = [(value, path)]
    while remaining:
        value, path = remaining.pop()
        if isinstance(value, float) and not math.isfinite(value):
            return f"{path} = {value}"
        if not isinstance(value, dict | list | tuple) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            children = [(child, f"{path}.{key}") for key, child in value.items()]
        else:
            children = [(child, f"{path}[{index}]") for index, child in enumerate(value)]
        remaining.extend(reversed(children))
    return None


def _shown(given: object) -> str:
    return cut(repr(given), 80)
