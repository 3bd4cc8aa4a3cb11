"""JSON as it comes: decoding with errors that say where, and what can be read all the same."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import msgspec

__all__ = ["BrokenJson", "decode", "explain", "mend_surrogates", "split_values"]

_decoder = msgspec.json.Decoder()

#: Half of a surrogate pair, escaped, whose other half is not there.
_LONE = re.compile(
    rb"(?<!\\)((?:\\\\)*)"
    rb"(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class BrokenJson(ValueError):
    """Text that is no JSON: `reason`, `line` in the text, and whether the end is missing."""

    def __init__(self, reason: str, *, line: int = 1, torn: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.torn = torn


class _Strange:
    """A number that JSON does not have, in the place where it stands."""

    def __init__(self, text: str) -> None:
        self.text = text


def decode(data: bytes) -> Any:
    """The JSON value of `data`, or `BrokenJson` that says what is wrong and where."""
    try:
        return _decoder.decode(data)
    except (ValueError, RecursionError) as error:
        raise explain(data, error) from None


def mend_surrogates(data: bytes) -> bytes:
    r"""Escaped halves of surrogate pairs become U+FFFD; whole pairs stay.

    >>> mend_surrogates(rb'"\ud83d\ude00 \ud83d"').decode()
    '"\\ud83d\\ude00 \\ufffd"'
    """
    if rb"\ud" not in data and rb"\uD" not in data:
        return data
    return _LONE.sub(lambda m: m[1] + (m[2] or rb"\ufffd"), data)


def split_values(data: bytes) -> list[bytes] | None:
    """Several JSON values that stand on one line, apart; None if it is not that.

    >>> split_values(b'{"a": 1}{"b": 2}')
    [b'{"a": 1}', b'{"b": 2}']
    """
    try:
        text = data.decode("utf-8")
        scanner = json.JSONDecoder()
        pieces: list[bytes] = []
        position = 0
        while True:
            while position < len(text) and text[position] in " \t\r\n":
                position += 1
            if position == len(text):
                break
            # Only records are told apart: `1 2` or `NaN` after a record is damage.
            if text[position] not in "{[":
                return None
            _, end = scanner.raw_decode(text, position)
            pieces.append(text[position:end].encode("utf-8"))
            position = end
    except (ValueError, RecursionError):
        return None
    return pieces if len(pieces) > 1 else None


def explain(data: bytes, error: Exception) -> BrokenJson:
    """What is wrong with JSON that could not be decoded."""
    torn = str(error) == "Input data was truncated"
    if isinstance(error, RecursionError):
        return BrokenJson("is nested too deeply to be read")
    try:
        text = data.decode("utf-8").rstrip()
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        what = f"byte {data[wrong.start : wrong.start + 1].hex()} is not UTF-8"
        return BrokenJson(f"{what} ({wrong.reason})", line=line, torn=torn)
    try:
        value = json.loads(
            text, parse_constant=_Strange, parse_float=_float, parse_int=_int, strict=True
        )
        found = _find_strange(value)
    except json.JSONDecodeError as wrong:
        said = wrong.msg[:1].lower() + wrong.msg[1:].removesuffix(" at")
        what = f"is no JSON: {said} at column {wrong.colno}"
        return BrokenJson(what, line=wrong.lineno, torn=torn)
    except RecursionError:
        return BrokenJson("is nested too deeply to be read")
    except ValueError as wrong:
        return BrokenJson(f"is no JSON: {wrong}", torn=torn)
    if found is None:
        return BrokenJson(f"is no JSON: {error}", torn=torn)
    path, strange = found
    shown = strange.text if len(strange.text) < 20 else f"{strange.text[:12]}…"
    where = f"{path} is {shown}" if path else f"is {shown}"
    return BrokenJson(f"{where}, which is no number that JSON can hold")


def _float(text: str) -> Any:
    return _Strange(text) if math.isinf(float(text)) else 0.0


def _int(text: str) -> Any:
    try:
        msgspec.json.decode(text)
    except ValueError:
        return _Strange(text)
    return 0


def _find_strange(value: Any, path: str = "") -> tuple[str, _Strange] | None:
    if isinstance(value, _Strange):
        return path, value
    if isinstance(value, dict):
        for name, inner in value.items():
            found = _find_strange(inner, f"{path}.{name}" if path else name)
            if found:
                return found
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            found = _find_strange(inner, f"{path}[{i}]")
            if found:
                return found
    return None
