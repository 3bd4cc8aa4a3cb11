"""What a projection is given: messages, or what holds them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from chatmem_lab.errors import MessageError
from chatmem_lab.messages import Message
from chatmem_lab.messages.surrogates import normalised
from chatmem_lab.messages.wellformed import check_message, with_texts

__all__ = ["Given", "HasMessages", "Source", "given_messages"]


class HasMessages(Protocol):
    """A memory, a window, a conversation."""

    @property
    def messages(self) -> Iterable[Message]:
        """In order."""


Source = Message | Iterable[Message] | HasMessages


class Given(NamedTuple):
    """The messages; `alone` if it was a single one, whose neighbours are not known."""

    messages: list[Message]
    alone: bool


def given_messages(source: Source) -> Given:
    """Every message that is given, checked, without lone surrogates.

    Raises
    ------
    MessageError
        If it is something else.

    Examples
    --------
    >>> from chatmem_lab.messages import user
    >>> given_messages(user("hi")).alone, given_messages([user("hi")]).alone
    (True, False)
    """
    if isinstance(source, Message):
        return Given(_checked([source]), alone=True)
    held = getattr(source, "messages", source)
    if isinstance(held, str | bytes | Mapping) or not isinstance(held, Iterable):
        raise MessageError(
            "a Message, a list of Message, or what has messages (a memory, a window, "
            f"a conversation) was expected, not {type(source).__name__}: "
            "user(), assistant() and tool_output() make messages"
        )
    return Given(_checked(list(held)), alone=False)


def _checked(messages: list[Message]) -> list[Message]:
    whole: list[Message] = []
    for index, message in enumerate(messages):
        if not isinstance(message, Message):
            raise MessageError(
                f"messages[{index}] is no Message but {type(message).__name__}: "
                "user(), assistant() and tool_output() make messages"
            )
        try:
            check_message(message)
        except MessageError as error:
            raise MessageError(f"messages[{index}]: {error}") from None
        whole.append(with_texts(message, normalised))
    changed = [index for index, new in enumerate(whole) if new is not messages[index]]
    if changed:
        warnings.warn(
            f"lone surrogates are sent as U+FFFD (messages {', '.join(map(str, changed[:5]))}"
            f"{', …' if len(changed) > 5 else ''}): no API takes them",
            UserWarning,
            stacklevel=4,
        )
    return whole
