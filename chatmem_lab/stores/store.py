"""`Store`: what anything that keeps sessions must have; a user's own class works too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from chatmem_lab.stores.commit import Commit

__all__ = ["Store"]


@runtime_checkable
class Store(Protocol):
    """Keeps sessions as append-only lists of commits.

    A session that was never written has version 0 and no commits. Its version is the number
    of its commits. Ids are any text, always data.
    """

    def version(self, session_id: str) -> int:
        """How many commits the session has."""
        ...

    def commits(self, session_id: str) -> Sequence[Commit]:
        """All commits of the session, oldest first."""
        ...

    def append(self, session_id: str, commits: Sequence[Commit], *, version: int) -> None:
        """Append all of `commits`, or none.

        Raises
        ------
        ConflictError
            If the session's version is not `version`: another writer was there first.
        """
        ...

    def delete(self, session_id: str) -> None:
        """Erase the session for good."""
        ...

    def sessions(self) -> Sequence[str]:
        """The ids of all sessions that have commits."""
        ...
