"""`Commit`: what one write appends to a session. A session is the list of its commits.

Messages are facts and are never changed; the window is kept as changes beside them, so
that no summarizer has to be called again to know what the model saw.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

from chatmem_lab.keeper import Event
from chatmem_lab.messages import Message
from chatmem_lab.window import State

__all__ = ["Change", "Commit", "Line", "Placed"]


class Placed(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A slot of a window, as it is stored.

    Parameters
    ----------
    order : float
        Its place in the window: slots are sent by rising order.
    position : int or None
        Its place in the history; None for a made message.
    state : {"kept", "cleared", "clamped", "made"}
    message : Message, optional
        What is sent; None where it is the history's own message, as it was added.
    """

    order: float
    position: int | None = None
    state: State = "kept"
    message: Message | None = None


class Change(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """What happened to the window beside that a message took its place at the end.

    Parameters
    ----------
    at : int
        How many messages the history had.
    left : tuple of float
        The orders of the slots that left.
    entered : tuple of Placed
        Those that entered.
    """

    at: int
    left: tuple[float, ...] = ()
    entered: tuple[Placed, ...] = ()


class Line(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A session's active line begins anew; the one before it stays as a branch.

    Parameters
    ----------
    kind : {"clear", "set", "restore", "fork", "forget"}
        "forget": what left the window is not kept, and what is left begins anew.
    window : tuple of Placed, optional
        The window that it begins with, over the commit's messages; None where those enter
        one after the other.
    given : int
        How many of its messages entered as they were given, whatever the rules say.
    """

    kind: Literal["clear", "set", "restore", "fork", "forget"]
    window: tuple[Placed, ...] | None = None
    given: int = 0


class Commit(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What one write appends.

    Parameters
    ----------
    messages : tuple of Message
        Numbered on from those of the active line.
    changes : tuple of Change
        In order.
    events : tuple of Event
    line : Line, optional
        Set where a new line begins: then `messages` are its first.
    created_at : datetime, optional
        When it was written.
    is_over : bool
        Whether the window was over the policy's limit, and an event has said so.
    was_asked : bool
        Whether a policy that waits for requests was asked about the window as it is.
    """

    messages: tuple[Message, ...] = ()
    changes: tuple[Change, ...] = ()
    events: tuple[Event, ...] = ()
    line: Line | None = None
    created_at: datetime | None = None
    is_over: bool = False
    was_asked: bool = False
