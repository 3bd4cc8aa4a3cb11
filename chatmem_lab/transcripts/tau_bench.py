"""tau-bench results: a list of runs, each with a trajectory of OpenAI Chat messages."""

from __future__ import annotations

from collections.abc import Iterator

from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Conversation
from chatmem_lab.transcripts.document import Document
from chatmem_lab.transcripts.openai_chat import ChatReader

__all__ = ["description", "name", "read", "recognises"]

name = "tau-bench"
description = "tau-bench results: task_id, trial, reward, info and traj for each run"

_KNOWN = ("task_id", "trial", "reward", "traj")


def recognises(document: Document) -> bool:
    """Whether it is a list of objects with a task and a trajectory."""
    runs = document.whole
    return (
        isinstance(runs, list)
        and bool(runs)
        and all(isinstance(r, dict) and "task_id" in r and "traj" in r for r in runs)
    )


def read(document: Document) -> Iterator[Conversation]:
    """A conversation per run; task, trial and reward are its metadata, all else `extra`."""
    runs = document.value()
    if not isinstance(runs, list):
        raise TranscriptError("a list of runs is wanted", source=document.source)
    for index, run in enumerate(runs):
        reader = ChatReader(document.source)
        if not isinstance(run, dict) or not isinstance(run.get("traj"), list):
            raise reader.error(f"[{index}].traj", "a list of messages", run)
        yield Conversation(
            f"task-{run.get('task_id')}/trial-{run.get('trial', 0)}",
            tuple(
                reader.message(message, f"[{index}].traj[{i}]")
                for i, message in enumerate(run["traj"])
            ),
            source=document.source,
            metadata={key: run[key] for key in ("task_id", "trial", "reward") if key in run},
            extra={key: value for key, value in run.items() if key not in _KNOWN} or None,
        )
