"""What the rules refuse of a message that is added to a live session."""

from __future__ import annotations

from chatmem_lab.errors import MessageError
from chatmem_lab.html.text import cut
from chatmem_lab.messages import Message, Segmenter
from chatmem_lab.policies import Rules

__all__ = ["check_admission"]


def check_admission(message: Message, rules: Rules, segmenter: Segmenter) -> None:
    """Refuse a blank message, and a result that answers no open call, where the rules do.

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
        open_calls = ", ".join(map(repr, segmenter.open_calls)) or "none"
        raise MessageError(
            f"tool result for {cut(repr(message.tool_call_id), 80)}, but no open call has that "
            f"id (open calls: {cut(open_calls, 400)}): add the assistant message that makes the "
            "call first"
        )
