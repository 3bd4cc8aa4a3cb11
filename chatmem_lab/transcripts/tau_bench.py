"""tau-bench results: a list of runs ``{task_id, reward, info, traj, trial}``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chatmem_lab.messages import Conversation
from chatmem_lab.transcripts.fields import WrongField, of_type
from chatmem_lab.transcripts.format import Format
from chatmem_lab.transcripts.openai_chat import messages_of
from chatmem_lab.transcripts.transcript import Transcript

__all__ = ["TAU_BENCH"]


def _is_run(value: Any) -> bool:
    return isinstance(value, dict) and "task_id" in value and isinstance(value.get("traj"), list)


def _recognises(transcript: Transcript) -> bool:
    first = transcript.first
    return _is_run(first[0] if isinstance(first, list) and first else first)


def _read(transcript: Transcript) -> Iterator[Conversation]:
    for line, record in transcript.records():
        listed = isinstance(record, list)
        for i, run in enumerate(record if listed else [record]):
            try:
                yield _conversation(run, transcript, line)
            except WrongField as wrong:
                transcript.refuse(str(wrong.under(f"[{i}]") if listed else wrong), line)


def _conversation(run: Any, transcript: Transcript, line: int | None) -> Conversation:
    rest = dict(of_type(run, dict, ""))
    records = of_type(rest.pop("traj", None), list, "traj")
    try:
        messages = messages_of(records, transcript, line)
    except WrongField as wrong:
        raise wrong.under("traj") from None
    metadata = {key: rest.pop(key) for key in ("task_id", "trial", "reward") if key in rest}
    id = f"task-{metadata.get('task_id')}"
    if "trial" in metadata:
        id += f"/trial-{metadata['trial']}"
    return Conversation(
        id,
        tuple(messages),
        source=transcript.source,
        metadata=metadata or None,
        extra=rest or None,
    )


TAU_BENCH = Format(
    "tau_bench",
    "tau-bench results: a list of runs, each with its messages in traj",
    "objects with task_id and traj",
    _recognises,
    _read,
)
