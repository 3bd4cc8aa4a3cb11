"""`to_anthropic`: messages as Anthropic's Messages API takes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from chatmem_lab.messages import (
    INSTRUCTION_ROLES,
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
from chatmem_lab.projections.arguments import arguments_object
from chatmem_lab.projections.content import (
    caption,
    forms_of,
    instructions_apart,
    reasoning_with_reply,
    says_something,
    sendable,
)
from chatmem_lab.projections.pairing import CallIds, Placed, paired
from chatmem_lab.projections.repair import Repair, Repairs, quoted
from chatmem_lab.projections.source import Source, given_messages

__all__ = ["BEGINS_EARLIER", "SILENT_ERROR", "AnthropicInput", "to_anthropic"]

#: What stands before a conversation whose first message is the assistant's.
BEGINS_EARLIER = "(the conversation begins earlier)"

#: What a result says that reports an error and has no text.
SILENT_ERROR = "(the tool failed without a message)"

_DATA_URL = re.compile(r"data:([^;,]+)(?:;[^;,]+)*;base64,", re.IGNORECASE)


class AnthropicInput(dict[str, Any]):
    """`system` (where there is any) and `messages`, with `repairs`: what had to be mended."""

    def __init__(
        self,
        system: str,
        messages: list[dict[str, Any]],
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        super().__init__({"system": system} if system else {}, messages=messages)
        self.repairs = repairs


def to_anthropic(source: Source, *, repair: bool = False) -> AnthropicInput:
    """What Anthropic's Messages API takes: ``client.messages.create(**to_anthropic(memory))``.

    System and developer messages become `system`; user and assistant take turns, results
    stand first in the user's. A summary that stands first is text of the first user message.
    Reasoning is sent where it is sealed. A call id that was used before gets a number: there
    an id stands for one call.

    Parameters
    ----------
    source : Message, iterable of Message, or what has ``.messages``
        One message alone gives what it becomes; its neighbours are not missed.
    repair : bool
        Mend what the API would refuse, and report it.

    Returns
    -------
    AnthropicInput
        A dict; `repairs` holds what was mended.

    Raises
    ------
    ProjectionError
        If the API would refuse the messages, without `repair`.
    MessageError
        If `source` holds no messages.

    Examples
    --------
    >>> from chatmem_lab.messages import system, user
    >>> to_anthropic([system("Be brief."), user("Hi!")])
    {'system': 'Be brief.', 'messages': \
[{'role': 'user', 'content': [{'type': 'text', 'text': 'Hi!'}]}]}
    """
    given = given_messages(source)
    repairs = Repairs("Anthropic", repair)
    ids = CallIds(repairs, spell=_spelt, once=True)
    placed = sendable(paired(given, repairs, ids), _form, repairs)
    if not given.alone:
        placed = reasoning_with_reply(placed, repairs)
    instructions, others = instructions_apart(placed)
    if not given.alone:
        others = _starting_on_user(others, repairs)
    system = "\n\n".join(message.text for _, message in instructions)
    return AnthropicInput(system, _taking_turns(others, repairs), repairs.made)


def _spelt(id: str) -> str:
    return re.sub("[^a-zA-Z0-9_-]", "_", id)


def _starting_on_user(placed: list[Placed], repairs: Repairs) -> list[Placed]:
    started: list[Placed] = []
    for at in placed:
        if at.message.summary is None or at.message.kind not in ("user", "assistant"):
            break
        started.append(Placed(at.position, replace(at.message, role="user")))
    rest = placed[len(started) :]
    if not started and rest and rest[0].message.role == "assistant":
        index = rest[0].position
        wrong = "is an assistant's, and the first must be a user's"
        repairs.needed("starts_on_assistant", index, wrong)
        started.append(Placed(index, Message("user", (Text(BEGINS_EARLIER),))))
    return [*started, *rest]


def _taking_turns(placed: Iterable[Placed], repairs: Repairs) -> list[dict[str, Any]]:
    """Neighbours of one role are one message."""
    turns: list[dict[str, Any]] = []
    for index, message in placed:
        blocks = _blocks(index, message, repairs)
        role = "assistant" if message.role == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    for turn in turns:
        turn["content"].sort(key=lambda block: block["type"] == "tool_result", reverse=True)
    return turns


def _blocks(index: int, message: Message, repairs: Repairs) -> list[dict[str, Any]]:
    if message.role == "tool":
        return _error(message) if message.is_error else [_result(message, message.parts)]
    reasoning_first = sorted(message.parts, key=lambda part: not isinstance(part, Reasoning))
    calls = [_call(index, call, repairs) for call in message.tool_calls]
    return _forms(reasoning_first, message.role) + calls


def _error(message: Message) -> list[dict[str, Any]]:
    """Anthropic refuses an error that says nothing, or holds more than text."""
    texts = [part for part in message.parts if isinstance(part, Text | Refusal)]
    others = [part for part in message.parts if not isinstance(part, Text | Refusal)]
    if not any(part.text.strip() for part in texts):
        texts = [Text(SILENT_ERROR)]
    beside = [Text(caption(others, message)), *others] if others else []
    return [{**_result(message, texts), "is_error": True}, *_forms(beside, "tool")]


def _result(message: Message, parts: Iterable[Part]) -> dict[str, Any]:
    blocks = _forms(parts, "tool")
    only_text = len(blocks) == 1 and blocks[0]["type"] == "text"
    return {
        "type": "tool_result",
        "tool_use_id": message.tool_call_id or "",
        "content": blocks[0]["text"] if only_text else blocks or "",
    }


def _call(index: int, call: ToolCall, repairs: Repairs) -> dict[str, Any]:
    arguments = arguments_object(call.arguments)
    if arguments is None:
        wrong = f"makes call {quoted(call.id)} with arguments that are no JSON object"
        repairs.needed("bad_arguments", index, wrong, call.id)
        arguments = {}
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _form(part: Part, role: Role) -> dict[str, Any] | None:
    if isinstance(part, Text | Refusal):
        return {"type": "text", "text": part.text}
    if isinstance(part, Reasoning):
        return _thinking(part) if role == "assistant" else None
    if role in INSTRUCTION_ROLES or role == "assistant":
        return None
    if isinstance(part, Image):
        return _with_source("image", part.url)
    if isinstance(part, File) and (block := _with_source("document", part.url or "")):
        return {**block, "title": part.name} if part.name else block
    return None


def _thinking(reasoning: Reasoning) -> dict[str, Any]:
    return {
        "type": "thinking",
        "thinking": reasoning.text,
        "signature": reasoning.signature,
    }


def _with_source(kind: str, url: str) -> dict[str, Any] | None:
    if not url.startswith("data:"):
        return {"type": kind, "source": {"type": "url", "url": url}} if url.strip() else None
    head = _DATA_URL.match(url)
    if head is None:
        return None
    source = {"type": "base64", "media_type": head[1].lower(), "data": url[head.end() :]}
    return {"type": kind, "source": source}


def _forms(parts: Iterable[Part], role: Role) -> list[dict[str, Any]]:
    """Blocks, without what Anthropic refuses to be sent back: blank text, unsealed reasoning."""
    sent = (
        part
        for part in parts
        if (part.signature if isinstance(part, Reasoning) else says_something(part))
    )
    return forms_of(sent, role, _form)
