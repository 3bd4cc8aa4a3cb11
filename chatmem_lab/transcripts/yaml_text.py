"""YAML that holds what JSON could hold, and nothing else."""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from chatmem_lab.transcripts.json_text import BrokenJson

__all__ = ["decode_yaml", "looks_like_yaml"]

#: A few lines of YAML with aliases of aliases can stand for more values than memory holds.
MOST_VALUES = 1_000_000

_KEY = re.compile(rb"^history:[ \t]*\r?$", re.MULTILINE)


def looks_like_yaml(data: bytes) -> bool:
    r"""Whether a line is the key that YAML transcripts have.

    >>> looks_like_yaml(b"history:\n  - role: user\n")
    True
    """
    return _KEY.search(data) is not None


def decode_yaml(data: bytes) -> Any:
    """The value of YAML text as JSON would hold it; `BrokenJson` for anything else."""
    try:
        text = data.decode("utf-8")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        value = yaml.load(text, Loader=loader)
        return _plain(value, [MOST_VALUES])
    except yaml.YAMLError as wrong:
        mark = getattr(wrong, "problem_mark", None)
        what = getattr(wrong, "problem", None) or str(wrong)
        raise BrokenJson(f"is no YAML: {what}", line=mark.line + 1 if mark else 1) from None
    except RecursionError:
        raise BrokenJson("is nested too deeply to be read") from None
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as wrong:
        if isinstance(wrong, BrokenJson):
            raise
        raise BrokenJson(f"is no YAML: {wrong}") from None


def _plain(value: Any, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        raise BrokenJson(f"stands for more than {MOST_VALUES:,} values: aliases of aliases")
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise BrokenJson(f"holds {value}, which is no number that JSON can hold")
    if isinstance(value, dict):
        return {str(name): _plain(inner, left) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, left) for inner in value]
    # A date without quotes is text in these files.
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise BrokenJson(f"holds a {type(value).__name__}, which JSON has not")
