"""SWE-agent's trajectories: a ``.traj`` object or a YAML demonstration with `history`.

A conversation per agent. What is not modelled goes to `extra`, the steps of `trajectory` without
the history that newer files repeat in each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from chatmem_lab.messages import Conversation, Message
from chatmem_lab.transcripts.chat_message import ChatMessages
from chatmem_lab.transcripts.fields import WrongField, of_type
from chatmem_lab.transcripts.format import Format
from chatmem_lab.transcripts.transcript import Transcript

__all__ = ["SWE_AGENT"]


def _recognises(transcript: Transcript) -> bool:
    first = transcript.first
    if not isinstance(first, dict) or not isinstance(first.get("history"), list):
        return False
    return all(
        isinstance(entry, dict) and isinstance(entry.get("role"), str)
        for entry in first["history"][:20]
    )


def _read(transcript: Transcript) -> Iterator[Conversation]:
    for line, record in transcript.records():
        try:
            yield from _conversations(record, transcript, line)
        except WrongField as wrong:
            transcript.refuse(str(wrong), line)


def _conversations(record: Any, transcript: Transcript, line: int | None) -> list[Conversation]:
    rest = dict(of_type(record, dict, ""))
    history = of_type(rest.pop("history", None), list, "history")
    if isinstance(rest.get("trajectory"), list):
        rest["trajectory"] = [_step(step) for step in rest["trajectory"]]
    converters: dict[str | None, ChatMessages] = {}
    messages: dict[str | None, list[Message]] = {}
    for i, entry in enumerate(history):
        try:
            agent = of_type(entry, dict, "").get("agent")
            agent = agent if isinstance(agent, str) else None
            if agent not in converters:
                converters[agent] = ChatMessages(lambda what: transcript.repair(what, line))
                messages[agent] = []
            messages[agent].append(_message(entry, converters[agent]))
        except WrongField as wrong:
            raise wrong.under(f"history[{i}]") from None
    several = len(messages) > 1
    return [
        Conversation(
            f"{transcript.stem}/{agent or 'unnamed'}" if several else transcript.stem,
            tuple(said),
            source=transcript.source,
            metadata={"agent": agent} if agent is not None else None,
            extra=rest or None,
        )
        for agent, said in (messages or {None: []}).items()
    ]


def _message(entry: dict[str, Any], convert: ChatMessages) -> Message:
    record = dict(entry)
    ids = record.pop("tool_call_ids", None)
    if ids is not None:
        ids = of_type(ids, list, "tool_call_ids")
        for i, id in enumerate(ids):
            of_type(id, str, f"tool_call_ids[{i}]")
        if len(ids) > 1:
            record["tool_call_ids"] = ids
        if ids:
            record.setdefault("tool_call_id", ids[0])
    message = convert(record)
    shown = record.get("is_demo") is True or record.get("message_type") == "demonstration"
    # No model made a demonstration in this conversation.
    return replace(message, generated=False) if shown and message.role == "assistant" else message


def _step(step: Any) -> Any:
    if not isinstance(step, dict):
        return step
    return {key: value for key, value in step.items() if key not in ("query", "messages")}


SWE_AGENT = Format(
    "swe_agent",
    "SWE-agent trajectories (.traj) and YAML demonstrations, from their history",
    "an object with history, a list of entries with a role",
    _recognises,
    _read,
)
