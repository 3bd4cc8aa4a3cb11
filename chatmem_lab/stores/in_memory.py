"""`MemoryStore`: sessions in this process's memory."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from chatmem_lab.stores.commit import Commit
from chatmem_lab.stores.store import Stored, check_version, first_version

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
        self._versions: dict[str, int] = {}
        self._commits: dict[str, list[Commit]] = {}
        self._lock = Lock()

    def version(self, session_id: str) -> int:
        """The number of the session's newest commit; 0 if there is none."""
        return self._versions.get(session_id, 0)

    def read(self, session_id: str, *, after: int = 0) -> Stored:
        """The version, and the commits with higher numbers than `after`."""
        with self._lock:
            commits = self._commits.get(session_id, [])
            version = self.version(session_id)
            newer = min(max(version - after, 0), len(commits))
            return Stored(version, tuple(commits[len(commits) - newer :]))

    def append(self, session_id: str, commits: Sequence[Commit], *, version: int) -> int:
        """Append all of `commits`, or none; the new version."""
        return self._write(session_id, commits, version, keep=True)

    def replace(self, session_id: str, commits: Sequence[Commit], *, version: int) -> int:
        """Append all of `commits` and erase all that were there before; the new version."""
        return self._write(session_id, commits, version, keep=False)

    def _write(
        self, session_id: str, commits: Sequence[Commit], version: int, *, keep: bool
    ) -> int:
        with self._lock:
            check_version(session_id, wanted=version, found=self.version(session_id))
            if not commits:
                return version
            if keep:
                self._commits.setdefault(session_id, []).extend(commits)
            else:
                self._commits[session_id] = list(commits)
            new = version + len(commits) if version else first_version(len(commits))
            self._versions[session_id] = new
            return new

    def delete(self, session_id: str) -> bool:
        """Erase the session for good; whether there was one."""
        with self._lock:
            self._commits.pop(session_id, None)
            return self._versions.pop(session_id, 0) > 0

    def sessions(self) -> Sequence[str]:
        """The ids of all sessions that there are, sorted."""
        return sorted(self._versions)

    def __repr__(self) -> str:
        return f"<MemoryStore, {len(self._versions):,} sessions>"
