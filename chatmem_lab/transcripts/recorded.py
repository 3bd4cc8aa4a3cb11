"""Calls that `record` took down, a line per call, joined to conversations.

A line holds what was new in its call: the messages that no earlier call had sent or got, and
the reply. ``after`` names the call that it extends. So the calls of a file form trees: where
two extend the same one, the conversation has branches, and each is a conversation of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from chatmem_lab.messages import Conversation, Message
from chatmem_lab.transcripts.format import Format
from chatmem_lab.transcripts.json_text import explain, mend_surrogates
from chatmem_lab.transcripts.transcript import Line, Transcript

__all__ = ["RECORDED", "RecordedCall", "decode_call", "is_incomplete"]


class RecordedCall(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One call of a model.

    Parameters
    ----------
    recorded : int
        The version of this form: 1.
    id : str
    at : datetime
        When it was made.
    new : tuple of Message
        The messages that the call before did not have, the reply last.
    model : str, optional
        The model that was asked for.
    after : str, optional
        The call that it extends.
    instructions : int
        How many of `new` are instructions in front, which take the place of earlier ones.
    tools : tuple of dict, optional
        Their schemas; None for those of the call before.
    response, session : str, optional
        The server's own ids of the response, and of the conversation that it keeps.
    unknown : str, optional
        The server's id of what it extends, where that was not recorded.
    """

    recorded: Literal[1]
    id: str
    at: datetime
    new: tuple[Message, ...]
    model: str | None = None
    after: str | None = None
    instructions: int = 0
    tools: tuple[dict[str, Any], ...] | None = None
    response: str | None = None
    session: str | None = None
    unknown: str | None = None


decode_call = msgspec.json.Decoder(RecordedCall).decode


def is_incomplete(message: Message) -> bool:
    """Whether a reply broke off before its end.

    >>> is_incomplete(Message("assistant", metadata={"incomplete": True}))
    True
    """
    return bool((message.metadata or {}).get("incomplete"))


def _recognises(transcript: Transcript) -> bool:
    first = transcript.first
    return isinstance(first, dict) and "recorded" in first and "new" in first


def _read(transcript: Transcript) -> Iterator[Conversation]:
    calls: dict[str, RecordedCall] = {}
    for line in transcript.lines():
        for call in _calls(transcript, line):
            if call.id in calls:
                transcript.refuse(f"the call {call.id!r} was recorded before", line.number)
            elif not call.new or not 0 <= call.instructions < len(call.new):
                transcript.refuse("new must hold the instructions and a reply", line.number)
            else:
                if call.after is not None and call.after not in calls:
                    transcript.repair(
                        f"it extends the call {call.after!r}, which is not there: what that "
                        "one said is missing",
                        line.number,
                    )
                    call = replace(call, after=None)
                calls[call.id] = call
    yield from _Branches(calls).conversations(transcript.source)


def _calls(transcript: Transcript, line: Line) -> Iterator[RecordedCall]:
    # Without its line break, a line that is torn inside a text is seen to be torn.
    written = line.data.rstrip()
    data = mend_surrogates(written)
    if data != written:
        transcript.repair("half of a surrogate pair became U+FFFD", line.number)
    try:
        yield decode_call(data)
    except msgspec.ValidationError as wrong:
        transcript.refuse(f"is no recorded call: {wrong}", line.number)
    except (ValueError, RecursionError) as error:
        broken = explain(data, error)
        if broken.torn:
            # A process ended while it wrote; the next one began a new line.
            transcript.skip(f"the line is torn: it {broken.reason}", line.number)
            return
        for piece in transcript.rescue(line._replace(data=data), broken):
            yield from _calls(transcript, line._replace(data=piece))


class _Branches:
    """The trees that calls form; `calls` holds each after the one that it extends."""

    def __init__(self, calls: dict[str, RecordedCall]) -> None:
        self._calls = calls
        self._next = _next_calls(calls)
        going_on = set(self._next.values())
        #: The first calls of conversations: what another one does not go on with.
        self._starts = [id for id in calls if id not in going_on]

    def conversations(self, source: str | None) -> Iterator[Conversation]:
        conversation_of: dict[str, str] = {}
        for start in self._starts:
            own = [start]
            while own[-1] in self._next:
                own.append(self._next[own[-1]])
            conversation_of.update(dict.fromkeys(own, start))
            yield self._conversation(own, conversation_of, source)

    def _conversation(
        self, own: list[str], conversation_of: dict[str, str], source: str | None
    ) -> Conversation:
        first, last = self._calls[own[0]], self._calls[own[-1]]
        shared = [_made_elsewhere(message) for message in self._before(first)]
        extra: dict[str, Any] = {}
        if first.after is not None:
            extra = {"branch_of": conversation_of[first.after], "shared_messages": len(shared)}
        if first.unknown is not None:
            extra["continues"] = first.unknown
        return Conversation(
            first.id,
            (*shared, *(message for id in own for message in self._calls[id].new)),
            tools=self._tools(last),
            model=last.model,
            created_at=first.at,
            source=source,
            extra=extra or None,
        )

    def _back_from(self, call: RecordedCall) -> Iterator[RecordedCall]:
        """The call, the one that it extends, and so on."""
        yield call
        while call.after is not None:
            call = self._calls[call.after]
            yield call

    def _before(self, call: RecordedCall) -> list[Message]:
        _, *earlier = self._back_from(call)
        return [message for one in reversed(earlier) for message in one.new]

    def _tools(self, call: RecordedCall) -> tuple[dict[str, Any], ...]:
        declared = (one.tools for one in self._back_from(call))
        return next((tools for tools in declared if tools is not None), ())


def _next_calls(calls: dict[str, RecordedCall]) -> dict[str, str]:
    """The call that goes on with the conversation of another: the latest whole one."""
    found: dict[str, str] = {}
    for call in calls.values():
        if call.after is None:
            continue
        before = found.get(call.after)
        if (
            before is None
            or not is_incomplete(call.new[-1])
            or is_incomplete(calls[before].new[-1])
        ):
            found[call.after] = call.id
    return found


def _made_elsewhere(message: Message) -> Message:
    """A reply that another conversation counts is no request of this one."""
    return replace(message, generated=False) if message.role == "assistant" else message


RECORDED = Format(
    "recorded",
    "calls that chatmem_lab recorded: a line per call, joined to conversations",
    'a first line {"recorded":1,…} with what was new in a call',
    _recognises,
    _read,
)
