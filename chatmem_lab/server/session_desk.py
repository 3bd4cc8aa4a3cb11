"""`SessionDesk`: what an operator may ask of the sessions in a store, and do to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from chatmem_lab.errors import MessageError, StoreError
from chatmem_lab.html.text import cut
from chatmem_lab.memory import ChatMemories
from chatmem_lab.policies import Policy, Preset
from chatmem_lab.stores import Store, lines_of, open_store
from chatmem_lab.stores.opening import STORE_VARIABLE

__all__ = ["NoSessionError", "Overview", "SessionDesk", "open_existing_store"]


class NoSessionError(MessageError):
    """There is no session with this id: never begun, deleted, or expired."""


class Overview(msgspec.Struct, frozen=True):
    """A session as a row of a list: nothing of it is counted in tokens.

    Parameters
    ----------
    id : str
    messages : int
        Of the active line.
    updated_at : datetime, optional
    """

    id: str
    messages: int
    updated_at: datetime | None


class SessionDesk:
    """The sessions of a store, for those who look after them.

    Parameters
    ----------
    store : Store
    policy : Policy or Preset, optional
        The one that the product uses: it is not kept in the store. Without it the window is
        shown as it was left there.
    model : str, optional
        Whose tokens are counted.

    Examples
    --------
    >>> from chatmem_lab.stores import MemoryStore
    >>> desk = SessionDesk(MemoryStore())
    >>> desk.memories["ann"].add_user("hi")
    >>> desk.info("ann")["messages"]
    1
    >>> desk.delete("ann")["deleted"], desk.ids()
    (True, [])
    """

    def __init__(
        self, store: Store, policy: Policy | Preset | None = None, model: str | None = None
    ) -> None:
        self.memories = ChatMemories(policy, store=store, model=model)
        self._names_policy = policy is not None

    def ids(self) -> list[str]:
        """The ids of all sessions, sorted."""
        return self.memories.list()

    def overviews(self) -> Iterator[Overview]:
        """A row for each session, read one after the other."""
        for id in self.ids():
            commits = self.memories.store.read(id).commits
            if commits:  # else it was deleted since
                times = [c.created_at for c in commits if c.created_at is not None]
                messages = sum(len(commit.messages) for commit in lines_of(commits)[-1])
                yield Overview(id, messages, max(times, default=None))

    def info(self, id: str) -> dict[str, Any]:
        """The session in numbers, as `SessionInfo` names them; `policy` only if it was named.

        Raises
        ------
        NoSessionError
        """
        info = self.memories.info(id)
        if not info.version:
            raise _no_session(id)
        answer = msgspec.to_builtins(info)
        return answer if self._names_policy else {**answer, "policy": None}

    def check(self, id: str) -> None:
        """Refuse an id that no session has.

        Raises
        ------
        NoSessionError
        """
        if not self.memories.store.version(self.memories.peek(id).id):
            raise _no_session(id)

    def delete(self, id: str) -> dict[str, Any]:
        """Erase the session for good.

        Raises
        ------
        NoSessionError
        """
        if not self.memories.delete(id):
            raise _no_session(id)
        note = "erased for good, with its branches; the next message begins a new session"
        return {"id": id, "deleted": True, "note": note}

    def close(self) -> None:
        """Close the store."""
        self.memories.close()


def open_existing_store(url: str | None) -> Store:
    """The store that `url` or ``CHATMEM_LAB_STORE`` names; none is made where there was none.

    Raises
    ------
    StoreError
        Also where neither names one: a new store in memory would always be empty.

    Examples
    --------
    >>> open_existing_store("sqlite:///no-such-file.db")
    Traceback (most recent call last):
    ...
    chatmem_lab.errors.StoreError: there is no file no-such-file.db: ...
    """
    url = url or os.environ.get(STORE_VARIABLE, "").strip()
    if not url:
        raise StoreError(
            "no store is named, and one in memory would always be empty: give its URL with "
            f"--store, or in the environment variable {STORE_VARIABLE} (in a Jupyter "
            "configuration: c.ChatmemLab.store), such as sqlite:///chat.db, "
            "postgresql://user@host/database or redis://host:6379/0?ttl=30d"
        )
    if url.partition(":")[0].partition("+")[0].lower() == "sqlite":
        _check_file(url)
    return open_store(url)


def _check_file(url: str) -> None:
    """A name that was mistyped must not make a new file."""
    name = url.partition(":///")[2].partition("?")[0]
    if name and name != ":memory:" and not name.startswith("file:") and not Path(name).exists():
        raise StoreError(
            f"there is no file {name}: correct the URL (four slashes begin a path from the root)"
        )


def _no_session(id: str) -> NoSessionError:
    return NoSessionError(
        f"there is no session {cut(repr(str(id)), 80)}: never begun, deleted or expired"
    )
