"""What a function's docstring says of it and of its parameters: numpy's and Google's ways."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["description_of", "parameter_descriptions"]

_SECTION = re.compile(
    r"^(?:\w[\w ]*\n-{3,}[ ]*$|(?:Args|Arguments|Parameters|Returns|Raises):[ ]*$)", re.M
)
_PARAMETERS = re.compile(
    r"^(?:(?:Other )?Parameters\n-{3,}|(?:Args|Arguments|Parameters):)[ ]*$", re.M
)
_NUMPY_NAMES = re.compile(r"^([*\w]+(?:, [*\w]+)*)(?: ?:.*)?$")
_GOOGLE_NAME = re.compile(r"^([*\w]+)(?: \([^)]*\))?:\s*(.*)$")


def description_of(function: Callable[..., Any]) -> str:
    """The docstring up to its first section.

    >>> def lookup(isbn):
    ...     '''Find a book.
    ...
    ...     Parameters
    ...     ----------
    ...     isbn : str
    ...         Ten or thirteen digits.
    ...     '''
    >>> description_of(lookup)
    'Find a book.'
    """
    return _SECTION.split(_text(function), maxsplit=1)[0].strip()


def parameter_descriptions(function: Callable[..., Any]) -> dict[str, str]:
    """What the docstring says of each parameter that it names.

    >>> def lookup(isbn):
    ...     '''Find a book.
    ...
    ...     Args:
    ...         isbn: Ten or
    ...             thirteen digits.
    ...     '''
    >>> parameter_descriptions(lookup)
    {'isbn': 'Ten or thirteen digits.'}
    """
    text = _text(function)
    header = _PARAMETERS.search(text)
    if header is None:
        return {}
    section = _SECTION.split(text[header.end() :], maxsplit=1)[0]
    entries = _google_entries if header[0].rstrip().endswith(":") else _numpy_entries
    return {
        name.lstrip("*"): " ".join(said.split())
        for names, said in entries(section)
        for name in names.split(", ")
        if said.strip()
    }


def _text(function: Callable[..., Any]) -> str:
    return inspect.getdoc(function) or ""


def _numpy_entries(section: str) -> Iterator[tuple[str, str]]:
    """A line with the names, what is said of them indented below."""
    for head, body in _entries(section):
        if (names := _NUMPY_NAMES.match(head)) is not None:
            yield names[1], body


def _google_entries(section: str) -> Iterator[tuple[str, str]]:
    """A name, and what is said of it behind a colon."""
    for head, body in _entries(inspect.cleandoc(section)):
        if (name := _GOOGLE_NAME.match(head)) is not None:
            yield name[1], f"{name[2]} {body}"


def _entries(section: str) -> Iterator[tuple[str, str]]:
    """Each line that is not indented, with the indented ones below it."""
    head, body = "", ""
    for line in section.splitlines():
        if line and not line[0].isspace():
            if head:
                yield head, body
            head, body = line, ""
        else:
            body += f"{line} "
    if head:
        yield head, body
