"""`Revision`: what a policy decides. The keeper checks and applies it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from chatmem_lab.messages import Message
from chatmem_lab.window.slot import Slot, Unit

__all__ = ["KEEP", "Insert", "Revision", "SummaryForm"]


class SummaryForm(Struct, frozen=True, kw_only=True):
    """How a summary enters the window.

    Parameters
    ----------
    role : {"assistant", "user", "system"}
    place : {"first", "last", "front"}
        At the place of the first or the last folded message, or before everything else.
    prefix : str
        Put in front of the summarizer's text.
    max_tokens : int, optional
        A longer summary is a failed one.
    instructions : str
        Handed to the summarizer.
    fields : tuple of str
        The summary is a list of these; what it says of none of them keeps what was said
        before, and one that has none of them is a failed one.
    """

    role: Literal["assistant", "user", "system"] = "assistant"
    place: Literal["first", "last", "front"] = "first"
    prefix: str = ""
    max_tokens: int | None = None
    instructions: str = ""
    fields: tuple[str, ...] = ()


class Insert(Struct, frozen=True, eq=False):
    """A made message that enters before `before`, or at the end."""

    message: Message
    before: Unit | None = None


class Revision(Struct, frozen=True, eq=False, kw_only=True):
    """A policy's decision about one window.

    Parameters
    ----------
    evict : tuple of Unit
        Units that leave.
    replace : mapping of Slot to Message
        Slots that stay with other content; skipped where that is not strictly smaller.
    replaced_as : {"clear", "clamp"}
        Whether the content of replaced slots became a stub, or was cut.
    fold : tuple of Unit
        Units that leave with a summary in their place.
    by : Summarizer, optional
        Makes that summary, and those of `shorten`; the keeper calls it.
    form : SummaryForm
        How that summary enters.
    shorten : tuple of Slot
        Slots that stay where they are with a summary as their content.
    insert : tuple of Insert
        Made messages that enter.
    repaired : tuple of Unit
        Units that a user's function would have torn apart, and that were kept whole.
    reason : str
        Why, in a few words.
    summarizer_input_tokens, summarizer_output_tokens : int
        What model calls cost that another framework's policy made itself.
    failure : str
        What another framework's policy raised; nothing changes then.
    """

    evict: tuple[Unit, ...] = ()
    replace: Mapping[Slot, Message] = {}
    replaced_as: Literal["clear", "clamp"] = "clear"
    fold: tuple[Unit, ...] = ()
    by: object = None
    form: SummaryForm = SummaryForm()
    shorten: tuple[Slot, ...] = ()
    insert: tuple[Insert, ...] = ()
    repaired: tuple[Unit, ...] = ()
    reason: str = ""
    summarizer_input_tokens: int = 0
    summarizer_output_tokens: int = 0
    failure: str = ""


#: No change.
KEEP = Revision()
