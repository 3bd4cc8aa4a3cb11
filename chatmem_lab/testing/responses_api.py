"""Responses as the local server speaks it: what it refuses, answers and streams."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from chatmem_lab.testing.served_reply import Refused, Reply, new_id, pieces, with_ids, words

__all__ = ["events_of", "items_of", "refuse_wrong_items", "response_of"]

ROLES = ("system", "developer", "user", "assistant")
TYPES = ("message", "function_call", "function_call_output", "reasoning")

#: What ends a response early: Chat Completions' word for it, and this API's.
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def items_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The input of a request as items: a text alone is the user's.

    >>> items_of({"input": "hi"})
    [{'role': 'user', 'content': 'hi'}]
    """
    given = body.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if isinstance(given, list):
        return list(given)
    raise Refused("input must be a text or a list of items", "input")


def refuse_wrong_items(body: dict[str, Any], earlier: list[dict[str, Any]]) -> None:
    """Raise `Refused` for a request that Responses would not take after the `earlier` items.

    >>> refuse_wrong_items({"model": "gpt-5", "input": [{"role": "user", "content": ""}]}, [])
    Traceback (most recent call last):
    ...
    chatmem_lab.testing.served_reply.Refused: input[0].content is empty
    """
    if not isinstance(body.get("model"), str):
        raise Refused("model must be the name of a model", "model")
    items = items_of(body)
    if not items:
        raise Refused("input must hold at least one item", "input", "empty_array")
    for index, item in enumerate(items):
        _refuse_wrong_item(item, f"input[{index}]")
    _refuse_wrong_pairs([*earlier, *items])
    for index, (item, after) in enumerate(zip(items, [*items[1:], {}])):
        if item.get("type") == "reasoning" and not _was_reasoned_for(after):
            raise Refused(
                f"input[{index}]: reasoning must stand directly before what it was for", "input"
            )


def _refuse_wrong_item(item: Any, where: str) -> None:
    kind = item.get("type", "message") if isinstance(item, dict) else None
    if kind not in TYPES:
        known = ", ".join(TYPES)
        raise Refused(f"{where}.type is {kind!r}: it must be one of {known}", f"{where}.type")
    if kind == "message":
        if item.get("role") not in ROLES:
            known = ", ".join(ROLES)
            what = f"{where}.role is {item.get('role')!r}: it must be one of {known}"
            raise Refused(what, f"{where}.role")
        content = item.get("content")
        if not content or (isinstance(content, str) and not content.strip()):
            raise Refused(f"{where}.content is empty", f"{where}.content")
        return
    needed = {
        "function_call": ("call_id", "name", "arguments"),
        "function_call_output": ("call_id", "output"),
        "reasoning": ("summary",),
    }[kind]
    for name in needed:
        if item.get(name) is None:
            raise Refused(f"{where}.{name} is missing", f"{where}.{name}")


def _refuse_wrong_pairs(items: list[dict[str, Any]]) -> None:
    open_calls: list[str] = []
    for item in items:
        if item.get("type") == "function_call":
            open_calls.append(item["call_id"])
        elif item.get("type") == "function_call_output":
            if item["call_id"] not in open_calls:
                what = f"no function_call {item['call_id']!r} stands before its output"
                raise Refused(what, "input")
            open_calls.remove(item["call_id"])
    if open_calls:
        raise Refused(f"no output for function_call {', '.join(open_calls)}", "input")


def _was_reasoned_for(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant" or item.get("type") in ("function_call", "reasoning")


def response_of(body: dict[str, Any], items: list[dict[str, Any]], reply: Reply) -> dict[str, Any]:
    """The answer in one piece; `items` is all the input that it answers.

    >>> body = {"model": "gpt-5", "input": "Good morning"}
    >>> response = response_of(body, items_of(body), Reply("Good morning, Ada."))
    >>> response["status"], response["output"][0]["content"][0]["text"]
    ('completed', 'Good morning, Ada.')
    """
    reason = _INCOMPLETE.get(reply.finish)
    status = "incomplete" if reason else "completed"
    tokens = words([items, body.get("instructions"), body.get("tools")])
    return {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": body.get("instructions"),
        "metadata": body.get("metadata") or {},
        "model": body["model"],
        "output": list(_output(reply, status)),
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "store": body.get("store", True),
        "temperature": body.get("temperature", 1.0),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p", 1.0),
        "usage": {
            "input_tokens": tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": reply.output_tokens,
            "output_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
            "total_tokens": tokens + reply.output_tokens,
        },
    }


def _output(reply: Reply, status: str) -> Iterator[dict[str, Any]]:
    if reply.reasoning is not None:
        summary = [{"type": "summary_text", "text": reply.reasoning}] if reply.reasoning else []
        yield {"type": "reasoning", "id": new_id("rs_"), "summary": summary}
    content: list[dict[str, Any]] = []
    if reply.text:
        content.append({"type": "output_text", "text": reply.text, "annotations": []})
    if reply.refusal:
        content.append({"type": "refusal", "refusal": reply.refusal})
    if content:
        yield {
            "type": "message",
            "id": new_id("msg_"),
            "role": "assistant",
            "status": status,
            "content": content,
        }
    for call in with_ids(reply.tool_calls):
        yield {
            "type": "function_call",
            "id": new_id("fc_"),
            "call_id": call["id"],
            "name": call["name"],
            "arguments": call["arguments"],
            "status": status,
        }


def events_of(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same answer as a stream's events."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    begun["incomplete_details"] = None
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(response["output"]):
        at = {"output_index": index}
        yield {"type": "response.output_item.added", **at, "item": _begun(item)}
        yield from _item_events(item, {"item_id": item["id"], **at})
        yield {"type": "response.output_item.done", **at, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    if item["type"] == "reasoning":
        return {**item, "summary": []}
    empty: dict[str, Any] = {"content": []} if item["type"] == "message" else {"arguments": ""}
    return {**item, "status": "in_progress", **empty}


def _item_events(item: dict[str, Any], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if item["type"] == "function_call":
        arguments = item["arguments"]
        kind = "response.function_call_arguments"
        for piece in pieces(arguments, longest=4):
            yield {"type": f"{kind}.delta", **at, "delta": piece}
        yield {"type": f"{kind}.done", **at, "name": item["name"], "arguments": arguments}
    elif item["type"] == "reasoning":
        yield from _part_events("reasoning_summary", "summary", item["summary"], at)
    else:
        yield from _part_events("content", "content", item["content"], at)


def _part_events(
    part_kind: str, index_kind: str, parts: list[dict[str, Any]], at: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for index, part in enumerate(parts):
        here = {**at, f"{index_kind}_index": index}
        field = "refusal" if part["type"] == "refusal" else "text"
        kind = {
            "summary_text": "response.reasoning_summary_text",
            "output_text": "response.output_text",
            "refusal": "response.refusal",
        }[part["type"]]
        logprobs: dict[str, Any] = {"logprobs": []} if part["type"] == "output_text" else {}
        begun = {**part, field: ""}
        yield {"type": f"response.{part_kind}_part.added", **here, "part": begun}
        for piece in pieces(part[field]):
            yield {"type": f"{kind}.delta", **here, "delta": piece, **logprobs}
        yield {"type": f"{kind}.done", **here, field: part[field], **logprobs}
        yield {"type": f"response.{part_kind}_part.done", **here, "part": part}
