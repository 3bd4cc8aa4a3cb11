"""Short ways to replay a few messages, and to say what is in a window."""

from __future__ import annotations

from chatmem_lab.engine import Layout, replay_stepwise, trace_policy
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import Conversation, ToolCall, assistant, system, tool_output, user
from chatmem_lab.testing.length_counter import LengthCounter


def calls(*ids, text=None, name="read"):
    return assistant(text, tool_calls=[ToolCall(id, name, "{}") for id in ids])


def chat(letters):
    """``"sua"`` is a system, a user and an assistant message, each with its place as text."""
    make = {"s": system, "u": user, "a": assistant}
    return [make[letter](str(place)) for place, letter in enumerate(letters)]


def trace_of(messages, policy, counter=None):
    conversation = Conversation("short", tuple(messages))
    return trace_policy(Layout(conversation, counter or LengthCounter()), policy)


def stepwise(messages, policy, counter=None):
    conversation = Conversation("short", tuple(messages))
    return replay_stepwise(Layout(conversation, counter or LengthCounter()), policy, model=None)


def kept(messages, policy, counter=None):
    """The positions in the final window, the same replayed and live; None for a made one."""
    held = [s.position for s in trace_of(messages, policy, counter).window(-1).slots]
    memory = ChatMemory(policy, id="live", counter=counter or LengthCounter())
    memory.add_all(messages)
    assert [slot.position for slot in memory.window.slots] == held
    return held


__all__ = ["calls", "chat", "kept", "stepwise", "tool_output", "trace_of"]
