"""Bytes → conversations: detection, reading, and nothing but named errors."""

from __future__ import annotations

import gc
from collections.abc import Iterator

from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Conversation
from chatmem_lab.transcripts.load_report import LoadReport, Reading
from chatmem_lab.transcripts.registry import detect, format_named
from chatmem_lab.transcripts.transcript import Transcript

__all__ = ["read_transcript"]


def read_transcript(
    data: bytes,
    *,
    report: LoadReport,
    name: str = "<bytes>",
    source: str | None = None,
    format: str | None = None,
    lenient: bool = False,
) -> Iterator[Conversation]:
    r"""Yield the conversations of one transcript; what happened goes into `report`.

    >>> report = LoadReport()
    >>> [len(c) for c in read_transcript(b'[{"role": "user", "content": "hi"}]', report=report)]
    [1]
    >>> report.read
    [Reading(source='<bytes>', format='openai_chat', conversations=1, messages=1)]
    """
    chosen = format_named(format) if format is not None else None
    try:
        with_collection_off = _CollectionOff()
        with with_collection_off:
            transcript = Transcript(data, name=name, report=report, lenient=lenient, source=source)
            found = chosen if chosen is not None else detect(transcript)
            conversations = found.read(transcript)
        n = messages = 0
        while True:
            with with_collection_off:
                conversation = next(conversations, None)
            if conversation is None:
                break
            n += 1
            messages += len(conversation.messages)
            yield conversation
    except RecursionError:
        raise TranscriptError("is nested too deeply to be read", source=name) from None
    report.read.append(Reading(name, found.name, n, messages))


class _CollectionOff:
    """Garbage collection pauses: reading makes many objects that all stay."""

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_on:
            gc.enable()
