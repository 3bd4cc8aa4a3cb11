"""Recorded usage, as providers spell it → `Usage`."""

from __future__ import annotations

from typing import Any

from chatmem_lab.messages import Usage
from chatmem_lab.transcripts.fields import WrongField, describe, of_type

__all__ = ["usage_of"]

_INPUT = ("prompt_tokens", "input_tokens")
_OUTPUT = ("completion_tokens", "output_tokens")
_INPUT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_OUTPUT_DETAILS = ("completion_tokens_details", "output_tokens_details")


def usage_of(recorded: Any) -> tuple[Usage, dict[str, Any]]:
    """Usage, and what it does not model.

    Anthropic counts cached tokens beside its ``input_tokens``, OpenAI inside ``prompt_tokens``;
    here they are inside. Gateways that answer for both name them OpenAI's way and count so.

    >>> usage, rest = usage_of({"input_tokens": 4, "cache_read_input_tokens": 16, "tier": "x"})
    >>> usage.input_tokens, usage.cached_tokens, rest
    (20, 16, {'tier': 'x'})
    """
    rest = dict(of_type(recorded, dict, "usage"))
    beside = rest.get("prompt_tokens") is None
    input_tokens = _first(rest, _INPUT)
    output_tokens = _first(rest, _OUTPUT)
    cached, written = _inner(rest, _INPUT_DETAILS, "cached_tokens", "cache_write_tokens")
    (reasoning,) = _inner(rest, _OUTPUT_DETAILS, "reasoning_tokens")
    read = _pop(rest, "cache_read_input_tokens")
    created = _pop(rest, "cache_creation_input_tokens")
    if beside and (read is not None or created is not None):
        input_tokens = (input_tokens or 0) + (read or 0) + (created or 0)
    cached = read if cached is None else cached
    written = created if written is None else written
    total = rest.get("total_tokens")
    if total is None or total == (input_tokens or 0) + (output_tokens or 0):
        rest.pop("total_tokens", None)
    return Usage(input_tokens, output_tokens, cached, written, reasoning), rest


def _first(rest: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = _pop(rest, name) if name in rest else None
        if value is not None:
            return value
    return None


def _pop(rest: dict[str, Any], name: str, path: str = "usage") -> int | None:
    value = rest.pop(name, None)
    if value is None:
        return None
    if type(value) is int and 0 <= value < 1 << 63:
        return value
    what = describe(value) if type(value) not in (int, float) else str(value)[:20]
    raise WrongField(f"{path}.{name}", f"a whole number was expected, not {what}")


def _inner(rest: dict[str, Any], outers: tuple[str, ...], *names: str) -> list[int | None]:
    for outer in outers:
        if rest.get(outer) is None:
            rest.pop(outer, None)
            continue
        details = dict(of_type(rest.pop(outer), dict, f"usage.{outer}"))
        found = [_pop(details, name, f"usage.{outer}") for name in names]
        left = {key: value for key, value in details.items() if value}
        if left:
            rest[outer] = left
        return found
    return [None] * len(names)
