"""`session_html`: a stored session as a static picture; what a browser of sessions shows."""

from __future__ import annotations

from datetime import datetime

from chatmem_lab.html.numbers import plural
from chatmem_lab.html.style import caption, figure, heading
from chatmem_lab.html.text import cut
from chatmem_lab.memory import ChatMemories, SessionInfo
from chatmem_lab.messages import Conversation

__all__ = ["branch_html", "session_html"]


def session_html(memories: ChatMemories, id: str) -> str:
    """When the session was written, what the model sees of it, and its history.

    Parameters
    ----------
    memories : ChatMemories
    id : str

    Returns
    -------
    str
        Escaped HTML without a script.

    Examples
    --------
    >>> from chatmem_lab.stores import MemoryStore
    >>> memories = ChatMemories(store=MemoryStore())
    >>> memories["<ann>"].add_user("hi")
    >>> html = session_html(memories, "<ann>")
    >>> "Session &lt;ann&gt;" in html, "<ann>" in html
    (True, False)
    """
    info = memories.info(id)
    if not info.version:
        gone = caption("There is no such session: deleted, expired, or never begun.")
        return figure(heading(f"Session {cut(id, 120)}"), gone, styled=False)
    head = figure(heading(f"Session {cut(id, 120)}", note=_note(info)), styled=False)
    if not info.messages:
        empty = caption("Its active line is empty; what was there is a branch.")
        return head + figure(empty, styled=False)
    return head + memories.peek(id).window._repr_html_() + memories.conversation(id)._repr_html_()


def branch_html(id: str, branch: Conversation) -> str:
    """A line that the session left."""
    title = f"Session {cut(id, 120)}"
    return figure(heading(title, note="a branch"), styled=False) + branch._repr_html_()


def _note(info: SessionInfo) -> str:
    branches = plural(info.branches, "branch", "branches")
    begun, written = _time(info.created_at), _time(info.updated_at)
    return f"begun {begun}, last written {written}, {branches}"


def _time(time: datetime | None) -> str:
    return "at an unknown time" if time is None else f"{time:%Y-%m-%d %H:%M} UTC"
