"""`findings`: what a provider would refuse or misread in messages, and advice.

What is refused is what the projections would have to mend: the rules stand there, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from chatmem_lab.errors import ProjectionError
from chatmem_lab.messages import INSTRUCTION_ROLES, Message
from chatmem_lab.projections.anthropic import to_anthropic
from chatmem_lab.projections.chat import to_chat
from chatmem_lab.projections.repair import MENDS, Repair, quoted
from chatmem_lab.projections.responses import to_responses
from chatmem_lab.projections.source import Source, given_messages

__all__ = ["LONG_SYSTEM_CHARS", "TARGETS", "Finding", "Severity", "findings"]

Severity = Literal["refused", "misread", "advice"]

#: The APIs that messages can be held against.
TARGETS = ("chat", "responses", "anthropic")
#: A system prompt that is longer is sent, and paid, with every request.
LONG_SYSTEM_CHARS = 500


class Finding(Struct, frozen=True, gc=False, kw_only=True):
    """One thing that is wrong with messages, or could be better.

    Parameters
    ----------
    position : int or None
        The message's index in the list that was given; None for the whole.
    rule : str
    severity : {"refused", "misread", "advice"}
    what : str
        What is wrong.
    remedy : str
        What to do.
    """

    position: int | None
    rule: str
    severity: Severity
    what: str
    remedy: str


def findings(source: Source, target: str = "chat") -> list[Finding]:
    """What `target` would refuse or misread, in the order of the messages, and advice.

    Parameters
    ----------
    source : iterable of Message, or what has ``.messages``
    target : {"chat", "responses", "anthropic"}

    Raises
    ------
    ProjectionError
        For an unknown target.
    MessageError
        If it holds something else than messages.

    Examples
    --------
    >>> from chatmem_lab.messages import tool_output, user
    >>> for found in findings([user("hi"), tool_output("c9", "42")]):
    ...     print(found.position, found.rule, found.severity, found.remedy, sep=" | ")
    1 | orphan_result | refused | keep its call, or leave it out
    """
    if target not in TARGETS:
        raise ProjectionError(f"target must be one of {', '.join(TARGETS)}, not {target!r}")
    messages = given_messages(source).messages
    found = [
        *_refused(messages, target),
        *_instructions_in_the_middle(messages, target),
        *_repeated_ids(messages),
        *_same_role_twice(messages, target),
        *_first_role(messages, target),
        *_long_system(messages),
    ]
    return sorted(found, key=lambda one: -1 if one.position is None else one.position)


def _refused(messages: Sequence[Message], target: str) -> Iterator[Finding]:
    repairs: Iterable[Repair]
    if target == "anthropic":
        repairs = to_anthropic(messages, repair=True).repairs
    elif target == "responses":
        repairs = to_responses(messages, repair=True).repairs
    else:
        repairs = to_chat(messages, repair=True).repairs
    for repair in repairs:
        what = repair.text.removesuffix(f": {MENDS[repair.what].done}")
        yield Finding(
            position=repair.index if messages else None,
            rule=repair.what,
            severity="refused",
            what=what,
            remedy=_REMEDIES[repair.what],
        )


_SPELL = "rename it: letters, digits, _ and -, at most 64"
_REMEDIES = {
    "orphan_result": "keep its call, or leave it out",
    "unanswered_call": "keep its result, or leave the call out",
    "missing_call_id": "give each call an id, and its result the same",
    "repeated_call_id": "give each call of a message an id of its own",
    "bad_call_id": _SPELL,
    "long_call_id": "use ids of at most 64 characters",
    "bad_function_name": _SPELL,
    "bad_speaker_name": "rename the speaker: no blanks, at most 64 characters",
    "bad_arguments": "send arguments that are a JSON object",
    "unsendable_part": "leave the part out, or send it as text",
    "blank_message": "leave the message out",
    "lone_reasoning": "keep it with the reply that it led to, or leave it out",
    "starts_on_assistant": "start the window on a user message: start_on_user=True",
    "nothing_to_send": "send at least one user message",
}


def _instructions_in_the_middle(messages: Sequence[Message], target: str) -> Iterator[Finding]:
    first = next((i for i, m in enumerate(messages) if m.role not in INSTRUCTION_ROLES), None)
    for index, message in enumerate(messages):
        if first is not None and index > first and message.role in INSTRUCTION_ROLES:
            where = "apart, before all messages" if target == "anthropic" else "in front of all"
            yield Finding(
                position=index,
                rule="system_in_the_middle",
                severity="misread",
                what=f"message {index} is a {message.role} message behind others: it is sent "
                f"{where}, and the prefix changes",
                remedy="put instructions in front, or send this one as a user message",
            )


def _repeated_ids(messages: Sequence[Message]) -> Iterator[Finding]:
    """The same id in another message is legal, and misread by all that pair by id alone."""
    seen: dict[str, int] = {}
    for index, message in enumerate(messages):
        for id in dict.fromkeys(call.id for call in message.tool_calls):
            if id in seen:
                yield Finding(
                    position=index,
                    rule="repeated_id",
                    severity="advice",
                    what=f"messages {seen[id]} and {index} both make a call {quoted(id)}",
                    remedy="give each call of a session an id of its own",
                )
            seen[id] = index


def _same_role_twice(messages: Sequence[Message], target: str) -> Iterator[Finding]:
    if target != "anthropic":
        return
    before: str | None = None
    for index, message in enumerate(messages):
        if message.role in INSTRUCTION_ROLES:
            continue
        role = "user" if message.role == "tool" else message.role
        if role == before and message.role != "tool" and messages[index - 1].role == message.role:
            yield Finding(
                position=index,
                rule="same_role_twice",
                severity="advice",
                what=f"message {index} is a {role} message behind another: both become one turn",
                remedy="join them, if that is not meant",
            )
        before = role


def _first_role(messages: Sequence[Message], target: str) -> Iterator[Finding]:
    if target == "anthropic":
        return
    for index, message in enumerate(messages):
        if message.role in INSTRUCTION_ROLES:
            continue
        if message.role == "assistant" and message.summary is None:
            yield Finding(
                position=index,
                rule="starts_on_assistant",
                severity="misread",
                what=f"message {index} is the first after the instructions, and the assistant's: "
                "what it answers is gone",
                remedy=_REMEDIES["starts_on_assistant"],
            )
        return


def _long_system(messages: Sequence[Message]) -> Iterator[Finding]:
    for index, message in enumerate(messages):
        size = len(message.text)
        if message.role in INSTRUCTION_ROLES and size > LONG_SYSTEM_CHARS:
            yield Finding(
                position=index,
                rule="long_system",
                severity="advice",
                what=f"message {index} has {size:,} characters of instructions, which every "
                "request sends",
                remedy="shorten it, or keep it word for word in front, where a prompt cache "
                "serves it",
            )
