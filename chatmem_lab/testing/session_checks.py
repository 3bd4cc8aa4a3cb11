"""What a session must read as, for `check_store`; each failure says what is there instead."""

from __future__ import annotations

from collections.abc import Callable

from chatmem_lab.errors import ConflictError
from chatmem_lab.html.text import cut
from chatmem_lab.messages import user
from chatmem_lab.stores import Commit, Store, Stored

__all__ = ["check_after", "check_conflict", "check_empty", "check_read", "name_of", "shown"]

_UNWANTED = Commit((user("never to be seen"),))


def check_empty(store: Store, id: str, which: str) -> None:
    version = store.version(id)
    assert version == 0, (
        f"{store!r}: session {shown(id)}, {which}, is at version {version}; it is at 0"
    )
    stored = store.read(id)
    assert (stored.version, tuple(stored.commits)) == (0, ()), (
        f"{store!r}: session {shown(id)}, {which}, reads as {shown(stored)}; it is Stored(0, ())"
    )
    assert id not in store.sessions(), (
        f"{store!r}: session {shown(id)}, {which}, is in sessions(); only those that hold "
        "commits are"
    )


def check_read(
    store: Store, id: str, commits: tuple[Commit, ...], version: int, which: str
) -> None:
    found = store.version(id)
    assert found == version, (
        f"{store!r}: session {shown(id)}, {which}, is at version {found}; it is at {version}"
    )
    stored = store.read(id)
    assert (stored.version, tuple(stored.commits)) == (version, commits), (
        f"{store!r}: session {shown(id)}, {which}, reads as {shown(stored)}; it holds "
        f"{shown(commits)} at version {version}"
    )


def check_after(store: Store, id: str, after: int, wanted: Stored) -> None:
    stored = store.read(id, after=after)
    assert (stored.version, tuple(stored.commits)) == wanted, (
        f"{store!r}: at version {wanted.version} read(after={after}) gives {shown(stored)}; it "
        f"gives the version and {shown(wanted.commits)}"
    )


def check_conflict(store: Store, id: str, wrong: int, when: str) -> None:
    for write in (store.append, store.replace):
        for commits in ([_UNWANTED], []):
            try:
                answered: object = write(id, commits, version=wrong)
            except ConflictError:
                continue
            except Exception as error:
                raise AssertionError(
                    f"{store!r}: {name_of(write)} at version {wrong} {when} raised "
                    f"{type(error).__name__}: {error}; raise ConflictError"
                ) from error
            raise AssertionError(
                f"{store!r}: {name_of(write)} of {len(commits)} commits at version {wrong} {when} "
                f"answers {answered!r}; raise ConflictError"
            )


def name_of(write: Callable[..., int]) -> str:
    return write.__name__


def shown(what: object) -> str:
    if isinstance(what, Stored):
        return f"version {what.version} with {shown(tuple(what.commits))}"
    if isinstance(what, tuple) and what and isinstance(what[0], Commit):
        texts = [message.text for commit in what for message in commit.messages]
        return f"{len(what)} commits ({cut(', '.join(texts), 60)})"
    return cut(repr(what), 80)
