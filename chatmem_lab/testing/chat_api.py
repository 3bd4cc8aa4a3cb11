"""Chat Completions as the local server speaks it: what it refuses, answers and streams."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from chatmem_lab.testing.served_reply import Refused, Reply, new_id, pieces, with_ids, words

__all__ = ["chunks_of", "completion_of", "last_user_text", "refuse_wrong_chat"]

ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def refuse_wrong_chat(body: dict[str, Any]) -> None:
    """Raise `Refused` for a request that Chat Completions would not take.

    >>> refuse_wrong_chat({"model": "gpt-5", "messages": []})
    Traceback (most recent call last):
    ...
    chatmem_lab.testing.served_reply.Refused: messages must hold at least one message
    """
    if not isinstance(body.get("model"), str):
        raise Refused("model must be the name of a model", "model")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refused("messages must hold at least one message", "messages", "empty_array")
    for index, message in enumerate(messages):
        _refuse_wrong_message(message, f"messages[{index}]")
    _refuse_wrong_pairs(messages)


def _refuse_wrong_message(message: Any, where: str) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in ROLES:
        known = ", ".join(ROLES)
        raise Refused(f"{where}.role is {role!r}: it must be one of {known}", f"{where}.role")
    calls = message.get("tool_calls")
    if calls is not None:
        _refuse_wrong_calls(calls, role, where)
    content = message.get("content")
    if role == "assistant":
        if not (content or calls or message.get("refusal") or message.get("function_call")):
            raise Refused(f"{where} has neither content nor tool_calls", f"{where}.content")
        return
    if not isinstance(content, str | list):
        raise Refused(f"{where}.content must be a text or a list of parts", f"{where}.content")
    if role == "tool":
        if not isinstance(message.get("tool_call_id"), str):
            raise Refused(f"{where}.tool_call_id is missing", f"{where}.tool_call_id")
    elif not content or (isinstance(content, str) and not content.strip()):
        raise Refused(f"{where}.content is empty", f"{where}.content")


def _refuse_wrong_calls(calls: Any, role: str, where: str) -> None:
    if role != "assistant":
        raise Refused(f"{where}: only an assistant makes tool_calls", f"{where}.tool_calls")
    if not isinstance(calls, list) or not calls:
        raise Refused(f"{where}.tool_calls is empty", f"{where}.tool_calls", "empty_array")
    for index, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            function = {}
        held = [function.get("name"), function.get("arguments"), function and call.get("id")]
        if not all(isinstance(one, str) for one in held):
            path = f"{where}.tool_calls[{index}]"
            raise Refused(f"{path} needs an id, function.name and function.arguments", path)


def _refuse_wrong_pairs(messages: list[dict[str, Any]]) -> None:
    open_calls: list[str] = []
    asked_at = 0
    for index, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                raise Refused(
                    f"messages[{index}]: a tool message must answer a call of the assistant "
                    f"message before it, and {message['tool_call_id']!r} is none",
                    f"messages[{index}].tool_call_id",
                )
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            raise Refused(
                f"messages[{asked_at}]: every tool call must be answered by a tool message "
                f"directly after it; without an answer: {', '.join(open_calls)}",
                f"messages[{asked_at}].tool_calls",
            )
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        asked_at = index


def last_user_text(messages: Any) -> str:
    """The text of the newest user message of either API.

    >>> last_user_text([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "o"}])
    'hi'
    """
    if isinstance(messages, str):
        return messages
    for message in reversed(messages):
        if message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, str):
                return content
            return " ".join(part["text"] for part in content if "text" in part)
    return ""


def _usage(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    prompt = words([body["messages"], body.get("tools")])
    return {
        "prompt_tokens": prompt,
        "completion_tokens": reply.output_tokens,
        "total_tokens": prompt + reply.output_tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
    }


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {
        "id": new_id("chatcmpl-"),
        "object": kind,
        "created": int(time.time()),
        "model": body["model"],
    }


def completion_of(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    """The answer in one piece.

    >>> body = {"model": "gpt-5", "messages": [{"role": "user", "content": "Good morning"}]}
    >>> completion = completion_of(body, Reply("Good morning, Ada."))
    >>> completion["choices"][0]["finish_reason"], completion["usage"]["total_tokens"]
    ('stop', 6)
    """
    message: dict[str, Any] = {
        "role": "assistant",
        "content": reply.text,
        "refusal": reply.refusal,
    }
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = [_call(call) for call in with_ids(reply.tool_calls)]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}
    return {**_head(body, "chat.completion"), "choices": [choice], "usage": _usage(body, reply)}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": call["arguments"]}
    return {"id": call["id"], "type": "function", "function": function}


def chunks_of(body: dict[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
    """The answer as a stream's chunks."""
    head = _head(body, "chat.completion.chunk")
    with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    none_yet = {"usage": None} if with_usage else {}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice], **none_yet}

    yield chunk({"role": "assistant", "content": None if reply.text is None else ""})
    for name in ("reasoning", "text", "refusal"):
        field = {"reasoning": "reasoning_content", "text": "content"}.get(name, name)
        yield from (chunk({field: piece}) for piece in pieces(getattr(reply, name)))
    for index, call in enumerate(with_ids(reply.tool_calls)):
        begun = _call({**call, "arguments": ""})
        yield chunk({"tool_calls": [{"index": index, **begun}]})
        for piece in pieces(call["arguments"], longest=4):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, reply.finish)
    if with_usage:
        yield {**head, "choices": [], "usage": _usage(body, reply)}
