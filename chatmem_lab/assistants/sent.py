"""What a request sends, as values: its messages, instructions and tools, and nothing secret."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from chatmem_lab.assistants.replies import reply_from_response
from chatmem_lab.messages import INSTRUCTION_ROLES, Message
from chatmem_lab.messages.surrogates import normalised
from chatmem_lab.messages.wellformed import with_texts
from chatmem_lab.transcripts.chat_message import ChatMessages

__all__ = ["Sent", "sent_to_chat", "sent_to_responses"]


@dataclass(frozen=True)
class Sent:
    """The request of one call.

    Parameters
    ----------
    model : str, optional
    instructions : tuple of Message
        The system and developer messages in front.
    messages : tuple of Message
        The others; if the server keeps the conversation, only those that it does not have.
    tools : tuple of dict
        As in Chat Completions.
    previous, session : str, optional
        The server's ids of the response, or of the conversation, that it goes on from.
    """

    model: str | None
    instructions: tuple[Message, ...]
    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...] = ()
    previous: str | None = None
    session: str | None = None


def sent_to_chat(request: Mapping[str, Any]) -> Sent:
    """The arguments of ``chat.completions.create``.

    >>> sent = sent_to_chat({"model": "gpt-5", "messages": [
    ...     {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello."}]})
    >>> [m.text for m in sent.instructions], [m.text for m in sent.messages]
    (['Be brief.'], ['Hello.'])
    """
    convert = ChatMessages(_is_no_news)
    messages = [_as_sent(convert(_plain(one))) for one in request["messages"]]
    others = next((i for i, m in enumerate(messages) if m.role not in INSTRUCTION_ROLES), None)
    functions = _listed(request.get("functions"))
    tools = [*_listed(request.get("tools")), *({"function": one} for one in functions)]
    return Sent(
        _text(request.get("model")),
        tuple(messages[:others]),
        tuple(messages[others:] if others is not None else ()),
        tuple(map(_tool, tools)),
    )


def sent_to_responses(request: Mapping[str, Any]) -> Sent:
    """The arguments of ``responses.create``.

    >>> sent = sent_to_responses({"input": "Hello.", "instructions": "Be brief."})
    >>> [m.text for m in sent.instructions], [m.text for m in sent.messages]
    (['Be brief.'], ['Hello.'])
    """
    given = request.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else _listed(given)
    said = _text(request.get("instructions"))
    first = [{"role": "system", "content": said}] if said else []
    previous = _text(request.get("previous_response_id"))
    kept = _plain(request.get("conversation"))
    session = _text(kept.get("id") if isinstance(kept, Mapping) else kept)
    messages = [_as_sent(message) for message in _messages_of([*first, *items])]
    stop = len(first)
    if previous is None and session is None:
        while stop < len(messages) and messages[stop].role in INSTRUCTION_ROLES:
            stop += 1
    return Sent(
        _text(request.get("model")),
        tuple(messages[:stop]),
        tuple(messages[stop:]),
        tuple(map(_tool, _listed(request.get("tools")))),
        previous,
        session,
    )


def _messages_of(items: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
    """Messages of Responses' items: what a model said in one go is one message."""
    convert = ChatMessages(_is_no_news)
    said: list[dict[str, Any]] = []
    for item in items:
        kind = item.get("type", "message")
        role = item.get("role")
        is_output = kind.endswith("_output")
        if kind == "item_reference":
            continue
        if not is_output and (kind != "message" or role == "assistant"):
            said.append(_said_item(item, kind))
            continue
        if said:
            yield reply_from_response({"output": said})
            said = []
        if is_output:
            answered = {"role": "tool", "tool_call_id": item.get("call_id")}
            yield convert({**answered, "content": _content(item.get("output"))})
        else:
            yield convert({"role": role, "content": _content(item.get("content"))})
    if said:
        yield reply_from_response({"output": said})


def _said_item(item: Mapping[str, Any], kind: str) -> dict[str, Any]:
    content = item.get("content")
    if isinstance(content, str):
        return {**item, "type": kind, "content": [{"type": "output_text", "text": content}]}
    return {**item, "type": kind}


def _content(content: Any) -> Any:
    """Content of an item as Chat Completions write it."""
    if not isinstance(content, list):
        return content
    return [_chat_part(part) if isinstance(part, Mapping) else part for part in content]


def _chat_part(part: Mapping[str, Any]) -> dict[str, Any]:
    kind = part.get("type")
    if kind in ("input_text", "output_text"):
        return {"type": "text", "text": part.get("text")}
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        image = {"url": part["image_url"], "detail": part.get("detail")}
        return {"type": "image_url", "image_url": image}
    if kind == "input_file" and "file_url" not in part:
        return {"type": "file", "file": {k: v for k, v in part.items() if k != "type"}}
    return dict(part)


def _as_sent(message: Message) -> Message:
    """What the server gets, with no fact that the reply's own record holds."""
    return replace(
        with_texts(message, normalised),
        generated=message.role != "assistant",
        id=None,
        created_at=None,
        model=None,
        usage=None,
        finish_reason=None,
        extra=None,
    )


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's schema; of a tool that the server runs only its kind, for it may hold a secret."""
    kind = tool.get("type", "function")
    if kind not in ("function", "custom"):
        return {"type": kind}
    inner = tool.get(kind, tool)
    names = ("name", "description", "parameters", "strict", "format")
    return {"type": kind, kind: {name: inner[name] for name in names if name in inner}}


def _listed(value: Any) -> list[Any]:
    """The items of a list; none where it was not given."""
    given = _plain(value)
    return given if isinstance(given, list) else []


def _plain(value: Any) -> Any:
    """The client's own objects as what they stand for, at any depth."""
    if hasattr(value, "to_dict"):
        return value.to_dict(mode="json", warnings=False)
    if isinstance(value, Mapping):
        return {key: _plain(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(child) for child in value]
    return value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _is_no_news(repair: str) -> None:
    """How the reader of files mends a record says nothing about a request."""
