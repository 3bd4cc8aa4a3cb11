"""Hypothesis strategies: conversations as they come, in good order and in bad."""

from __future__ import annotations

import msgspec
from hypothesis import strategies as st

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

__all__ = ["conversations", "message_lists"]

_TEXTS = st.sampled_from(["ok", "ok", "", "yes", "42 pages", "order A-117", "a longer answer" * 3])
_IDS = st.sampled_from(["c1", "c2", "c3"])


@st.composite
def message_lists(draw: st.DrawFn, *, max_size: int = 40, tidy: bool = False) -> list[Message]:
    """Messages as recordings have them.

    Parallel calls, call ids that repeat, results that are missing, late or nobody's, system
    messages anywhere, blank and oversize messages, equal messages one after the other.

    Parameters
    ----------
    max_size : int
        About the most messages.
    tidy : bool
        Only what a live memory's own rules accept: no blank message, no orphan result.
    """
    messages: list[Message] = []
    kinds = ["user", "user", "assistant", "assistant", "calls", "calls", "system", "developer"]
    if not tidy:
        kinds += ["orphan", "few_shot", "reasoned"]
    least = draw(st.sampled_from([0, 1, max_size // 4, max_size // 2 - 2]))
    steps = draw(st.lists(st.sampled_from(kinds), min_size=max(least, 0), max_size=max_size // 2))
    for step in steps:
        text = draw(_TEXTS)
        if tidy and not text.strip():
            text = "hm"
        if step == "user":
            big = draw(st.integers(0, 9)) == 0
            images = ["https://example.org/a.png"] if draw(st.integers(0, 9)) == 0 else []
            messages.append(user(text * (40 if big else 1), images=images))
        elif step == "assistant":
            reply = assistant(text)
            if draw(st.integers(0, 4)) == 0:
                reply = msgspec.structs.replace(
                    reply, usage=Usage(output_tokens=7), model=draw(st.sampled_from("ab"))
                )
            messages.append(reply)
        elif step == "few_shot":
            messages.append(assistant(text, generated=False))
        elif step == "reasoned":
            from chatmem_lab.messages import Reasoning

            messages.append(Message("assistant", (Reasoning("hm", id="rs_1"),)))
        elif step == "system":
            messages.append(system(text or "be brief"))
        elif step == "developer":
            messages.append(developer(text or "be kind"))
        elif step == "orphan":
            messages.append(tool_output(draw(_IDS), text))
        else:
            messages.extend(draw(_call_group(tidy=tidy)))
    return messages


@st.composite
def _call_group(draw: st.DrawFn, *, tidy: bool) -> list[Message]:
    ids = draw(st.lists(_IDS, min_size=1, max_size=3, unique=draw(st.booleans()) or tidy))
    calls = [ToolCall(id, "look", '{"q": 1}') for id in ids]
    group = [assistant(draw(_TEXTS) or None, tool_calls=calls)]
    answered = draw(st.permutations(ids))
    if draw(st.integers(0, 3)) == 0:
        answered = answered[:-1]
    for id in answered:
        group.append(tool_output(id, draw(_TEXTS) * draw(st.sampled_from([1, 1, 1, 20]))))
    if not tidy and draw(st.integers(0, 5)) == 0:
        group.insert(draw(st.integers(1, len(group))), tool_output("c9", "nobody's"))
    return group


@st.composite
def conversations(draw: st.DrawFn, *, max_size: int = 40, tidy: bool = False) -> Conversation:
    """Conversations of `message_lists`, some with tool schemas."""
    tools = ({"type": "function", "function": {"name": "look"}},) if draw(st.booleans()) else ()
    messages = draw(message_lists(max_size=max_size, tidy=tidy))
    return Conversation("generated", tuple(messages), tools=tools)
