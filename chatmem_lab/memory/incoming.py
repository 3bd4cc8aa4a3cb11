"""Messages at the door: checked, with whole characters, apart from the caller's own."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

import msgspec

from chatmem_lab.errors import MessageError
from chatmem_lab.html.text import cut
from chatmem_lab.memory.copies import apart
from chatmem_lab.messages import Message
from chatmem_lab.messages.surrogates import normalised, normalised_json
from chatmem_lab.messages.wellformed import check_kept, check_message, with_texts

__all__ = ["all_prepared", "prepared"]


def prepared(message: Message, session_id: str) -> Message:
    """`message` as it can be kept.

    Raises
    ------
    MessageError
        If it is no message, or holds what does not come back from JSON as it is.

    Warns
    -----
    UserWarning
        If a text held halves of surrogate pairs.
    """
    if not isinstance(message, Message):
        raise MessageError(
            f"a Message is wanted, not {type(message).__name__}: build one with "
            "cml.user, cml.assistant, cml.system or cml.tool_output"
        )
    check_message(message)
    check_kept(message)
    whole = _whole(message)
    if whole != message:
        warnings.warn(
            f"a {message.role} message for {cut(repr(session_id), 80)} held halves of "
            "surrogate pairs: lone ones became U+FFFD",
            UserWarning,
            stacklevel=4,
        )
    return apart(whole)


def all_prepared(messages: Iterable[Message], session_id: str) -> list[Message]:
    """The same for several.

    Raises
    ------
    MessageError
        Naming the message's index in the list.
    """
    if isinstance(messages, Message | str | Mapping) or not isinstance(messages, Iterable):
        raise MessageError(
            f"a list of messages is wanted, not {type(messages).__name__}: "
            "one message goes to add(message)"
        )
    ready: list[Message] = []
    for index, message in enumerate(messages):
        try:
            ready.append(prepared(message, session_id))
        except MessageError as refused:
            raise MessageError(f"messages[{index}]: {refused}") from None
    return ready


def _whole(message: Message) -> Message:
    """`message` without halves of surrogate pairs in any of its texts."""
    try:
        facts = {
            name: normalised_json(held)
            for name in ("metadata", "extra")
            if (held := getattr(message, name)) is not None
        }
    except ValueError as wrong:
        raise MessageError(str(wrong)) from None
    whole = with_texts(message, normalised)
    return msgspec.structs.replace(whole, **facts) if facts else whole
