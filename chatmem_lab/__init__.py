"""chatmem_lab: replay recorded conversations under chat-memory policies.

>>> import chatmem_lab as cml
>>> run = cml.replay(cml.datasets.load("support")[0], cml.TokenWindow(4_000), model="gpt-5")
>>> run.requests["input_tokens"].max() <= 4_000
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chatmem_lab import charts, datasets, metrics, testing
    from chatmem_lab.corpora import read, scan, write
    from chatmem_lab.memory import ChatMemory
    from chatmem_lab.messages import (
        Conversation,
        Message,
        ToolCall,
        Usage,
        assistant,
        developer,
        system,
        tool_output,
        user,
    )
    from chatmem_lab.policies import (
        ClearToolResults,
        KeepAll,
        Messages,
        MessageWindow,
        Policy,
        Preset,
        Rules,
        Share,
        Summarize,
        Tokens,
        TokenWindow,
        Turns,
        TurnWindow,
        chain,
        policy_from,
        presets,
    )
    from chatmem_lab.report import write_report
    from chatmem_lab.study import Replay, Study, compare, grid, replay
    from chatmem_lab.summarizers import (
        Summary,
        SummaryRequest,
        Truncate,
        summarizer_from,
    )
    from chatmem_lab.tokens import budget, counter
    from chatmem_lab.transcripts import formats
    from chatmem_lab.widgets import ReplayPlayer
    from chatmem_lab.window import KEEP, Insert, Revision, Window

#: Where each public name lives; it is loaded when it is first used.
_HOMES = {
    "chatmem_lab.corpora": ("read", "scan", "write"),
    "chatmem_lab.memory": ("ChatMemory",),
    "chatmem_lab.messages": (
        "Conversation",
        "Message",
        "ToolCall",
        "Usage",
        "assistant",
        "developer",
        "system",
        "tool_output",
        "user",
    ),
    "chatmem_lab.policies": (
        "ClearToolResults",
        "KeepAll",
        "MessageWindow",
        "Messages",
        "Policy",
        "Preset",
        "Rules",
        "Share",
        "Summarize",
        "TokenWindow",
        "Tokens",
        "TurnWindow",
        "Turns",
        "chain",
        "policy_from",
        "presets",
    ),
    "chatmem_lab.report": ("write_report",),
    "chatmem_lab.study": ("Replay", "Study", "compare", "grid", "replay"),
    "chatmem_lab.summarizers": ("Summary", "SummaryRequest", "Truncate", "summarizer_from"),
    "chatmem_lab.tokens": ("budget", "counter"),
    "chatmem_lab.transcripts": ("formats",),
    "chatmem_lab.widgets": ("ReplayPlayer",),
    "chatmem_lab.window": ("KEEP", "Insert", "Revision", "Window"),
    "chatmem_lab": ("charts", "datasets", "metrics", "testing"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'chatmem_lab' has no attribute {name!r}")
    if home == "chatmem_lab" or name == "presets":
        value = import_module(f"{home}.{name}")
    else:
        value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
