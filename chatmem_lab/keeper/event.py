"""`Event`: what happened to a window."""

from __future__ import annotations

from msgspec import Struct

from chatmem_lab.messages import Message

__all__ = ["Event"]


class Event(Struct, frozen=True, gc=False, kw_only=True):
    """What happened to a window.

    Parameters
    ----------
    kind : str
        evict, clear, clamp, fold, insert, return, repair, summarize_failed, over_budget,
        system_replaced; of another framework's own policy also summarize (it called a
        model) and policy_failed (it raised an error).
    position : int
        The newest message's position when it happened; −1 before the first.
    request : int
        The first request that shows it.
    stage : int
        Which stage of a chain decided; 0 for a single policy.
    units : tuple of tuple of int
        The positions concerned, unit by unit; empty for a made message.
    messages : int
        How many messages are concerned.
    tokens_before, tokens_after : int
        Of the whole window.
    summarizer_input_tokens, summarizer_output_tokens : int
        What the summarizer was charged for it.
    source_tokens : int
        The tokens of the folded messages.
    made : Message, optional
        The message that entered.
    reason : str
    """

    kind: str
    position: int
    request: int
    stage: int = 0
    units: tuple[tuple[int, ...], ...] = ()
    messages: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    summarizer_input_tokens: int = 0
    summarizer_output_tokens: int = 0
    source_tokens: int = 0
    made: Message | None = None
    reason: str = ""
