"""SWE-agent trajectories: `.traj` files, and demonstrations in YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Conversation, Message
from chatmem_lab.transcripts.document import Document
from chatmem_lab.transcripts.openai_chat import ROLES, ChatReader

__all__ = ["description", "name", "read", "recognises"]

name = "swe-agent"
description = "SWE-agent trajectories: the history of each agent, JSON or YAML"

_YAML_HISTORY = re.compile(rb"^history:", re.MULTILINE)
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def recognises(document: Document) -> bool:
    """Whether it is an object with a history of messages."""
    value = document.whole
    if value is None and document.data.lstrip()[:1] not in (b"{", b"["):
        return _YAML_HISTORY.search(document.data) is not None
    if not isinstance(value, dict):
        return False
    history = value.get("history")
    return isinstance(history, list) and all(
        isinstance(m, dict) and m.get("role") in ROLES for m in history
    )


def read(document: Document) -> Iterator[Conversation]:
    """A conversation per agent; demonstrations are not generated in it."""
    value = _value(document)
    history = value.get("history") if isinstance(value, dict) else None
    if not isinstance(history, list):
        raise TranscriptError("history must be a list of messages", source=document.source)
    readers: dict[str, ChatReader] = {}
    agents: dict[str, list[Message]] = {}
    for index, record in enumerate(history):
        agent = str(record.get("agent") or "main") if isinstance(record, dict) else "main"
        reader = readers.setdefault(agent, ChatReader(document.source))
        agents.setdefault(agent, []).append(_message(reader, record, f"history[{index}]"))
    rest = {key: child for key, child in value.items() if key != "history"} or None
    for agent, messages in agents.items():
        id = document.stem if len(agents) == 1 else f"{document.stem}/{agent}"
        yield Conversation(id, tuple(messages), source=document.source, extra=rest)


def _message(reader: ChatReader, record: Any, path: str) -> Message:
    is_demonstration = isinstance(record, dict) and bool(
        record.get("is_demo") or record.get("message_type") == "demonstration"
    )
    message = reader.message(record, path, generated=not is_demonstration)
    ids = record.get("tool_call_ids")
    if message.role == "tool" and message.tool_call_id is None and isinstance(ids, list) and ids:
        return msgspec.structs.replace(message, tool_call_id=str(ids[0]))
    return message


def _value(document: Document) -> Any:
    if document.data.lstrip()[:1] in (b"{", b"["):
        return document.value()
    try:
        return yaml.load(document.data, Loader=_Loader)  # a safe loader: plain values only
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else None
        raise TranscriptError(
            f"broken YAML: {getattr(error, 'problem', error)}", source=document.source, line=line
        ) from None
    except (RecursionError, ValueError) as error:
        raise TranscriptError(f"broken YAML: {error}", source=document.source) from None
