"""What the rules refuse of a message that is added to a live session."""

from __future__ import annotations

from collections.abc import Sequence

from chatmem_lab.errors import BudgetError, MessageError
from chatmem_lab.html.text import cut
from chatmem_lab.messages import Message, Segmenter
from chatmem_lab.policies import Rules
from chatmem_lab.policies.limits import over_budget_reason
from chatmem_lab.tokens import Count
from chatmem_lab.window import Window

__all__ = ["check_admission", "check_size", "size_excess"]


def check_admission(
    message: Message, rules: Rules, segmenter: Segmenter, history: Sequence[Message]
) -> None:
    """Refuse, where the rules do, what says nothing, answers no call or makes one twice.

    Raises
    ------
    MessageError
    """
    if message.is_blank and rules.blank == "error":
        raise MessageError(
            f"this {message.role} message says nothing: it needs text, an image, a tool "
            "call or, for a tool result, the id of its call"
        )
    if message.role == "tool" and rules.orphan == "error" and not segmenter.answers(message):
        raise MessageError(_why_orphan(message, segmenter, history))
    ids = [call.id for call in message.tool_calls]
    if rules.duplicate_call == "error" and len(set(ids)) < len(ids):
        twice = next(id for index, id in enumerate(ids) if id in ids[:index])
        raise MessageError(
            f"this message makes two calls with the id {cut(repr(twice), 80)}: their results "
            "could not be told apart, give each call an id of its own"
        )


def _why_orphan(message: Message, segmenter: Segmenter, history: Sequence[Message]) -> str:
    id = message.tool_call_id
    result = f"tool result for {cut(repr(id), 80)}"
    open_calls = ", ".join(map(repr, segmenter.open_calls)) or "none"
    made = next((i for i in reversed(range(len(history))) if id in _call_ids(history[i])), None)
    if made is None or not id:
        return (
            f"{result}, but no open call has that id (open calls: {cut(open_calls, 400)}): add "
            "the assistant message that makes the call first"
        )
    after = made + 1
    while after < len(history) and history[after].role == "tool":
        if history[after].tool_call_id == id:
            return f"{result}, but message {after} is its result already: a call has one"
        after += 1
    return (
        f"{result}, but message {after}, of role {history[after].role}, came before it and "
        f"closed the calls of message {made}: add all results before anything else"
    )


def _call_ids(message: Message) -> set[str]:
    return {call.id for call in message.tool_calls}


def size_excess(count: Count, window: Window) -> str | None:
    """Why a message alone exceeds the window's budget, with the parts of the sum, or None."""
    if window.budget is None:
        return None
    parts = [
        ("this message", count.tokens),
        ("tool schemas", window.tool_schema_tokens),
        ("reply priming", window.overhead_tokens),
    ]
    if sum(tokens for _, tokens in parts) <= window.budget:
        return None
    return over_budget_reason(window.budget, [part for part in parts if part[1]])


def check_size(count: Count, window: Window) -> None:
    """Refuse a message that alone exceeds the window's budget.

    Raises
    ------
    BudgetError
    """
    why = size_excess(count, window)
    if why is not None:
        raise BudgetError(why)
