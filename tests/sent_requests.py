"""What a request to either API said, in the same words."""

from __future__ import annotations


def said(request):
    """Role and text of each message; calls as their names, results by their call."""
    if "messages" in request:
        return [_of_chat(message) for message in request["messages"]]
    return [_of_item(item) for item in request["input"]]


def _of_chat(message):
    if message.get("tool_calls"):
        return "calls", [call["function"]["name"] for call in message["tool_calls"]]
    if message["role"] == "tool":
        return message["tool_call_id"], message["content"]
    return message["role"], _text(message["content"])


def _of_item(item):
    if item["type"] == "function_call":
        return "calls", [item["name"]]
    if item["type"] == "function_call_output":
        return item["call_id"], item["output"]
    if item["type"] == "reasoning":
        return "reasoning", ""
    return item["role"], _text(item["content"])


def _text(content):
    if isinstance(content, str):
        return content
    return "".join(part.get("text", f"<{part['type']}>") for part in content)


def told(memory):
    """Role and text of each message of the history."""
    return [(message.role, message.text) for message in memory.history]
