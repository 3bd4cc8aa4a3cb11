"""One message as OpenAI's Chat Completions have it → `Message`. Several formats hold such."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from chatmem_lab.messages import Message, Part, Refusal, ToolCall, Usage
from chatmem_lab.transcripts.chat_parts import audio_part, parts_of
from chatmem_lab.transcripts.chat_usage import usage_of
from chatmem_lab.transcripts.fields import WrongField, describe, of_type, optional_time

__all__ = ["ChatMessages", "is_chat_message", "looks_like_chat"]

ROLES = ("system", "developer", "user", "assistant", "tool", "function")

#: Kinds of content parts that only Anthropic's messages have.
_FOREIGN = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})


def is_chat_message(value: Any) -> bool:
    """Whether it is a message of OpenAI's Chat Completions, as far as its outline tells.

    >>> is_chat_message({"role": "user", "content": "hi"}), is_chat_message({"from": "human"})
    (True, False)
    """
    if not isinstance(value, dict) or value.get("role") not in ROLES:
        return False
    if not any(name in value for name in ("content", "tool_calls", "function_call")):
        return False
    return not _is_foreign(value)


def _is_foreign(value: Any) -> bool:
    """Whether it has what only messages and items of other providers have."""
    if not isinstance(value, dict):
        return False
    if "role" not in value:
        return "type" in value
    content = value.get("content")
    if isinstance(content, list):
        kinds = [part.get("type") for part in content if isinstance(part, dict)]
        if any(isinstance(kind, str) and kind in _FOREIGN for kind in kinds):
            return True
    calls = value.get("tool_calls")
    if isinstance(calls, list) and calls and isinstance(calls[0], dict):
        return "function" not in calls[0] and "custom" not in calls[0]
    return False


def looks_like_chat(values: Any) -> bool:
    """Whether it is a list that begins with such a message; the first twenty are looked at.

    One that is no message after all does not change what the list is: reading says where it is.

    >>> looks_like_chat([{"role": "user", "content": "hi"}, {"content": "without a role"}])
    True
    """
    if not isinstance(values, list):
        return False
    begins = not values or is_chat_message(values[0])
    return begins and not any(_is_foreign(value) for value in values[:20])


class ChatMessages:
    """Converts the messages of one conversation, in order.

    Parameters
    ----------
    repair : callable
        Told what is read although the file has it another way.

    Examples
    --------
    >>> convert = ChatMessages(print)
    >>> message = convert({"role": "assistant", "content": None, "tool_calls": [
    ...     {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]})
    arguments were an object: written as JSON text
    >>> message.tool_calls
    (ToolCall(id='c1', name='f', arguments='{"a":1}'),)
    """

    def __init__(self, repair: Callable[[str], None]) -> None:
        self._repair = repair
        self._position = -1
        self._open_function_calls: deque[tuple[str, str]] = deque()

    def __call__(self, record: Any) -> Message:
        """The message; `WrongField` says what is wrong with the record."""
        self._position += 1
        rest = dict(of_type(record, dict, ""))
        role = rest.pop("role", None)
        if role not in ROLES:
            shown = f"{role!r}" if isinstance(role, str) else describe(role)
            raise WrongField("role", f"one of {', '.join(ROLES)} was expected, not {shown}")
        parts, leftovers = parts_of(rest.pop("content", None))
        if leftovers:
            rest["content"] = leftovers
        parts += self._other_parts(rest)
        calls = self._tool_calls(rest)
        name = self._text(rest, "name")
        call_id = self._text(rest, "tool_call_id")
        if role == "function":
            role = "tool"
            call_id = self._answered(name) if call_id is None else call_id
        created_at = None
        for key in ("created_at", "created", "timestamp"):
            if (created_at := optional_time(rest.get(key))) is not None:
                del rest[key]
                break
        return Message(
            role,
            parts,
            tool_calls=calls,
            tool_call_id=call_id,
            name=name,
            is_error=rest.pop("is_error") if type(rest.get("is_error")) is bool else False,
            generated=not (role == "assistant" and name == "example_assistant"),
            # Never sent, and a number in many a table: what is no text stays in `extra`.
            id=rest.pop("id") if isinstance(rest.get("id"), str) else None,
            created_at=created_at,
            model=self._text(rest, "model"),
            usage=self._usage(rest),
            finish_reason=self._text(rest, "finish_reason"),
            metadata=rest.pop("metadata") if isinstance(rest.get("metadata"), dict) else None,
            extra=rest or None,
        )

    @staticmethod
    def _text(rest: dict[str, Any], key: str) -> str | None:
        value = rest.pop(key, None)
        return value if value is None else str(of_type(value, str, key))

    @staticmethod
    def _usage(rest: dict[str, Any]) -> Usage | None:
        recorded = rest.pop("usage", None)
        if recorded is None:
            return None
        usage, leftovers = usage_of(recorded)
        if leftovers:
            rest["usage"] = leftovers
        return usage

    @staticmethod
    def _other_parts(rest: dict[str, Any]) -> tuple[Part, ...]:
        parts: list[Part] = []
        refusal = rest.pop("refusal", None)
        if refusal is not None:
            parts.append(Refusal(of_type(refusal, str, "refusal")))
        audio = rest.pop("audio", None)
        if audio is not None:
            parts.append(audio_part(of_type(audio, dict, "audio")))
        return tuple(parts)

    def _tool_calls(self, rest: dict[str, Any]) -> tuple[ToolCall, ...]:
        recorded = rest.pop("tool_calls", None)
        calls: list[ToolCall] = []
        leftovers: dict[str, Any] = {}
        if recorded is not None:
            for i, call in enumerate(of_type(recorded, list, "tool_calls")):
                path = f"tool_calls[{i}]"
                built, left = self._tool_call(of_type(call, dict, path), path, i)
                calls.append(built)
                if left:
                    leftovers[str(i)] = left
        if leftovers:
            rest["tool_calls"] = leftovers
        old = rest.pop("function_call", None)
        if old is not None:
            old = of_type(old, dict, "function_call")
            name = of_type(old.get("name"), str, "function_call.name")
            id = f"function_call_{self._position}"
            arguments = self._arguments(old.get("arguments"), "function_call.arguments")
            calls.append(ToolCall(id, name, arguments))
            self._open_function_calls.append((name, id))
        return tuple(calls)

    def _tool_call(
        self, call: dict[str, Any], path: str, index: int
    ) -> tuple[ToolCall, dict[str, Any]]:
        left = dict(call)
        id = left.pop("id", None)
        if id is None:
            id = f"call_{self._position}_{index}"
            self._repair(f"a tool call had no id: it is {id!r}")
        kind = "custom" if "custom" in call and "function" not in call else "function"
        if left.get("type") == "function" and kind == "function":
            del left["type"]
        function = dict(of_type(left.pop(kind, None), dict, f"{path}.{kind}"))
        name = of_type(function.pop("name", None), str, f"{path}.{kind}.name")
        key = "input" if kind == "custom" else "arguments"
        arguments = self._arguments(function.pop(key, None), f"{path}.{kind}.{key}")
        if function:
            left[kind] = function
        return ToolCall(of_type(id, str, f"{path}.id"), name, arguments), left

    def _arguments(self, value: Any, path: str) -> str:
        if isinstance(value, str):
            return value
        if value is None:
            return ""
        if isinstance(value, dict):
            self._repair("arguments were an object: written as JSON text")
            return msgspec.json.encode(value).decode("utf-8")
        raise WrongField(path, f"a string, an object or null was expected, not {describe(value)}")

    def _answered(self, name: str | None) -> str | None:
        """The id of the oldest open function call of that name: results had no id then."""
        for called, id in self._open_function_calls:
            if called == name:
                self._open_function_calls.remove((called, id))
                return id
        return None
