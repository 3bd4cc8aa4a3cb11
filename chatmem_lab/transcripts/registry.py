"""All formats, and which one a transcript has."""

from __future__ import annotations

from difflib import get_close_matches

from chatmem_lab.errors import TranscriptError
from chatmem_lab.transcripts.format import Format
from chatmem_lab.transcripts.openai_chat import OPENAI_CHAT
from chatmem_lab.transcripts.own import OWN
from chatmem_lab.transcripts.recorded import RECORDED
from chatmem_lab.transcripts.swe_agent import SWE_AGENT
from chatmem_lab.transcripts.tau_bench import TAU_BENCH
from chatmem_lab.transcripts.transcript import Transcript, Unrecognised

__all__ = ["FORMATS", "detect", "format_named", "formats"]

#: A new format is added here, and nowhere else.
FORMATS: tuple[Format, ...] = (OPENAI_CHAT, OWN, RECORDED, SWE_AGENT, TAU_BENCH)


def formats() -> dict[str, str]:
    """The formats that can be read: name → what has it.

    >>> for name, description in formats().items():
    ...     print(f"{name}: {description}")
    openai_chat: OpenAI's chat messages: a list, an object with messages, or JSONL of either
    own: chatmem_lab's own JSONL: a header line per conversation, then a line per message
    recorded: calls that chatmem_lab recorded: a line per call, joined to conversations
    swe_agent: SWE-agent trajectories (.traj) and YAML demonstrations, from their history
    tau_bench: tau-bench results: a list of runs, each with its messages in traj
    """
    return {format.name: format.description for format in FORMATS}


def format_named(name: str) -> Format:
    """The format of that name."""
    for format in FORMATS:
        if format.name == name:
            return format
    known = [format.name for format in FORMATS]
    near = get_close_matches(str(name), known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise TranscriptError(f"there is no format {name!r}.{hint} There are: {', '.join(known)}")


def detect(transcript: Transcript) -> Format:
    """The one format whose content this is."""
    found = [format for format in FORMATS if format.recognises(transcript)]
    if len(found) == 1:
        return found[0]
    if found:
        names = " and ".join(format.name for format in found)
        raise TranscriptError(
            f"could be {names}: say which with format={found[0].name!r}", source=transcript.name
        )
    sought = "; ".join(f"{format.name}: {format.looks_for}" for format in FORMATS)
    raise Unrecognised(f"has no format that is known. Looked for {sought}", source=transcript.name)
