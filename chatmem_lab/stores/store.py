"""`Store`: what anything that keeps sessions must have; a user's own class works too."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from chatmem_lab.errors import ConflictError
from chatmem_lab.html.text import cut
from chatmem_lab.stores.commit import Commit

__all__ = ["Store", "Stored", "check_version", "first_version"]


class Stored(NamedTuple):
    """What a store holds of a session.

    `commits` are the newest ones, numbered up to `version` without a gap.
    """

    version: int
    commits: tuple[Commit, ...] = ()


@runtime_checkable
class Store(Protocol):
    """Keeps sessions as append-only lists of numbered commits.

    A session's version is the number of its newest commit, and 0 where there is none. Every
    write names the version that it read, is atomic, and numbers its commits on from there; the
    first write of a session begins with `first_version`, so that a session that was deleted
    and begun again is never taken for the one before. Ids are any text, always data.

    `testing.check_store` holds a class to all of it.
    """

    def version(self, session_id: str) -> int:
        """The number of the session's newest commit; 0 if there is none."""
        ...

    def read(self, session_id: str, *, after: int = 0) -> Stored:
        """The version, and the commits with higher numbers than `after`, as of one moment."""
        ...

    def append(self, session_id: str, commits: Sequence[Commit], *, version: int) -> int:
        """Append all of `commits`, or none; the new version.

        Raises
        ------
        ConflictError
            If the session's version is not `version`: another writer was there first.
        """
        ...

    def replace(self, session_id: str, commits: Sequence[Commit], *, version: int) -> int:
        """Append all of `commits` and erase all that were there before; the new version.

        Raises
        ------
        ConflictError
            If the session's version is not `version`.
        """
        ...

    def delete(self, session_id: str) -> bool:
        """Erase the session for good; whether there was one."""
        ...

    def sessions(self) -> Sequence[str]:
        """The ids of all sessions that there are, sorted."""
        ...


def first_version(commits: int) -> int:
    """The version of a session that begins with `commits` commits: the time, in microseconds."""
    return time.time_ns() // 1_000 + commits


def check_version(session_id: str, *, wanted: int, found: int) -> None:
    """Refuse a write that did not read what is there.

    Raises
    ------
    ConflictError
    """
    if wanted != found:
        raise ConflictError(
            f"session {cut(repr(session_id), 80)} is at version {found}, and this write knew "
            f"version {wanted}: another writer was there first, read it again and repeat"
        )
