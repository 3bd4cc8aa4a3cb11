"""Presets beside the frameworks that they take over: the same windows at every request."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import chatmem_lab as cml
from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.messages import Conversation, Message
from chatmem_lab.policies import Preset, split_preset
from chatmem_lab.summarizers import Summary, SummaryRequest
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.tokens import counter

__all__ = ["Numbered", "assert_same_windows", "real_conversations", "sent", "shown"]

ROOT = Path(__file__).resolve().parent.parent.parent
BESIDE = ROOT.parent / "shared" / "transcripts"


@cache
def real_conversations() -> tuple[Conversation, ...]:
    """Tool-calling and plain conversations: tau-bench, SWE-agent, the bundled ones.

    The first two lie beside the project; where they are missing, the bundled ones remain.
    """
    folder = Path(os.environ.get("CHATMEM_LAB_TRANSCRIPTS", BESIDE))
    found: list[Conversation] = []
    if folder.is_dir():
        for path in sorted((folder / "tau-bench").rglob("*.json"))[:2]:
            found.extend(cml.read(path)[::25])
        for path in sorted((folder / "swe-agent").rglob("*.traj"))[:3]:
            found.extend(cml.read(path))
    for name in cml.datasets.list():
        found.extend(cml.datasets.load(name))
    return tuple(found)


def shown(
    conversation: Conversation, policy, *, count=None, gives_up: str = ""
) -> list[list[tuple[object, ...]]]:
    """What each request sends under `policy`: of each message role, text, calls, answered id.

    No framework may fail, unless with the error `gives_up` where nothing more can leave.
    """
    layout = Layout(conversation, count or LengthCounter())
    trace = replay_stepwise(layout, policy, model=None)
    failed = [
        event.reason
        for event in trace.events
        if event.kind == "policy_failed" and not (gives_up and gives_up in event.reason)
    ]
    assert not failed, f"{policy!r} failed on {conversation.id}: {failed[0]}"
    return [
        [sent(message) for message in trace.window(request).messages]
        for request in range(trace.requests)
    ]


def assert_same_windows(
    conversation: Conversation, preset, adapter, *, count=None, gives_up: str = ""
) -> int:
    """Both send the same at every request; the preset's rules hold for both.

    Returns
    -------
    int
        At how many requests the window was not the whole history: a comparison in which
        nothing ever leaves proves nothing.
    """
    _, rules = split_preset(preset)
    ours = shown(conversation, preset, count=count)
    theirs = shown(conversation, Preset(adapter, rules), count=count, gives_up=gives_up)
    touched = 0
    for request, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        assert mine == other, _difference(conversation, request, mine, other)
        whole = [sent(m) for m in conversation.messages[: conversation.requests[request]]]
        touched += mine != whole
    return touched


class Numbered:
    """A summarizer whose answers say the how many-th they are; it keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[SummaryRequest] = []

    def summarize(self, request: SummaryRequest) -> Summary:
        self.requests.append(request)
        return Summary(text=f"summary number {len(self.requests)}")


def openai_counter():
    """The real tokenizer, for presets that count tokens."""
    return counter("gpt-4o")


def sent(message: Message) -> tuple[object, ...]:
    calls = tuple((call.id, call.name, call.arguments) for call in message.tool_calls)
    return message.role, message.text, calls, message.tool_call_id


def _difference(conversation, request, mine, other) -> str:
    at = next(
        (i for i, pair in enumerate(zip(mine, other)) if pair[0] != pair[1]),
        min(len(mine), len(other)),
    )
    return (
        f"{conversation.id}, request {request}: {len(mine)} messages here, {len(other)} there; "
        f"the first that differs is {at}:\n  here  {str(mine[at : at + 1])[:400]}"
        f"\n  there {str(other[at : at + 1])[:400]}"
    )
