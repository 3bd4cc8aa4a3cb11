"""The package's own JSONL, format 1: a header line per conversation, then a line per message.

The header is ``{"format":1,"id":…}`` with model, tools, created_at, source, metadata and extra
where there are any. A message's line is the `Message` as JSON; a recorded event's line is
``{"event":…}``. The next header begins the next conversation.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct

from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Conversation, Message, RecordedEvent
from chatmem_lab.messages.surrogates import normalised_json
from chatmem_lab.messages.wellformed import find_not_finite
from chatmem_lab.transcripts.format import Format
from chatmem_lab.transcripts.json_text import BrokenJson, explain, mend_surrogates
from chatmem_lab.transcripts.transcript import Line, Transcript

__all__ = ["OWN", "encode_conversation"]


class _Header(Struct, forbid_unknown_fields=True, omit_defaults=True):
    format: Literal[1]
    id: str
    model: str | None = None
    tools: tuple[dict[str, Any], ...] = ()
    created_at: datetime | None = None
    source: str | None = None
    metadata: dict[str, Any] | None = None
    extra: dict[str, Any] | None = None


class _MessageLine(Message, frozen=True, gc=False, forbid_unknown_fields=True):
    """A message whose line has no other field: a misspelt one must not vanish."""


class _EventLine(Struct, forbid_unknown_fields=True):
    event: RecordedEvent


_decode_header = msgspec.json.Decoder(_Header).decode
_decode_message = msgspec.json.Decoder(_MessageLine).decode
_decode_event = msgspec.json.Decoder(_EventLine).decode
_decode_any = msgspec.json.Decoder().decode
_fields = msgspec.structs.astuple
_encode = msgspec.json.Encoder().encode


def encode_conversation(conversation: Conversation) -> bytes:
    r"""The lines of one conversation.

    >>> from chatmem_lab.messages import user
    >>> encode_conversation(Conversation("c", (user("hi"),))).decode().splitlines()
    ['{"format":1,"id":"c"}', '{"role":"user","parts":[{"type":"text","text":"hi"}]}']
    """
    header = _Header(
        1,
        conversation.id,
        conversation.model,
        conversation.tools,
        conversation.created_at,
        conversation.source,
        conversation.metadata,
        conversation.extra,
    )
    try:
        wrong_number = _not_finite(conversation)
        if wrong_number is not None:
            raise TranscriptError(f"conversation {conversation.id!r}: {wrong_number}")
        records: list[Any] = [header, *conversation.messages]
        records += [_EventLine(event) for event in conversation.recorded_events]
        lines = _encode_all(records, conversation.id)
    except TranscriptError:
        raise
    except (TypeError, ValueError, RecursionError) as wrong:
        raise TranscriptError(
            f"conversation {conversation.id!r} holds what JSON cannot hold: {wrong}"
        ) from None
    return b"\n".join(lines) + b"\n"


def _encode_all(records: list[Any], id: str) -> list[bytes]:
    try:
        return [_encode(record) for record in records]
    except UnicodeEncodeError:
        warnings.warn(
            f"conversation {id!r}: halves of surrogate pairs became U+FFFD",
            UserWarning,
            stacklevel=2,
        )
    return [_encode(normalised_json(msgspec.to_builtins(record))) for record in records]


def _not_finite(conversation: Conversation) -> str | None:
    """Where a number stands that JSON does not have: written, it would become null."""
    holders: list[tuple[str, Any]] = [("", conversation)]
    holders += [(f"messages[{i}].", message) for i, message in enumerate(conversation.messages)]
    for i, event in enumerate(conversation.recorded_events):
        holders.append((f"recorded_events[{i}].", event))
        if event.made is not None:
            holders.append((f"recorded_events[{i}].made.", event.made))
    for path, holder in holders:
        for name in ("metadata", "extra", "tools"):
            value = getattr(holder, name, None)
            found = value and find_not_finite(value, f"{path}{name}")
            if found:
                return f"{found} is no number that JSON can hold"
    return None


def _recognises(transcript: Transcript) -> bool:
    first = transcript.first
    return (
        isinstance(first, dict)
        and type(first.get("format")) is int
        and "id" in first
        and "messages" not in first
        and "role" not in first
    )


class _Open:
    """The conversation whose lines are being read."""

    def __init__(self, header: _Header) -> None:
        self.header = header
        self.messages: list[Message] = []
        self.events: list[RecordedEvent] = []

    def close(self) -> Conversation:
        header = self.header
        return Conversation(
            header.id,
            tuple(self.messages),
            header.tools,
            header.model,
            header.created_at,
            header.source,
            tuple(self.events),
            header.metadata,
            header.extra,
        )


def _read(transcript: Transcript) -> Iterator[Conversation]:
    current: _Open | None = None
    append = None
    for line in transcript.lines():
        data = line.data
        if append is not None and data.startswith(b'{"role":'):
            try:
                append(Message(*_fields(_decode_message(data))))
                continue
            except (ValueError, RecursionError):
                pass
        for record, at in _records(transcript, line):
            if isinstance(record, _Header):
                if current is not None:
                    yield current.close()
                current = _Open(record)
                append = current.messages.append
            elif current is None:
                transcript.refuse('stands before the first header, {"format":1,…}', at)
            elif isinstance(record, Message):
                current.messages.append(record)
            else:
                current.events.append(record)
    if current is not None:
        yield current.close()


def _records(
    transcript: Transcript, line: Line
) -> list[tuple[_Header | Message | RecordedEvent, int]]:
    """The records of a line that is no plain message, each with its line's number."""
    data = line.data
    try:
        value = _decode_any(data)
    except (ValueError, RecursionError) as error:
        mended = mend_surrogates(data)
        if mended != data:
            transcript.repair("half of a surrogate pair became U+FFFD", line.number)
            return _records(transcript, line._replace(data=mended))
        wrong: BrokenJson = explain(data, error)
        return [
            record
            for piece in transcript.rescue(line, wrong)
            for record in _records(transcript, line._replace(data=piece))
        ]
    try:
        return [(_typed(value, data), line.number)]
    except (ValueError, RecursionError) as error:
        transcript.refuse(_in_words(str(error)), line.number)
    return []


def _typed(value: Any, data: bytes) -> _Header | Message | RecordedEvent:
    if isinstance(value, dict) and "format" in value and "role" not in value:
        if value["format"] != 1:
            raise ValueError(
                f"format is {value['format']!r}, and this version reads format 1: "
                "a newer chatmem_lab wrote it"
            )
        return _decode_header(data)
    if isinstance(value, dict) and "event" in value:
        return _decode_event(data).event
    if isinstance(value, dict) and "role" in value:
        return Message(*_fields(_decode_message(data)))
    raise ValueError("a header with format, a message with role, or an event was expected")


def _in_words(error: str) -> str:
    """What msgspec says, the path first: `$.parts[0].text` reads `parts[0].text`."""
    what, _, path = error.partition(" - at `$")
    what = what.replace("`", "")
    path = path.rstrip("`").lstrip(".")
    return f"{path}: {what[:1].lower()}{what[1:]}" if path else what


OWN = Format(
    "own",
    "chatmem_lab's own JSONL: a header line per conversation, then a line per message",
    'a first line {"format":1,"id":…}',
    _recognises,
    _read,
)
