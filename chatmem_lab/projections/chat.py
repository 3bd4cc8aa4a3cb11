"""`to_chat`: messages as OpenAI's Chat Completions take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from chatmem_lab.messages import (
    Audio,
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
from chatmem_lab.projections.content import caption, forms_of, instructions_apart, sendable
from chatmem_lab.projections.pairing import CallIds, Placed, paired
from chatmem_lab.projections.repair import ProjectedList, Repairs
from chatmem_lab.projections.source import Source, given_messages

__all__ = ["ChatInput", "chat_call", "to_chat"]

_SOUNDS = ("wav", "mp3")


class ChatInput(ProjectedList):
    """The `messages` of a Chat Completions request."""


def to_chat(source: Source, *, repair: bool = False) -> ChatInput:
    """What OpenAI's Chat Completions take as `messages`.

    System and developer messages stand in front, in order. Reasoning is never sent there.
    Images, files and sound of tool results go into a user message after the last result.

    Parameters
    ----------
    source : Message, iterable of Message, or what has ``.messages``
        One message alone gives the list of what it becomes; its neighbours are not missed.
    repair : bool
        Mend what the API would refuse, and report it.

    Returns
    -------
    ChatInput
        A list of dicts; `repairs` holds what was mended.

    Raises
    ------
    ProjectionError
        If the API would refuse the messages, without `repair`.
    MessageError
        If `source` holds no messages.

    Examples
    --------
    >>> from chatmem_lab.messages import assistant, tool_output, user
    >>> to_chat([user("What is the fee?"), assistant("It is 4 euros.")])
    [{'role': 'user', 'content': 'What is the fee?'}, \
{'role': 'assistant', 'content': 'It is 4 euros.'}]

    >>> lost = [user("What is the fee?"), tool_output("c9", "4 euros")]
    >>> to_chat(lost)
    Traceback (most recent call last):
    ...
    chatmem_lab.errors.ProjectionError: Chat Completions would refuse this: message 1 is a \
result for call "c9", which is not open there. repair=True leaves it out.
    >>> mended = to_chat(lost, repair=True)
    >>> len(mended), mended.repairs[0].what
    (1, 'orphan_result')
    """
    given = given_messages(source)
    repairs = Repairs("Chat Completions", repair)
    placed = paired(given, repairs, CallIds(repairs))
    placed = sendable(_without_reasoning(placed), _form, repairs)
    instructions, others = instructions_apart(placed)
    return ChatInput(_chat_messages([*instructions, *others]), repairs.made)


def chat_call(call: ToolCall) -> dict[str, Any]:
    """A tool call; its arguments are the raw text.

    >>> chat_call(ToolCall("c1", "now"))["function"]
    {'name': 'now', 'arguments': '{}'}
    """
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}


def _without_reasoning(placed: Iterable[Placed]) -> Iterator[Placed]:
    for index, message in placed:
        parts = tuple(part for part in message.parts if not isinstance(part, Reasoning))
        if len(parts) == len(message.parts):
            yield Placed(index, message)
        elif not (without := replace(message, parts=parts)).is_blank:
            yield Placed(index, without)


def _form(part: Part, role: Role) -> dict[str, Any] | None:
    if isinstance(part, Text | Refusal):
        return {"type": "text", "text": part.text}
    if role not in ("user", "tool"):
        return None
    if isinstance(part, Image) and part.url.strip():
        detail = {"detail": part.detail} if part.detail else {}
        return {"type": "image_url", "image_url": {"url": part.url, **detail}}
    if isinstance(part, Audio) and part.format in _SOUNDS:
        return {"type": "input_audio", "input_audio": {"data": part.data, "format": part.format}}
    if isinstance(part, File):
        return _file(part)
    return None


def _file(file: File) -> dict[str, Any] | None:
    if file.file_id:
        content = {"file_id": file.file_id}
    elif file.url and file.url.startswith("data:"):
        content = {"file_data": file.url}
    else:
        return None
    name = {"filename": file.name} if file.name else {}
    return {"type": "file", "file": {**name, **content}}


def _chat_messages(placed: Iterable[Placed]) -> Iterator[dict[str, Any]]:
    beside_results: list[dict[str, Any]] = []
    for _, message in placed:
        if message.role == "tool":
            yield _result(message)
            beside_results += _beside_result(message)
            continue
        if beside_results:
            yield {"role": "user", "content": beside_results}
            beside_results = []
        yield _assistant(message) if message.role == "assistant" else _instruction_or_user(message)
    if beside_results:
        yield {"role": "user", "content": beside_results}


def _result(message: Message) -> dict[str, Any]:
    texts = [part for part in message.parts if isinstance(part, Text | Refusal)]
    return {
        "role": "tool",
        "tool_call_id": message.tool_call_id or "",
        "content": _content(texts, "tool"),
    }


def _beside_result(message: Message) -> list[dict[str, Any]]:
    """What a tool message cannot hold, under a line that says where it comes from."""
    parts = [part for part in message.parts if not isinstance(part, Text | Refusal)]
    if not parts:
        return []
    label = {"type": "text", "text": caption(parts, message)}
    return [label, *forms_of(parts, "user", _form)]


def _instruction_or_user(message: Message) -> dict[str, Any]:
    return {
        "role": message.role,
        **_name(message),
        "content": _content(message.parts, message.role),
    }


def _assistant(message: Message) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": "assistant", **_name(message)}
    texts = [part for part in message.parts if isinstance(part, Text)]
    refusals = [part.text for part in message.parts if isinstance(part, Refusal)]
    if texts or not message.tool_calls:
        sent["content"] = _content(texts, "assistant") or None
    if refusals:
        sent["refusal"] = "\n".join(refusals)
    if message.tool_calls:
        sent["tool_calls"] = [chat_call(call) for call in message.tool_calls]
    return sent


def _name(message: Message) -> dict[str, str]:
    return {"name": message.name} if message.name else {}


def _content(parts: Iterable[Part], role: Role) -> str | list[dict[str, Any]]:
    forms = forms_of(parts, role, _form)
    if not forms:
        return ""
    if len(forms) == 1 and forms[0]["type"] == "text":
        return str(forms[0]["text"])
    return forms
