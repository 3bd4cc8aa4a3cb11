"""Formats, found by content: never by file name, never by a silent guess."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import NamedTuple, Protocol

from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Conversation
from chatmem_lab.transcripts import openai_chat, own, swe_agent, tau_bench
from chatmem_lab.transcripts.document import Document

__all__ = ["Format", "FormatInfo", "UnrecognisedError", "detect", "formats"]


class UnrecognisedError(TranscriptError):
    """No format recognises a document."""


class Format(Protocol):
    """What each format's module has."""

    name: str
    description: str

    def recognises(self, document: Document) -> bool: ...

    def read(self, document: Document) -> Iterator[Conversation]: ...


class FormatInfo(NamedTuple):
    """A format as users see it."""

    name: str
    description: str


_FORMATS: tuple[Format, ...] = (own, openai_chat, tau_bench, swe_agent)


def formats() -> list[FormatInfo]:
    """The formats that can be read.

    >>> [format.name for format in formats()]
    ['own', 'openai-chat', 'tau-bench', 'swe-agent']
    """
    return [FormatInfo(format.name, format.description) for format in _FORMATS]


def detect(document: Document, format: str | None = None) -> Format:
    """The format of a document; with `format`, the one of that name.

    Raises
    ------
    TranscriptError
        If no format, or more than one, recognises the document.
    """
    by_name = {known.name: known for known in _FORMATS}
    if format is not None:
        if format in by_name:
            return by_name[format]
        near = get_close_matches(format, by_name, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise TranscriptError(
            f"there is no format {format!r}.{hint} There are: {', '.join(by_name)}"
        )
    if not document.data.strip():
        raise TranscriptError("the file is empty", source=document.source)
    found = [known for known in _FORMATS if known.recognises(document)]
    if len(found) == 1:
        return found[0]
    if found:
        names = " and ".join(known.name for known in found)
        raise TranscriptError(
            f"looks like {names} alike: say which with format=", source=document.source
        )
    if (
        document.whole is None
        and document.data.lstrip()[:1] in (b"{", b"[")
        and not (document.sample)
    ):
        document.value()  # says where the JSON is broken
    looked_for = "; ".join(f"{known.name} ({known.description})" for known in _FORMATS)
    raise UnrecognisedError(
        f"no format recognises it. Looked for: {looked_for}", source=document.source
    )
