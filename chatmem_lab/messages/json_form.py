"""Messages as JSON, by the rule of every export.

A lone surrogate becomes U+FFFD, with a warning; NUL is kept; a number that JSON does not
have is a named error with its path.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import msgspec

from chatmem_lab.errors import ChatMemLabError, MessageError
from chatmem_lab.html.text import cut
from chatmem_lab.messages.message import Message
from chatmem_lab.messages.surrogates import normalised_json
from chatmem_lab.messages.wellformed import check_message, find_not_finite

__all__ = ["decode_json", "encode_json", "from_json", "to_json"]


class _StrictMessage(Message, frozen=True, gc=False, forbid_unknown_fields=True):
    """A message without other fields: a misspelt one must not vanish."""


def to_json(messages: Message | Iterable[Message]) -> str:
    """One message, or a list of them, as JSON text; `from_json` reads it back.

    Parameters
    ----------
    messages : Message or iterable of Message

    Raises
    ------
    MessageError
        For what is no message, or a number that JSON cannot hold, with its path.

    Warns
    -----
    UserWarning
        If a text held halves of surrogate pairs.

    Examples
    --------
    >>> from chatmem_lab.messages import user
    >>> to_json(user("hi"))
    '{"role":"user","parts":[{"type":"text","text":"hi"}]}'
    >>> from_json(to_json([user("hi")])) == (user("hi"),)
    True
    """
    if isinstance(messages, Message):
        check_message(messages)
        return encode_json(messages, "this message").decode()
    if isinstance(messages, str | bytes | dict) or not isinstance(messages, Iterable):
        raise MessageError(f"a Message or a list of them is wanted, not {type(messages).__name__}")
    listed = list(messages)
    for index, message in enumerate(listed):
        if not isinstance(message, Message):
            raise MessageError(f"messages[{index}] must be a Message, not {_shown(message)}")
        try:
            check_message(message)
        except MessageError as wrong:
            raise MessageError(f"messages[{index}]: {wrong}") from None
    return encode_json(listed, "this list").decode()


def from_json(text: str | bytes) -> Message | tuple[Message, ...]:
    """The message, or the tuple of messages, that `to_json` wrote.

    Raises
    ------
    MessageError
        For text that is no JSON, or JSON that is no message, with the path.

    Examples
    --------
    >>> from_json('{"role":"user","parts":[{"type":"text","text":"hi"}]}').text
    'hi'
    """
    is_list = isinstance(text, str | bytes) and text.lstrip()[:1] in ("[", b"[")
    wanted = tuple[_StrictMessage, ...] if is_list else _StrictMessage
    decoded = decode_json(text, wanted, "a message or a list of them")
    messages = tuple(_plain(message) for message in (decoded if is_list else (decoded,)))
    for index, message in enumerate(messages):
        try:
            check_message(message)
        except MessageError as wrong:
            raise MessageError(f"messages[{index}]: {wrong}" if is_list else str(wrong)) from None
    return messages if is_list else messages[0]


def _plain(message: Message) -> Message:
    return Message(*msgspec.structs.astuple(message))


def encode_json(value: Any, what: str, error: type[ChatMemLabError] = MessageError) -> bytes:
    """`value` as JSON, by the rule of every export; `what` names it where it cannot be.

    Raises
    ------
    ChatMemLabError
        Of the class `error`.
    """
    try:
        plain = msgspec.to_builtins(value)
        wrong = find_not_finite(plain, "")
        if wrong is not None:
            raise error(f"{what}: {wrong.lstrip('.')} is no number that JSON can hold: use None")
        try:
            return msgspec.json.encode(plain)
        except UnicodeEncodeError:
            warnings.warn(
                f"{what}: halves of surrogate pairs became U+FFFD", UserWarning, stacklevel=3
            )
            return msgspec.json.encode(normalised_json(plain))
    except (TypeError, ValueError, RecursionError) as unfit:
        if isinstance(unfit, ChatMemLabError):
            raise
        raise error(f"{what} holds what JSON cannot hold: {unfit}") from None


def decode_json(
    text: str | bytes, wanted: Any, what: str, error: type[ChatMemLabError] = MessageError
) -> Any:
    """The value of type `wanted` that `text` holds; `what` says what was wanted.

    Raises
    ------
    ChatMemLabError
        Of the class `error`.
    """
    if not isinstance(text, str | bytes):
        raise error(f"JSON text is wanted, a str or bytes, not {type(text).__name__}")
    try:
        return msgspec.json.decode(text, type=wanted)
    except (ValueError, RecursionError) as wrong:
        raise error(f"this is not {what} as JSON: {cut(str(wrong), 300)}") from None


def _shown(value: object) -> str:
    return cut(repr(value), 80)
