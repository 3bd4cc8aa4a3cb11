"""The one rule for text at the door: halves of surrogate pairs become U+FFFD."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["normalised", "normalised_json"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def normalised(text: str) -> str:
    r"""`text` with lone surrogates replaced by U+FFFD, and pairs of them joined.

    >>> normalised("a\ud800b") == "a\ufffdb"
    True
    """
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def normalised_json(value: Any) -> Any:
    r"""The same for every string of a JSON value, keys too.

    >>> normalised_json({"a": ["\ud800"]}) == {"a": ["\ufffd"]}
    True
    """
    if isinstance(value, str):
        return normalised(value)
    if isinstance(value, dict):
        whole = {normalised(str(key)): normalised_json(child) for key, child in value.items()}
        if len(whole) < len(value):
            raise ValueError(f"two keys of {sorted(whole)!r:.80} are one without surrogates")
        return whole
    if isinstance(value, list | tuple):
        return [normalised_json(child) for child in value]
    return value
