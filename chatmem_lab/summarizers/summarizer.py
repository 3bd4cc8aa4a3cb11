"""What a summarizer is asked, what it answers, and the protocol between them."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from msgspec import Struct

from chatmem_lab.messages import Message, Usage

__all__ = ["Summarizer", "Summary", "SummaryRequest"]


class SummaryRequest(Struct, frozen=True, gc=False, kw_only=True):
    """What is to be summarized.

    Parameters
    ----------
    session_id : str
    previous : str, optional
        The text of the summary so far; the new one replaces it.
    messages : tuple of Message
        The messages to fold, oldest first; never an earlier summary.
    max_tokens : int, optional
        The longest summary that will be accepted, in tokens.
    instructions : str
        What the user asks of every summary.
    """

    session_id: str = ""
    previous: str | None = None
    messages: tuple[Message, ...] = ()
    max_tokens: int | None = None
    instructions: str = ""


class Summary(Struct, frozen=True, gc=False, kw_only=True):
    """A summarizer's answer.

    Parameters
    ----------
    text : str or None
        None or blank is a failure: nothing changes.
    covered : int, optional
        How many of the request's messages, from the oldest, it stands for; None for all.
        A summarizer that could not read everything says so here.
    usage : Usage, optional
        What the call cost; None where it cost nothing that is billed.
    model : str, optional
    """

    text: str | None
    covered: int | None = None
    usage: Usage | None = None
    model: str | None = None


@runtime_checkable
class Summarizer(Protocol):
    """Anything with ``summarize(request) -> Summary``."""

    def summarize(self, request: SummaryRequest) -> Summary:
        """Summarize ``request.messages``, and ``request.previous`` where there is one."""
        ...
