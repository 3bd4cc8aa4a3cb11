"""OpenAI Chat messages: a list of them, objects with `messages`, or lines of either."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import (
    Audio,
    Conversation,
    File,
    Image,
    Message,
    Opaque,
    Part,
    Refusal,
    Text,
    ToolCall,
    Usage,
)
from chatmem_lab.transcripts.document import Document

__all__ = ["ChatReader", "description", "name", "read", "recognises"]

name = "openai-chat"
description = "OpenAI Chat messages: JSON, or JSON Lines by message or by conversation"

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
#: Parts of other providers' messages, which look alike otherwise.
_FOREIGN = {
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "input_text",
    "output_text",
}
_MESSAGE_KEYS = frozenset(
    {
        "role",
        "content",
        "tool_calls",
        "tool_call_id",
        "name",
        "id",
        "created_at",
        "model",
        "usage",
        "finish_reason",
        "metadata",
        "refusal",
        "function_call",
    }
)
_CONVERSATION_KEYS = frozenset(
    {"messages", "tools", "functions", "model", "id", "created_at", "metadata"}
)


def recognises(document: Document) -> bool:
    """Whether the document holds chat messages in one of the four arrangements."""
    whole = document.whole
    if isinstance(whole, dict):
        return _is_conversation(whole) or _is_message(whole)
    if isinstance(whole, list):
        return bool(whole) and (
            all(_is_message(item) for item in whole) or all(_is_conversation(i) for i in whole)
        )
    records = document.sample
    return bool(records) and (
        all(_is_message(r) for r in records) or all(_is_conversation(r) for r in records)
    )


def _is_message(value: object) -> bool:
    if not isinstance(value, dict) or value.get("role") not in ROLES:
        return False
    content = value.get("content")
    if isinstance(content, list):
        return not any(isinstance(p, dict) and p.get("type") in _FOREIGN for p in content)
    return "content" in value or "tool_calls" in value or "function_call" in value


def _is_conversation(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    messages = value.get("messages")
    return isinstance(messages, list) and all(_is_message(m) for m in messages)


def read(document: Document) -> Iterator[Conversation]:
    """The conversations of the document, in order."""
    if not document.is_lines:
        value = document.value()
        yield from _of_value(document, value)
        return
    reader = ChatReader(document.source)
    messages: list[Message] = []
    n = 0
    for line, record in document.records():
        if isinstance(record, dict) and "messages" in record:
            yield _conversation(record, document, line, f"{document.stem}/{n}")
            n += 1
        else:
            messages.append(reader.message(record, f"line {line}", line))
    if messages:
        yield Conversation(document.stem, tuple(messages), source=document.source)


def _of_value(document: Document, value: Any) -> Iterator[Conversation]:
    if isinstance(value, list) and value and isinstance(value[0], dict) and "messages" in value[0]:
        for n, record in enumerate(value):
            yield _conversation(record, document, None, f"{document.stem}/{n}")
    elif isinstance(value, dict) and "messages" in value:
        yield _conversation(value, document, None, document.stem)
    else:
        messages = value if isinstance(value, list) else [value]
        reader = ChatReader(document.source)
        yield Conversation(
            document.stem,
            tuple(reader.message(m, f"[{i}]") for i, m in enumerate(messages)),
            source=document.source,
        )


def _conversation(
    record: Any, document: Document, line: int | None, default_id: str
) -> Conversation:
    reader = ChatReader(document.source, line)
    if not isinstance(record, dict) or not isinstance(record.get("messages"), list):
        raise reader.error("messages", "a list of messages", record)
    tools = record.get("tools") or [
        {"type": "function", "function": function} for function in record.get("functions") or ()
    ]
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise reader.error("tools", "a list of objects", tools)
    return Conversation(
        str(record["id"]) if record.get("id") is not None else default_id,
        tuple(reader.message(m, f"messages[{i}]") for i, m in enumerate(record["messages"])),
        tools=tuple(tools),
        model=reader.optional_str(record, "model", ""),
        created_at=reader.time(record.get("created_at"), "created_at"),
        source=document.source,
        metadata=reader.optional_dict(record, "metadata", ""),
        extra=_rest(record, _CONVERSATION_KEYS),
    )


class ChatReader:
    """Turns dicts of OpenAI's form into messages; one for each conversation.

    It remembers the last old-style `function_call`, whose result names no call.
    """

    def __init__(self, source: str, line: int | None = None) -> None:
        self.source = source
        self.line = line
        self._functions = 0

    def error(self, path: str, wanted: str, given: object) -> TranscriptError:
        """What was wanted at `path`, and what is there."""
        shown = repr(given)
        shown = shown if len(shown) <= 60 else f"{shown[:60]}…"
        return TranscriptError(
            f"{path or 'the record'} must be {wanted}, not {shown}",
            source=self.source,
            line=self.line,
        )

    def message(
        self, record: Any, path: str, line: int | None = None, *, generated: bool = True
    ) -> Message:
        """One message; what OpenAI's form does not have goes to `extra`."""
        if line is not None:
            self.line = line
        if not isinstance(record, dict):
            raise self.error(path, "a message", record)
        role: Any = record.get("role")
        if role not in ROLES:
            raise self.error(f"{path}.role", f"one of {', '.join(ROLES)}", role)
        calls = self._calls(record, path)
        call_id = self.optional_str(record, "tool_call_id", path)
        if role == "function":
            role, call_id = "tool", call_id or f"function_{self._functions}"
        parts = self.parts(record.get("content"), f"{path}.content")
        if isinstance(record.get("refusal"), str) and record["refusal"]:
            parts = (*parts, Refusal(record["refusal"]))
        return Message(
            role,
            parts,
            tool_calls=calls,
            tool_call_id=call_id,
            name=self.optional_str(record, "name", path),
            generated=generated,
            id=self.optional_str(record, "id", path),
            created_at=self.time(record.get("created_at"), f"{path}.created_at"),
            model=self.optional_str(record, "model", path),
            usage=self.usage(record.get("usage"), f"{path}.usage"),
            finish_reason=self.optional_str(record, "finish_reason", path),
            metadata=self.optional_dict(record, "metadata", path),
            extra=_rest(record, _MESSAGE_KEYS),
        )

    def parts(self, content: Any, path: str) -> tuple[Part, ...]:
        """Content as a string, None, or a list of parts."""
        if content is None or content == "":
            return ()
        if isinstance(content, str):
            return (Text(content),)
        if not isinstance(content, list):
            raise self.error(path, "a string, null or a list of parts", content)
        return tuple(self._part(part, f"{path}[{i}]") for i, part in enumerate(content))

    def _part(self, part: Any, path: str) -> Part:
        if isinstance(part, str):
            return Text(part)
        if not isinstance(part, dict):
            raise self.error(path, "a part", part)
        kind = part.get("type")
        if kind == "text" and isinstance(part.get("text"), str):
            return Text(part["text"])
        if kind == "refusal" and isinstance(part.get("refusal"), str):
            return Refusal(part["refusal"])
        inner = part.get(kind) if isinstance(kind, str) else None
        if kind == "image_url":
            image = {"url": inner} if isinstance(inner, str) else inner
            if isinstance(image, dict) and isinstance(image.get("url"), str):
                return Image(image["url"], self.optional_str(image, "detail", path))
        if (
            kind == "input_audio"
            and isinstance(inner, dict)
            and isinstance(inner.get("data"), str)
        ):
            return Audio(inner["data"], self.optional_str(inner, "format", path))
        if kind == "file" and isinstance(inner, dict):
            return File(
                name=self.optional_str(inner, "filename", path),
                url=self.optional_str(inner, "file_data", path),
                file_id=self.optional_str(inner, "file_id", path),
            )
        return Opaque(str(kind), msgspec.json.encode(part).decode())

    def _calls(self, record: Mapping[str, Any], path: str) -> tuple[ToolCall, ...]:
        given = record.get("tool_calls") or ()
        if not isinstance(given, list | tuple):
            raise self.error(f"{path}.tool_calls", "a list", given)
        calls = [self._call(call, i, f"{path}.tool_calls[{i}]") for i, call in enumerate(given)]
        old = record.get("function_call")
        if isinstance(old, dict):
            self._functions += 1
            calls.append(
                ToolCall(
                    f"function_{self._functions}",
                    str(old.get("name") or ""),
                    self.arguments(old.get("arguments"), f"{path}.function_call.arguments"),
                )
            )
        return tuple(calls)

    def _call(self, call: Any, index: int, path: str) -> ToolCall:
        if not isinstance(call, dict):
            raise self.error(path, "a tool call", call)
        called = call.get("function") or call.get("custom") or call
        if not isinstance(called, dict) or not isinstance(called.get("name"), str):
            raise self.error(f"{path}.function", "an object with a name", call.get("function"))
        arguments = called.get("arguments", called.get("input"))
        id = self.optional_str(call, "id", path)
        return ToolCall(
            id if id is not None else f"call_{index}",
            called["name"],
            self.arguments(arguments, f"{path}.arguments"),
        )

    def arguments(self, given: Any, path: str) -> str:
        """The raw string, byte for byte; null and objects become strings."""
        if given is None:
            return ""
        if isinstance(given, str):
            return given
        if isinstance(given, dict | list):
            return msgspec.json.encode(given).decode()
        raise self.error(path, "a string, an object or null", given)

    def optional_str(self, record: Mapping[str, Any], key: str, path: str) -> str | None:
        """A string, or None; whole numbers, as some ids are, become strings."""
        given = record.get(key)
        if given is None or isinstance(given, str):
            return given
        if isinstance(given, int) and not isinstance(given, bool):
            return str(given)
        raise self.error(f"{path}.{key}".lstrip("."), "a string", given)

    def optional_dict(
        self, record: Mapping[str, Any], key: str, path: str
    ) -> dict[str, Any] | None:
        """An object, or None."""
        given = record.get(key)
        if given is None or isinstance(given, dict):
            return given or None
        raise self.error(f"{path}.{key}".lstrip("."), "an object", given)

    def time(self, given: Any, path: str) -> datetime | None:
        """ISO 8601, or seconds since 1970."""
        if given is None:
            return None
        try:
            if isinstance(given, str):
                return datetime.fromisoformat(given)
            if isinstance(given, int | float) and not isinstance(given, bool):
                return datetime.fromtimestamp(given, UTC)
        except (ValueError, OverflowError, OSError):
            pass
        raise self.error(path, "a time, ISO 8601 or in seconds since 1970", given)

    def usage(self, given: Any, path: str) -> Usage | None:
        """OpenAI's usage: cached tokens are inside the prompt's, reasoning inside the reply's."""
        if given is None:
            return None
        if not isinstance(given, dict):
            raise self.error(path, "an object", given)

        def number(*keys: str, inside: Mapping[str, Any] = given) -> int | None:
            for key in keys:
                value = inside.get(key)
                if isinstance(value, bool) or not isinstance(value, int | float | None):
                    raise self.error(f"{path}.{key}", "a number", value)
                if value is not None and math.isfinite(value):
                    return int(value)
            return None

        def details(key: str) -> Mapping[str, Any]:
            found = given.get(key)
            return found if isinstance(found, dict) else {}

        return Usage(
            input_tokens=number("prompt_tokens", "input_tokens"),
            output_tokens=number("completion_tokens", "output_tokens"),
            cached_tokens=number("cached_tokens", inside=details("prompt_tokens_details")),
            reasoning_tokens=number(
                "reasoning_tokens", inside=details("completion_tokens_details")
            ),
        )


def _rest(record: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any] | None:
    rest = {key: value for key, value in record.items() if key not in known and value is not None}
    return rest or None
