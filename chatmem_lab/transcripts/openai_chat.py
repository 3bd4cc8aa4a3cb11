"""OpenAI's Chat Completions messages: a list, an object with `messages`, JSONL of either."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chatmem_lab.messages import Conversation, Message
from chatmem_lab.transcripts.chat_message import ChatMessages, is_chat_message, looks_like_chat
from chatmem_lab.transcripts.fields import WrongField, describe, of_type, optional_time
from chatmem_lab.transcripts.format import Format
from chatmem_lab.transcripts.transcript import Transcript

__all__ = ["OPENAI_CHAT", "messages_of"]


def messages_of(records: list[Any], transcript: Transcript, line: int | None) -> list[Message]:
    """The messages of a list of records; `WrongField` leads to the one that is wrong."""
    convert = ChatMessages(lambda what: transcript.repair(what, line))
    messages = []
    for i, record in enumerate(records):
        try:
            messages.append(convert(record))
        except WrongField as wrong:
            raise wrong.under(f"[{i}]") from None
    return messages


def _is_conversation(value: Any) -> bool:
    if isinstance(value, dict):
        # With its instructions beside the messages it is Anthropic's.
        return "system" not in value and looks_like_chat(value.get("messages"))
    return bool(value) and looks_like_chat(value)


def _recognises(transcript: Transcript) -> bool:
    first = transcript.first
    if is_chat_message(first) or _is_conversation(first):
        return True
    return isinstance(first, list) and bool(first) and _is_conversation(first[0])


def _read(transcript: Transcript) -> Iterator[Conversation]:
    first = transcript.first
    if isinstance(first, dict) and "role" in first:
        yield _message_a_line(transcript)
        return
    number = 0
    several = not transcript.is_document
    for line, record in transcript.records():
        values = [("", record)]
        if isinstance(record, list) and transcript.is_document and not _has_roles(record):
            values = [(f"[{i}]", value) for i, value in enumerate(record)]
            several = True
        for path, value in values:
            name = f"{transcript.stem}/{number}" if several else transcript.stem
            number += 1
            try:
                yield _conversation(value, name, transcript, line)
            except WrongField as wrong:
                transcript.refuse(str(wrong.under(path)), line)


def _has_roles(record: list[Any]) -> bool:
    """Whether a list is one of messages, and not of conversations."""
    return not record or (isinstance(record[0], dict) and "role" in record[0])


def _message_a_line(transcript: Transcript) -> Conversation:
    at: list[int | None] = [None]
    convert = ChatMessages(lambda what: transcript.repair(what, at[0]))
    messages = []
    for at[0], record in transcript.records():
        try:
            messages.append(convert(record))
        except WrongField as wrong:
            transcript.refuse(str(wrong), at[0])
    return Conversation(transcript.stem, tuple(messages), source=transcript.source)


def _conversation(value: Any, name: str, transcript: Transcript, line: int | None) -> Conversation:
    if isinstance(value, list):
        messages = messages_of(value, transcript, line)
        return Conversation(name, tuple(messages), source=transcript.source)
    if not isinstance(value, dict):
        what = f"a list of messages or an object with messages was expected, not {describe(value)}"
        raise WrongField("", what)
    rest = dict(value)
    records = of_type(rest.pop("messages", None), list, "messages")
    try:
        messages = messages_of(records, transcript, line)
    except WrongField as wrong:
        raise wrong.under("messages") from None
    for key in ("id", "conversation_id", "session_id"):
        if isinstance(rest.get(key), str) and rest[key]:
            name = rest.pop(key)
            break
    created_at = None
    for key in ("created_at", "created", "timestamp"):
        if (created_at := optional_time(rest.get(key))) is not None:
            del rest[key]
            break
    model = rest.pop("model", None)
    if model is not None:
        of_type(model, str, "model")
    return Conversation(
        name,
        tuple(messages),
        tools=_tools(rest),
        model=model,
        created_at=created_at,
        source=transcript.source,
        metadata=rest.pop("metadata") if isinstance(rest.get("metadata"), dict) else None,
        extra=rest or None,
    )


def _tools(rest: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    tools: list[dict[str, Any]] = []
    for i, tool in enumerate(of_type(rest.pop("tools", None) or [], list, "tools")):
        tools.append(of_type(tool, dict, f"tools[{i}]"))
    # The name that tools had first.
    for i, function in enumerate(of_type(rest.pop("functions", None) or [], list, "functions")):
        function = of_type(function, dict, f"functions[{i}]")
        tools.append({"type": "function", "function": function})
    return tuple(tools)


OPENAI_CHAT = Format(
    "openai_chat",
    "OpenAI's chat messages: a list, an object with messages, or JSONL of either",
    "messages with a role such as user and content or tool_calls, alone or under messages",
    _recognises,
    _read,
)
