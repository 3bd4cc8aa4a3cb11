"""`SessionBrowser`: the sessions of a store, one at a time."""

from __future__ import annotations

from typing import Any

import ipywidgets
import traitlets

from chatmem_lab.html.numbers import exact, plural
from chatmem_lab.html.style import caption, figure
from chatmem_lab.html.text import cut, escape
from chatmem_lab.memory import ChatMemories
from chatmem_lab.messages import Conversation
from chatmem_lab.widgets.keyed_box import KeyedBox, shown
from chatmem_lab.widgets.session_html import branch_html, session_html

__all__ = ["SessionBrowser"]

_LEGEND = "Keys: ↑ ↓ session · / search · r refresh · Esc keep it"
_NAMES = ("ArrowUp", "ArrowDown", "/", "r", "Escape")
#: The most sessions that are listed at once.
MOST_LISTED = 200
#: What a dropdown has for no branch: it would show nothing for None.
_ACTIVE = -1
_QUESTIONS = {
    "clear": ("Begin {} anew? What is there stays as a branch.", "yes, clear it"),
    "delete": ("Erase {} for good, with its branches?", "yes, erase it"),
}


class SessionBrowser(KeyedBox):
    """Look at stored sessions: numbers, window, history, branches; clear and delete them.

    Parameters
    ----------
    memories : ChatMemories
    session : str
        Whose session to begin with.

    Attributes
    ----------
    session : str
        The session that is shown; "" for none. Set it to move.
    search : str
        Sessions with this in their id are listed.
    branch : int or None
        Which of the session's `branches` is shown; None for its active line.
    pending : {"", "clear", "delete"}
        What is done once it is confirmed.
    matches : tuple of str
        The ids that `search` finds.
    exception : Exception or None
        What went wrong in the last callback; the browser shows it.

    Notes
    -----
    Keys: up and down move, ``/`` goes to the search, ``r`` reads the list of sessions anew,
    Escape gives up a clear or delete that is not confirmed. Where no kernel runs, the picture
    of the session that was shown remains.

    Examples
    --------
    >>> from chatmem_lab.stores import MemoryStore
    >>> memories = ChatMemories(store=MemoryStore())
    >>> for id in ("ann", "anton", "bo"):
    ...     memories[id].add_user("hi")
    >>> browser = SessionBrowser(memories)
    >>> browser.search = "an"
    >>> browser.matches
    ('ann', 'anton')
    >>> browser.session = "ann"
    >>> browser.ask("delete")
    >>> browser.confirm()
    >>> memories.list()
    ['anton', 'bo']
    """

    session = traitlets.Unicode()
    search = traitlets.Unicode()
    branch = traitlets.Int(None, allow_none=True)
    pending = traitlets.Enum(["", *_QUESTIONS], default_value="")

    def __init__(self, memories: ChatMemories, *, session: str = "") -> None:
        super().__init__("Browser of sessions", _NAMES, _LEGEND)
        self.memories = memories
        self.matches: tuple[str, ...] = ()
        self._listed: tuple[str, ...] = ()
        self._ids: list[str] = []
        self._is_filling = False
        self._search = ipywidgets.Text(placeholder="search ids", layout={"width": "260px"})
        self._count = ipywidgets.HTML()
        self._list = ipywidgets.Select(rows=8, layout={"width": "100%"})
        self._branches = ipywidgets.Dropdown(
            description="line",
            layout={"max_width": "360px"},
            style={"description_width": "initial"},
        )
        self._picture_shown = ipywidgets.HTML()
        self._clear = self._button("clear …", "begin the session anew", self._asked("clear"))
        self._delete = self._button("delete …", "erase the session", self._asked("delete"))
        refresh = self._button("refresh", "r: read the list anew", self._refreshed)
        self._question = ipywidgets.HTML()
        self._yes = self._button("", "do it", self._confirmed)
        self._no = self._button("no, keep it", "Esc: do nothing", self._kept)
        self._confirmation = _row(self._question, self._yes, self._no)
        self._hold(
            _row(self._search, refresh, self._count),
            self._list,
            _row(self._branches, self._clear, self._delete),
            self._confirmation,
            self._error,
            self._picture_shown,
        )
        traitlets.link((self, "search"), (self._search, "value"))
        self.observe(lambda _: self._fill(), "search")
        self.observe(lambda _: self._moved(), "session")
        self.observe(lambda _: self._branch_moved(), "branch")
        self.observe(lambda _: self._show_question(), "pending")
        self._list.observe(self._chosen, "value")
        self._branches.observe(self._branch_chosen, "value")
        self._refreshed()
        self._show_question()
        self.session = session

    # --- what can be done

    @property
    def branches(self) -> tuple[Conversation, ...]:
        """The lines that the session left, oldest first."""
        return self.memories.peek(self.session).branches if self.session else ()

    def refresh(self) -> None:
        """Read the list of sessions, and the session that is shown, anew."""
        self._ids = self.memories.list()
        self._fill()
        if self.session and self.session not in self._ids:
            self.session = ""
        else:
            self._moved()

    def ask(self, what: str) -> None:
        """Ask whether to "clear" or "delete" the session; nothing is done before `confirm`."""
        if self.session:
            self.pending = what

    def confirm(self) -> None:
        """Do what is pending."""
        what, id = self.pending, self.session
        self.pending = ""
        if what == "clear":
            self.memories.clear(id)
        elif what == "delete":
            self.memories.delete(id)
        if what:
            self.refresh()

    def press(self, key: str) -> None:
        """Do what `key` does in the browser: up, down, ``/``, ``r`` or Escape."""
        if key in ("ArrowUp", "ArrowDown"):
            self._step(-1 if key == "ArrowUp" else 1)
        elif key == "/":
            self._search.focus()
        elif key == "r":
            self.refresh()
        elif key == "Escape":
            self._give_up()

    def _give_up(self) -> None:
        if self.pending:
            self.pending = ""
            self._list.focus()

    def _step(self, by: int) -> None:
        listed = self._listed
        if not listed:
            return
        at = listed.index(self.session) + by if self.session in listed else 0
        self.session = listed[min(max(at, 0), len(listed) - 1)]

    # --- what the browser sends

    @shown
    def _refreshed(self, _: object = None) -> None:
        self.refresh()

    def _asked(self, what: str) -> Any:
        def asked(_: object) -> None:
            self.ask(what)
            self._no.focus()

        return asked

    @shown
    def _confirmed(self, _: object) -> None:
        self.confirm()
        self._list.focus()

    def _kept(self, _: object) -> None:
        self._give_up()

    @shown
    def _chosen(self, change: Any) -> None:
        if not self._is_filling and change["new"] is not None:
            self.session = change["new"]

    @shown
    def _branch_chosen(self, change: Any) -> None:
        if not self._is_filling:
            self.branch = None if change["new"] == _ACTIVE else change["new"]

    # --- what is shown

    @traitlets.validate("session")
    def _is_there(self, proposal: Any) -> str:
        id: str = proposal["value"]
        if id and id not in self.memories:
            raise traitlets.TraitError(
                f"there is no session {cut(repr(id), 80)}: memories.list() names them"
            )
        return id

    @traitlets.validate("branch")
    def _is_a_branch(self, proposal: Any) -> int | None:
        branch: int | None = proposal["value"]
        if branch is not None and not 0 <= branch < len(self.branches):
            raise traitlets.TraitError(
                f"there is no branch {branch}: this session has {len(self.branches)}"
            )
        return branch

    @shown
    def _moved(self) -> None:
        self.pending = ""
        lines: list[tuple[str, int]] = [("active line", _ACTIVE)]
        for number, branch in enumerate(self.branches):
            size = plural(len(branch.messages), "message")
            lines.append((f"branch {number}, {size}", number))
        self._is_filling = True
        try:
            self._branches.options = lines
            self._branches.value = _ACTIVE
            self.branch = None
            self._list.value = self.session if self.session in self._listed else None
        finally:
            self._is_filling = False
        for control in (self._clear, self._delete, self._branches):
            control.disabled = not self.session
        self._draw()

    @shown
    def _branch_moved(self) -> None:
        self._branches.value = _ACTIVE if self.branch is None else self.branch
        self._draw()

    @shown
    def _fill(self) -> None:
        wanted = self.search.casefold()
        self.matches = tuple(id for id in self._ids if wanted in id.casefold())
        self._listed = listed = self.matches[:MOST_LISTED]
        self._is_filling = True
        try:
            self._list.options = [(_label(id), id) for id in listed]
            self._list.value = self.session if self.session in listed else None
        finally:
            self._is_filling = False
        found, there = len(self.matches), len(self._ids)
        words = (
            f"{exact(found)} of {plural(there, 'session')}" if wanted else plural(there, "session")
        )
        if found > MOST_LISTED:
            words += f", the first {MOST_LISTED} listed: search for the others"
        self._count.value = _words(words)

    @shown
    def _draw(self) -> None:
        self._picture_shown.value = self._picture()
        self._say_session()

    def _say_session(self) -> None:
        self._keys.says = f"Session {cut(self.session, 80)}" if self.session else "No session"

    def _picture(self) -> str:
        if not self.session:
            return figure(caption("No session is chosen."), styled=False)
        if self.branch is not None:
            return branch_html(self.session, self.branches[self.branch])
        return session_html(self.memories, self.session)

    def _show_question(self) -> None:
        self._confirmation.layout.display = "" if self.pending else "none"
        if self.pending:
            question, answer = _QUESTIONS[self.pending]
            asked = question.format(repr(cut(self.session, 60)))
            self._question.value = _words(asked)
            self._yes.description = answer
            self._keys.says = asked
        else:
            self._say_session()

    def __repr__(self) -> str:
        at = f" at {cut(repr(self.session), 80)}" if self.session else ""
        return f"<SessionBrowser of {self.memories!r}{at}>"


def _row(*widgets: ipywidgets.Widget) -> ipywidgets.HBox:
    return ipywidgets.HBox(widgets, layout={"align_items": "center"})


def _words(text: str) -> str:
    return figure(f'<span class="q">{escape(text)}</span>', styled=False)


def _label(id: str) -> str:
    """An id in one line; what does not print shows as its escape."""
    return cut(id if id.isprintable() else repr(id)[1:-1], 120)
