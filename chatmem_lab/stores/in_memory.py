"""`MemoryStore`: sessions in this process's memory."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from chatmem_lab.errors import ConflictError
from chatmem_lab.html.text import cut
from chatmem_lab.stores.commit import Commit

__all__ = ["MemoryStore"]


class MemoryStore:
    """Keeps sessions in memory: for one process, and lost with it.

    Examples
    --------
    >>> from chatmem_lab.memory import ChatMemory
    >>> store = MemoryStore()
    >>> ChatMemory(id="ann", store=store).add_user("hi")
    >>> [message.text for message in ChatMemory(id="ann", store=store).messages]
    ['hi']
    """

    def __init__(self) -> None:
        self._sessions: dict[str, list[Commit]] = {}
        self._lock = Lock()

    def version(self, session_id: str) -> int:
        """How many commits the session has."""
        return len(self._sessions.get(session_id, ()))

    def commits(self, session_id: str) -> Sequence[Commit]:
        """All commits of the session, oldest first."""
        return tuple(self._sessions.get(session_id, ()))

    def append(self, session_id: str, commits: Sequence[Commit], *, version: int) -> None:
        """Append all of `commits`, or none.

        Raises
        ------
        ConflictError
            If the session's version is not `version`.
        """
        with self._lock:
            held = self._sessions.get(session_id, [])
            if len(held) != version:
                raise ConflictError(
                    f"session {cut(repr(session_id), 80)} has version {len(held)}, and this "
                    f"write knew version {version}: read it again and repeat the write"
                )
            if commits:
                self._sessions[session_id] = held
                held.extend(commits)

    def delete(self, session_id: str) -> None:
        """Erase the session for good."""
        with self._lock:
            self._sessions.pop(session_id, None)

    def sessions(self) -> Sequence[str]:
        """The ids of all sessions that have commits."""
        return tuple(self._sessions)

    def __repr__(self) -> str:
        return f"<MemoryStore, {len(self._sessions):,} sessions>"
