"""`to_responses`: messages as OpenAI's Responses take them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from chatmem_lab.errors import ProjectionError
from chatmem_lab.messages import (
    File,
    Image,
    Message,
    Part,
    Reasoning,
    Refusal,
    Role,
    Text,
    ToolCall,
)
from chatmem_lab.projections.ai4j import ai4j_item
from chatmem_lab.projections.content import (
    IMAGE_DETAILS,
    forms_of,
    instructions_apart,
    is_image_address,
    is_web_address,
    reasoning_with_reply,
    sendable,
)
from chatmem_lab.projections.pairing import OPENAI_LONGEST_ID, CallIds, paired
from chatmem_lab.projections.repair import ProjectedList, Repairs
from chatmem_lab.projections.source import Source, given_messages

__all__ = ["ResponsesInput", "to_responses"]


class ResponsesInput(ProjectedList):
    """The `input` of a Responses request."""


def to_responses(
    source: Source,
    *,
    repair: bool = False,
    ids: bool = False,
    style: Literal["openai", "ai4j"] = "openai",
) -> ResponsesInput:
    """What OpenAI's Responses take as `input`.

    System and developer messages stand in front, in order. Each call is an item of its own;
    reasoning stands directly before the reply or call that it was for.

    Parameters
    ----------
    source : Message, iterable of Message, or what has ``.messages``
        One message alone gives the list of what it becomes; its neighbours are not missed.
    repair : bool
        Mend what the API would refuse, and report it.
    ids : bool
        Send the server's own ids of messages and reasoning, where they were recorded, each
        once. A server that did not store the response refuses them.
    style : {"openai", "ai4j"}
        "ai4j" is that framework's form: it sends what is there, unchecked, and differs from
        what OpenAI takes.

    Returns
    -------
    ResponsesInput
        A list of dicts; `repairs` holds what was mended.

    Raises
    ------
    ProjectionError
        If the API would refuse the messages, without `repair`; if there is no such style.
    MessageError
        If `source` holds no messages.

    Examples
    --------
    >>> from chatmem_lab.messages import assistant, tool_output, user
    >>> to_responses([assistant(tool_calls=[ToolCall("c1", "now")]), tool_output("c1", "noon")])
    [{'type': 'function_call', 'call_id': 'c1', 'name': 'now', 'arguments': '{}'}, \
{'type': 'function_call_output', 'call_id': 'c1', 'output': 'noon'}]
    """
    if style not in ("openai", "ai4j"):
        raise ProjectionError(f'style is "openai" or "ai4j", not {style!r}')
    given = given_messages(source)
    if style == "ai4j":
        return ResponsesInput(map(ai4j_item, given.messages))
    repairs = Repairs("Responses", repair)
    call_ids = CallIds(repairs, longest=OPENAI_LONGEST_ID)
    placed = sendable(paired(given, repairs, call_ids), _form, repairs)
    if not given.alone:
        placed = reasoning_with_reply(placed, repairs)
    instructions, others = instructions_apart(placed)
    server_ids = _ServerIds(ids)
    items = (item for at in (*instructions, *others) for item in _items(at.message, server_ids))
    return ResponsesInput(items, repairs.made)


class _ServerIds:
    """Ids as the server gave them, each for one item: it refuses a second of the same."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._sent: set[str] = set()

    def of(self, id: str | None, prefix: str) -> dict[str, str]:
        if not self._wanted or not id or not id.startswith(prefix) or id in self._sent:
            return {}
        self._sent.add(id)
        return {"id": id}


def _form(part: Part, role: Role) -> dict[str, Any] | None:
    if role == "assistant":
        return _output_form(part)
    if isinstance(part, Text | Refusal):
        return {"type": "input_text", "text": part.text}
    if isinstance(part, Image) and is_image_address(part.url):
        detail = part.detail if part.detail in IMAGE_DETAILS else "auto"
        return {"type": "input_image", "image_url": part.url, "detail": detail}
    if isinstance(part, File):
        return _file(part)
    return None


def _output_form(part: Part) -> dict[str, Any] | None:
    if isinstance(part, Text):
        return {"type": "output_text", "text": part.text, "annotations": []}
    if isinstance(part, Refusal):
        return {"type": "refusal", "refusal": part.text}
    if isinstance(part, Reasoning):
        summary = [{"type": "summary_text", "text": part.text}] if part.text else []
        sealed = {"encrypted_content": part.signature} if part.signature else {}
        return {"type": "reasoning", "summary": summary, **sealed}
    return None


def _file(file: File) -> dict[str, Any] | None:
    name = {"filename": file.name} if file.name else {}
    if file.file_id:
        return {"type": "input_file", "file_id": file.file_id}
    if file.url and file.url.startswith("data:"):
        return {"type": "input_file", **name, "file_data": file.url}
    if file.url and is_web_address(file.url):
        return {"type": "input_file", "file_url": file.url}
    return None


def _items(message: Message, ids: _ServerIds) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        yield {
            "type": "function_call_output",
            "call_id": message.tool_call_id or "",
            "output": _output(message),
        }
    elif message.role == "assistant":
        yield from _reply_items(message, ids)
        yield from map(_call, message.tool_calls)
    else:
        content = forms_of(message.parts, message.role, _form)
        yield {"type": "message", "role": message.role, "content": content}


def _output(message: Message) -> str | list[dict[str, Any]]:
    if all(isinstance(part, Text | Refusal) for part in message.parts):
        return message.text
    return forms_of(message.parts, "tool", _form)


def _reply_items(message: Message, ids: _ServerIds) -> Iterator[dict[str, Any]]:
    """Texts and reasoning in their order; each run of texts is an item."""
    phase = (message.extra or {}).get("phase")
    content: list[dict[str, Any]] = []

    def reply() -> dict[str, Any]:
        return {
            "type": "message",
            **ids.of(message.id, "msg_"),
            "role": "assistant",
            "status": "completed",
            "content": content,
            **({"phase": phase} if isinstance(phase, str) else {}),
        }

    for part in _reasoning_before_its_reply(message):
        if not isinstance(part, Reasoning):
            content += forms_of([part], "assistant", _form)
            continue
        if content:
            yield reply()
            content = []
        for form in forms_of([part], "assistant", _form):
            yield {**form, **ids.of(part.id, "rs_")}
    if content:
        yield reply()


def _reasoning_before_its_reply(message: Message) -> list[Part]:
    parts = list(message.parts)
    if message.tool_calls or not parts or not isinstance(parts[-1], Reasoning):
        return parts
    return sorted(parts, key=lambda part: not isinstance(part, Reasoning))


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments or "{}",
    }
