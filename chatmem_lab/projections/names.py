"""Names that an API takes: of functions that are called, of those who speak."""

from __future__ import annotations

import re

from msgspec.structs import replace

from chatmem_lab.messages import Message, ToolCall
from chatmem_lab.projections.repair import Repairs, quoted

__all__ = ["LONGEST_NAME", "with_function_name", "with_speaker_name"]

LONGEST_NAME = 64

_NOT_OF_A_FUNCTION = re.compile("[^a-zA-Z0-9_-]")
_NOT_OF_A_SPEAKER = re.compile(r"[\s<|\\/>]")


def with_function_name(index: int, call: ToolCall, repairs: Repairs) -> ToolCall:
    """The call, made by message `index`, of a function whose name an API takes.

    >>> with_function_name(0, ToolCall("c1", "shop.find"), Repairs("", True)).name
    'shop_find'
    """
    name = _spelt(call.name, _NOT_OF_A_FUNCTION) or "unnamed"
    if name == call.name:
        return call
    wrong = (
        f"makes call {quoted(call.id)} of a function named {quoted(call.name)}: a name has 1 to "
        f"{LONGEST_NAME} letters, digits, _ and -"
    )
    repairs.needed("bad_function_name", index, wrong, call.id)
    return replace(call, name=name)


def with_speaker_name(index: int, message: Message, repairs: Repairs) -> Message:
    """Message `index`, with a speaker's name that an API takes.

    >>> with_speaker_name(0, Message("user", name="Ada Lovelace"), Repairs("", True)).name
    'Ada_Lovelace'
    """
    if not message.name or message.role == "tool":
        return message
    name = _spelt(message.name, _NOT_OF_A_SPEAKER)
    if name == message.name:
        return message
    wrong = (
        f"is spoken by {quoted(message.name)}: a name has at most {LONGEST_NAME} characters, "
        "no blanks and none of < | \\ / >"
    )
    repairs.needed("bad_speaker_name", index, wrong)
    return replace(message, name=name)


def _spelt(name: str, refused: re.Pattern[str]) -> str:
    return refused.sub("_", name)[:LONGEST_NAME]
