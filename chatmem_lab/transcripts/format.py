"""`Format`: what every transcript format has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from chatmem_lab.messages import Conversation
from chatmem_lab.transcripts.transcript import Transcript

__all__ = ["Format"]


@dataclass(frozen=True)
class Format:
    """A format of transcripts.

    Parameters
    ----------
    name : str
    description : str
        What has this format, in a line.
    looks_for : str
        What it is recognised by, as an error says it.
    recognises : callable
        Whether a transcript's content has this format. Never looks at the file's name.
    read : callable
        Yields the conversations of a transcript.
    """

    name: str
    description: str
    looks_for: str
    recognises: Callable[[Transcript], bool] = field(repr=False)
    read: Callable[[Transcript], Iterator[Conversation]] = field(repr=False)
