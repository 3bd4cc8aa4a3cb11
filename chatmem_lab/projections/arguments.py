"""The arguments of a tool call: the raw text, and the object that it should be."""

from __future__ import annotations

import json
import math
from typing import Any

from chatmem_lab.messages.surrogates import normalised

__all__ = ["arguments_object"]


def arguments_object(arguments: str) -> dict[str, Any] | None:
    r"""The object that the arguments are, `""` being an empty one; None if they are none.

    >>> arguments_object('{"isbn": "0262510871"}'), arguments_object(""), arguments_object('{"pa')
    ({'isbn': '0262510871'}, {}, None)

    What JSON cannot hold is no object either; an escaped lone surrogate becomes U+FFFD.

    >>> arguments_object('{"n": NaN}'), arguments_object('{"n": 1e999}')
    (None, None)
    """
    if not arguments:
        return {}
    try:
        value = _parsed(arguments)
        if "\\ud" in arguments.lower():
            value = _parsed(normalised(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _parsed(text: str) -> Any:
    return json.loads(text, parse_float=_finite, parse_constant=_finite)


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is no number that JSON can hold")
    return value
