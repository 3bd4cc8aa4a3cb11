"""`Conversation`: a recorded conversation, whole and unchanging."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any

from msgspec import Struct

from chatmem_lab.messages.message import Message
from chatmem_lab.messages.units import find_units

__all__ = ["Conversation", "RecordedEvent"]


class RecordedEvent(Struct, frozen=True, gc=False, omit_defaults=True):
    """What the recording system itself did to its context (a compaction, a clearing).

    `position` is the number of messages in the history when it happened, `made` the message
    that entered. ``extra["positions"]`` lists the messages concerned; without it, all before
    `position` are. See `policies.AsRecorded`.
    """

    position: int
    kind: str
    tokens_before: int | None = None
    tokens_after: int | None = None
    made: Message | None = None
    extra: dict[str, Any] | None = None


class Conversation(Struct, frozen=True, dict=True, omit_defaults=True):
    """A recorded conversation: messages in order, tools, model, where it came from.

    Parameters
    ----------
    id : str
    messages : tuple of Message
    tools : tuple of dict
        Tool schemas as in OpenAI's Chat Completions.
    model : str, optional
        The model that the recording used.
    created_at : datetime, optional
    source : str, optional
        The transcript that it was read from.
    recorded_events : tuple of RecordedEvent
    metadata, extra : dict, optional

    Examples
    --------
    >>> from chatmem_lab.messages import assistant, user
    >>> conversation = Conversation("greeting", (user("hi"), assistant("Hello!")))
    >>> conversation.units, conversation.turns, conversation.requests
    ([range(0, 1), range(1, 2)], [range(0, 2)], [1])
    """

    id: str
    messages: tuple[Message, ...] = ()
    tools: tuple[dict[str, Any], ...] = ()
    model: str | None = None
    created_at: datetime | None = None
    source: str | None = None
    recorded_events: tuple[RecordedEvent, ...] = ()
    metadata: dict[str, Any] | None = None
    extra: dict[str, Any] | None = None

    def __len__(self) -> int:
        return len(self.messages)

    @cached_property
    def units(self) -> list[range]:
        """Positions that stay or leave together, in order."""
        return find_units(self.messages)

    @cached_property
    def turns(self) -> list[range]:
        """A user message and all that follows until the next one.

        What stands before the first user message belongs to no turn.
        """
        starts = [i for i, message in enumerate(self.messages) if message.role == "user"]
        return [
            range(start, stop)
            for start, stop in zip(starts, [*starts[1:], len(self.messages)][: len(starts)])
        ]

    @cached_property
    def requests(self) -> list[int]:
        """Positions of the generated assistant messages: a request is the point just before."""
        return [
            i
            for i, message in enumerate(self.messages)
            if message.role == "assistant" and message.generated
        ]

    def _repr_html_(self) -> str:
        from chatmem_lab.html.conversation import conversation_html

        return conversation_html(
            self.id,
            [(message.kind, message.text, message.tool_calls) for message in self.messages],
            requests=len(self.requests),
            turns=len(self.turns),
            model=self.model,
            source=self.source,
            tools=len(self.tools),
        )
