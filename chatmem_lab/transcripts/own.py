"""The project's own JSON Lines, ``format: 1``.

Per conversation a header line, then a line per message, then a line per recorded event::

    {"format": 1, "id": "refund-17", "model": "gpt-5", "tools": […]}
    {"role": "user", "parts": [{"type": "text", "text": "Hello"}]}
    {"event": {"position": 12, "kind": "fold", …}}
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Conversation, Message, RecordedEvent
from chatmem_lab.transcripts.document import Document, mended, not_finite, decoded

__all__ = ["description", "name", "read", "recognises", "write_own"]

name = "own"
description = "chatmem_lab's own JSON Lines, format 1: nothing is lost in it"

_FORMAT = 1


class _Header(Struct, omit_defaults=True):
    format: int
    id: str
    model: str | None = None
    tools: tuple[dict[str, Any], ...] = ()
    created_at: datetime | None = None
    source: str | None = None
    metadata: dict[str, Any] | None = None
    extra: dict[str, Any] | None = None


_message_decoder = msgspec.json.Decoder(Message)


def recognises(document: Document) -> bool:
    """Whether the first record is a header."""
    first = document.whole if document.whole is not None else next(iter(document.sample), None)
    return isinstance(first, dict) and "format" in first and "id" in first and "role" not in first


def read(document: Document) -> Iterator[Conversation]:
    """The conversations of the document, in order."""
    header: _Header | None = None
    messages: list[Message] = []
    events: list[RecordedEvent] = []
    for number, line in document.lines():
        try:
            if line.startswith(b'{"role"'):
                record: Any = _message_decoder.decode(line)
            else:
                record = _converted(document, number, line)
        except (msgspec.DecodeError, RecursionError, TranscriptError) as error:
            if isinstance(error, msgspec.ValidationError):
                raise TranscriptError(str(error), source=document.source, line=number) from None
            if document.is_torn(number, line):
                document.report.skipped(document.source, number, "torn last line")
                continue
            record = _converted(document, number, line)
        if isinstance(record, _Header):
            if header is not None:
                yield _conversation(header, messages, events, document)
            header, messages, events = record, [], []
            if header.format != _FORMAT:
                raise TranscriptError(
                    f"format {header.format}: this version reads format {_FORMAT}",
                    source=document.source,
                    line=number,
                )
        elif header is None:
            raise TranscriptError(
                "a message before the first header", source=document.source, line=number
            )
        elif isinstance(record, RecordedEvent):
            events.append(record)
        else:
            messages.append(record)
    if header is not None:
        yield _conversation(header, messages, events, document)


def _converted(document: Document, number: int, line: bytes) -> Any:
    """A line that is no plain message line, by its keys."""
    record = decoded(line, document.source, number, document.report)
    try:
        if isinstance(record, dict) and "event" in record:
            return msgspec.convert(record["event"], RecordedEvent)
        if isinstance(record, dict) and "role" in record:
            return msgspec.convert(record, Message)
        return msgspec.convert(record, _Header)
    except msgspec.ValidationError as error:
        raise TranscriptError(str(error), source=document.source, line=number) from None


def _conversation(
    header: _Header,
    messages: list[Message],
    events: list[RecordedEvent],
    document: Document,
) -> Conversation:
    return Conversation(
        header.id,
        tuple(messages),
        tools=header.tools,
        model=header.model,
        created_at=header.created_at,
        source=header.source if header.source is not None else document.source,
        recorded_events=tuple(events),
        metadata=header.metadata,
        extra=header.extra,
    )


def write_own(conversations: Iterable[Conversation], path: str | Path) -> Path:
    """Write conversations, all or nothing: beside the target first, then renamed.

    Raises
    ------
    TranscriptError
        For a number that JSON does not have, with its path. Lone surrogates become U+FFFD,
        with a warning.
    """
    target = Path(path)
    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            for conversation in conversations:
                for line in _lines(conversation):
                    file.write(line + b"\n")
        os.replace(beside, target)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    return target


def _lines(conversation: Conversation) -> Iterator[bytes]:
    header = _Header(
        format=_FORMAT,
        id=conversation.id,
        model=conversation.model,
        tools=conversation.tools,
        created_at=conversation.created_at,
        source=conversation.source,
        metadata=conversation.metadata,
        extra=conversation.extra,
    )
    yield _encoded(header, f"conversation {conversation.id!r}")
    for position, message in enumerate(conversation.messages):
        yield _encoded(message, f"message {position} of {conversation.id!r}")
    for event in conversation.recorded_events:
        yield _encoded({"event": event}, f"an event of {conversation.id!r}")


def _encoded(value: Any, where: str) -> bytes:
    path = not_finite(msgspec.to_builtins(value)) if _has_free_values(value) else None
    if path is not None:
        raise TranscriptError(f"{where}: {path} is NaN or infinite, which JSON does not have")
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        warnings.warn(f"{where}: lone surrogates became U+FFFD", UserWarning, stacklevel=5)
        return msgspec.json.encode(mended(msgspec.to_builtins(value)))


def _has_free_values(value: Any) -> bool:
    """Whether the user's own values are in it, which may hold any number."""
    if isinstance(value, dict):
        return True
    return value.metadata is not None or value.extra is not None or hasattr(value, "tools")
