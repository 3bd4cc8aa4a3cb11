"""One message in the form that AI4J gives Responses, which is not OpenAI's own."""

from __future__ import annotations

from typing import Any

from chatmem_lab.messages import Image, Message
from chatmem_lab.projections.chat import chat_call

__all__ = ["ai4j_item"]


def ai4j_item(message: Message) -> dict[str, Any]:
    """The item: all text is `input_text`, calls stay inside, an image's address is an object.

    >>> from chatmem_lab.messages import assistant
    >>> ai4j_item(assistant("Hello."))
    {'type': 'message', 'role': 'assistant', 'content': [{'type': 'input_text', 'text': 'Hello.'}]}
    """
    if message.role == "tool":
        return {
            "type": "function_call_output",
            "call_id": message.tool_call_id,
            "output": message.text,
        }
    item: dict[str, Any] = {"type": "message", "role": message.role}
    content: list[dict[str, Any]] = []
    if message.text.strip():
        content.append({"type": "input_text", "text": message.text})
    content += [
        {"type": "input_image", "image_url": {"url": part.url}}
        for part in message.parts
        if isinstance(part, Image)
    ]
    if content:
        item["content"] = content
    if message.tool_calls:
        item["tool_calls"] = [chat_call(call) for call in message.tool_calls]
    return item
