"""What of a message can be sent: parts that have a form, messages that say something."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from chatmem_lab.messages import (
    INSTRUCTION_ROLES,
    Audio,
    File,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Role,
    Text,
)
from chatmem_lab.projections.pairing import Placed
from chatmem_lab.projections.repair import Repairs, quoted

__all__ = [
    "Form",
    "caption",
    "describe_part",
    "forms_of",
    "instructions_apart",
    "reasoning_with_reply",
    "says_something",
    "sendable",
]

#: An API's form of a part in a message of that role; None if it has none.
Form = Callable[[Part, Role], dict[str, Any] | None]


def sendable(placed: Iterable[Placed], form: Form, repairs: Repairs) -> list[Placed]:
    """The messages with the parts that have a form, without those that say nothing.

    Empty texts are left out, what a model spoke is sent as the text that it said.
    """
    sent: list[Placed] = []
    for index, message in placed:
        parts: list[Part] = []
        for part in message.parts:
            part = _spoken_text(part, message.role)
            if isinstance(part, Text | Refusal) and not part.text:
                continue
            if form(part, message.role) is None:
                wrong = (
                    f"holds {describe_part(part)}, which has no form in "
                    f"{'an' if message.role == 'assistant' else 'a'} {message.role} message"
                )
                repairs.needed("unsendable_part", index, wrong)
                continue
            parts.append(part)
        message = replace(message, parts=tuple(parts))
        if message.role == "tool" or message.tool_calls or any(map(says_something, parts)):
            sent.append(Placed(index, message))
        else:
            repairs.needed("blank_message", index, "says nothing")
    return sent


def forms_of(parts: Iterable[Part], role: Role, form: Form) -> list[dict[str, Any]]:
    """The forms of those parts that have one."""
    return [made for part in parts if (made := form(part, role)) is not None]


def reasoning_with_reply(placed: Iterable[Placed], repairs: Repairs) -> list[Placed]:
    """The messages without reasoning that no reply of the assistant's follows."""
    kept: list[Placed] = []
    reply_follows = False
    for index, message in reversed(list(placed)):
        if message.role != "assistant":
            reply_follows = False
        elif not _only_reasons(message):
            reply_follows = True
        elif not reply_follows:
            wrong = "holds reasoning, and no reply that it was for follows"
            repairs.needed("lone_reasoning", index, wrong)
            continue
        kept.append(Placed(index, message))
    return kept[::-1]


def instructions_apart(placed: Iterable[Placed]) -> tuple[list[Placed], list[Placed]]:
    """System and developer messages, and the others, each in order."""
    instructions: list[Placed] = []
    others: list[Placed] = []
    for at in placed:
        (instructions if at.message.role in INSTRUCTION_ROLES else others).append(at)
    return instructions, others


def describe_part(part: Part) -> str:
    """A part for an error's sentence.

    >>> describe_part(Opaque("video", "{}")), describe_part(Image("https://example.org/a.png"))
    ('a part of kind "video"', 'an image')
    """
    if isinstance(part, Opaque):
        return f"a part of kind {quoted(part.kind)}"
    if isinstance(part, Image):
        return "an image" if part.url.strip() else "an image without an address"
    if isinstance(part, File):
        if part.file_id:
            return "a file by its id"
        return f"a file by {quoted(part.url)}" if part.url else "a file without content"
    if isinstance(part, Audio):
        return f"audio of format {quoted(part.format)}" if part.format else "audio"
    return type(part).__name__.lower()


def says_something(part: Part) -> bool:
    """Whether it is more than blank text."""
    return not isinstance(part, Text | Refusal) or bool(part.text.strip())


def _spoken_text(part: Part, role: Role) -> Part:
    if isinstance(part, Audio) and role == "assistant" and part.transcript:
        return Text(part.transcript)
    return part


def _only_reasons(message: Message) -> bool:
    return not message.tool_calls and all(
        isinstance(part, Reasoning) or not says_something(part) for part in message.parts
    )


def caption(parts: Iterable[Part], result: Message) -> str:
    """What says where parts come from that cannot stand in their tool result.

    >>> from chatmem_lab.messages import Image, tool_output
    >>> caption([Image("https://example.org/a.png")], tool_output("c1", ""))
    'Image from tool call c1:'
    """
    kinds = {type(part).__name__ for part in parts}
    kind = kinds.pop() if len(kinds) == 1 else "Content"
    return f"{kind} from tool call {result.tool_call_id}:"
