"""`ChatMemory`: an append-only history, and the window that a policy leaves."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from chatmem_lab.errors import BudgetError, MessageError
from chatmem_lab.html.text import cut
from chatmem_lab.keeper import Event, Keeper
from chatmem_lab.messages import (
    Conversation,
    Message,
    ToolCall,
    assistant,
    system,
    tool_output,
    user,
)
from chatmem_lab.messages.wellformed import check_message, with_texts
from chatmem_lab.policies import KeepAll, Policy, Preset
from chatmem_lab.tokens import TokenCounter, default_counter
from chatmem_lab.tokens import counter as counter_for
from chatmem_lab.tokens.encodings import normalised
from chatmem_lab.window import OwnedWindow, Window

__all__ = ["ChatMemory"]


class ChatMemory:
    """A chat memory: facts are added, a policy decides what the model still sees.

    Parameters
    ----------
    policy : Policy or Preset
    id : str, int or UUID
        The session's id; two ids never share anything. It is kept as text: 1 and "1" are
        one id.
    model : str, optional
        Whose tokens are counted. Without one, o200k_base, and every count is an estimate.
    counter : TokenCounter, optional
        Counts instead of the model's own counter.
    tools : sequence of dict
        Tool schemas, sent with every request.

    Examples
    --------
    >>> from chatmem_lab.policies import MessageWindow
    >>> memory = ChatMemory(MessageWindow(2), id="user-42")
    >>> memory.add_system("You are a librarian.")
    >>> memory.add_user("Who wrote Emma?")
    >>> memory.add_assistant("Jane Austen.")
    >>> memory.add_user("When?")
    >>> [message.text for message in memory.messages]
    ['You are a librarian.', 'Jane Austen.', 'When?']
    >>> len(memory.history)
    4
    """

    def __init__(
        self,
        policy: Policy | Preset | None = None,
        *,
        id: str | int | UUID,
        model: str | None = None,
        counter: TokenCounter | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.id = _checked_id(id)
        self.model = model
        self.policy = KeepAll() if policy is None else policy
        self._tools = tuple(copy.deepcopy(dict(tool)) for tool in tools)
        if counter is None:
            counter = counter_for(model) if model is not None else default_counter()
        self.counter = counter
        self._history: list[Message] = []
        self._keeper = Keeper(self.policy, counter, session_id=self.id, tools=self._tools)

    # --- adding

    def add(self, message: Message) -> None:
        """Add one message.

        Raises
        ------
        MessageError
            If it is no message, or the memory's rules refuse it; then nothing has changed.

        Warns
        -----
        UserWarning
            If a text held halves of surrogate pairs, which no API takes and no file holds.
        """
        if not isinstance(message, Message):
            raise MessageError(
                f"a Message is wanted, not {type(message).__name__}: build one with "
                "cml.user, cml.assistant, cml.system or cml.tool_output"
            )
        check_message(message)
        given, message = message, with_texts(message, _whole)
        self._keeper.check(message)
        if self._keeper.is_ignored(message):
            return
        if message is not given:
            warnings.warn(
                f"a {message.role} message for {cut(repr(self.id), 80)} held halves of "
                "surrogate pairs: lone ones became U+FFFD",
                UserWarning,
                stacklevel=2,
            )
        message = _apart(message)
        count = self.counter.count_message(message)
        position = len(self._history)
        if message.role == "assistant" and message.generated:
            self._keeper.before_request()
            self._keeper.request += 1
        self._history.append(message)
        self._keeper.add(message, count, position)

    def add_all(self, messages: Iterable[Message]) -> None:
        """Add several messages, each as `add` does."""
        for message in messages:
            self.add(message)

    def add_system(self, text: str) -> None:
        """Add a system message; one with the same text as the current one is ignored."""
        self.add(system(text))

    def add_user(
        self,
        text: str | None = None,
        *,
        images: Iterable[str | Path | bytes] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a user message."""
        self.add(user(text, images=images, metadata=metadata))

    def add_assistant(
        self, text: str | None = None, *, tool_calls: Iterable[ToolCall] = ()
    ) -> None:
        """Add an assistant message: text, tool calls, or both."""
        self.add(assistant(text, tool_calls=tool_calls))

    def add_tool_output(self, call_id: str, output: str, *, is_error: bool = False) -> None:
        """Add the result of a tool call that is still open."""
        self.add(tool_output(call_id, output, is_error=is_error))

    # --- reading

    @property
    def window(self) -> Window:
        """What the model sees now, as it stays; draws itself in a notebook."""
        window = self._current().copy(apart=_apart)
        window.absent_messages = len(self._history) - sum(
            slot.position is not None for slot in window.slots
        )
        return window

    def _current(self) -> OwnedWindow:
        self._keeper.before_request()
        return self._keeper.window

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that the model sees now."""
        return tuple(map(_apart, self._current().messages))

    @property
    def history(self) -> tuple[Message, ...]:
        """Every message that was ever added."""
        return tuple(map(_apart, self._history))

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The tool schemas that go with every request."""
        return copy.deepcopy(self._tools)

    @property
    def tokens(self) -> int:
        """What a request would hold now, in tokens: messages, tool schemas, overhead."""
        return self._current().tokens

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened to the window, oldest first."""
        return tuple(self._keeper.events)

    def request(self) -> tuple[Message, ...]:
        """The messages to send now.

        Raises
        ------
        BudgetError
            If the messages that must stay exceed the policy's budget, with the parts of
            the sum. The history is not affected.
        """
        window = self._current()
        for stage in self._keeper.policy.stages:
            why = stage.excess(window) if stage.budget is not None else None
            if why is not None:
                raise BudgetError(why)
        return tuple(map(_apart, window.messages))

    def conversation(self) -> Conversation:
        """The history as a conversation that can be replayed."""
        return Conversation(self.id, self.history, tools=self.tools, model=self.model)

    def __len__(self) -> int:
        return len(self._history)

    def __repr__(self) -> str:
        return f"<ChatMemory {cut(repr(self.id), 80)}, {self.policy!r}, {len(self)} messages>"


def _checked_id(id: object) -> str:
    if isinstance(id, str | int | UUID) and not isinstance(id, bool) and str(id).strip():
        return str(id)
    raise MessageError(
        f"an id is required: a str that is not blank, an int or a UUID, not {cut(repr(id), 80)}"
    )


def _whole(text: str) -> str:
    return text if text.isascii() else normalised(text)


def _apart(message: Message) -> Message:
    """The same message with facts of its own: what holds dicts is never handed on."""
    if message.metadata is None and message.extra is None:
        return message
    return msgspec.structs.replace(
        message, metadata=copy.deepcopy(message.metadata), extra=copy.deepcopy(message.extra)
    )
