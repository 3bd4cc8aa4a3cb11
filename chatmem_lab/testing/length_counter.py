"""`LengthCounter`: a counter whose counts can be checked by eye."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from chatmem_lab.messages import Message
from chatmem_lab.tokens import Count

__all__ = ["LengthCounter"]


class LengthCounter:
    """Counts 1 for each message and 1 for each character of text and of tool calls.

    Examples
    --------
    >>> from chatmem_lab.messages import user
    >>> LengthCounter().count_message(user("four"))
    Count(tokens=5, kind='exact')
    """

    name = "one token a character"
    model: str | None = None

    def __init__(self, request_tokens: int = 3) -> None:
        self.request_tokens = request_tokens

    def count_text(self, text: str) -> Count:
        return Count(len(text))

    def count_message(self, message: Message) -> Count:
        calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
        has_image = any(type(part).__name__ == "Image" for part in message.parts)
        return Count(
            1 + len(message.text) + calls + 5 * has_image, "upper_bound" if has_image else "exact"
        )

    def count_messages(self, messages: Sequence[Message]) -> list[Count]:
        return [self.count_message(message) for message in messages]

    def count_tools(self, tools: Sequence[Mapping[str, Any]]) -> Count:
        if not tools:
            return Count(0)
        return Count(len(msgspec.json.encode(list(tools))), "estimate")
