"""`check_store`: what a store promises, tried on odd ids, odd commits and many writers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatmem_lab.html.text import cut
from chatmem_lab.messages import Message, user
from chatmem_lab.stores import Commit, Store, Stored
from chatmem_lab.testing.odd_sessions import COMMITS, IDS
from chatmem_lab.testing.session_checks import (
    check_after,
    check_conflict,
    check_empty,
    check_read,
    name_of,
    shown,
)
from chatmem_lab.testing.store_races import check_first_writer, check_one_moment
from chatmem_lab.testing.strategies import message_lists

__all__ = ["check_store"]

_METHODS = ("version", "read", "append", "replace", "delete", "sessions")

_A, _B, _C, _D = (Commit((user(letter),)) for letter in "abcd")


def check_store(make: Callable[[], Store], *, examples: int = 50) -> None:
    """Hold a store to what sessions are built on.

    What was never written is at version 0. Commits are numbered on, gapless; `append` and
    `replace` write all they are given or nothing, and only for a writer who knows the newest
    version: another gets a `ConflictError`, and of many at once exactly one is first. A session
    that was deleted and begun again is never taken for the one before. Ids are any text that
    UTF-8 can hold, and share nothing; `sessions` lists them all, sorted. Commits come back
    equal, times with their zone. What one handle wrote, every other one sees.

    Parameters
    ----------
    make : callable
        Opens the store, and opens the same store again each time that it is called:
        ``lambda: SQLStore(url)``. Where only one object can hold it, return that one each time.
        It must be empty; what is written is deleted in the end, and handles that have a `close`
        are closed.
    examples : int
        How many sets of ids, and how many lists of messages, are generated.

    Raises
    ------
    AssertionError
        Saying what was promised, and on what it was broken.

    Examples
    --------
    >>> from chatmem_lab.stores import MemoryStore
    >>> store = MemoryStore()
    >>> check_store(lambda: store, examples=5)
    >>> check_store(MemoryStore)
    Traceback (most recent call last):
    ...
    AssertionError: <MemoryStore, 1 sessions>: a session was written, and a second handle says \
that it is at version 0; let make() open the same store each time...
    """
    handles: list[Store] = []

    def opened() -> Store:
        handles.append(make())
        return handles[-1]

    try:
        _check(opened, examples)
    finally:
        for handle in {id(handle): handle for handle in handles}.values():
            close = getattr(handle, "close", None)
            if callable(close):
                close()


def _check(make: Callable[[], Store], examples: int) -> None:
    store = make()
    for method in _METHODS:
        assert callable(getattr(store, method, None)), f"{store!r} has no method {method}"
    ids = list(store.sessions())
    assert not ids, (
        f"{store!r} holds {len(ids)} sessions; give an empty store, since this writes and deletes"
    )
    try:
        for promise, check in _PROMISES.items():
            _hold(store, promise, partial(check, store, make))
        _hold(store, "what is generated", partial(_check_generated, store, examples))
    finally:
        with suppress(Exception):
            _begin_empty(store)


def _hold(store: Store, promise: str, check: Callable[[], None]) -> None:
    try:
        check()
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(
            f"{store!r}: {promise}: raised {type(error).__name__}: {cut(str(error), 200)}"
        ) from error


# --- one writer


def _check_second_handle(store: Store, make: Callable[[], Store]) -> None:
    other = make()
    version = store.append("shared", [_A], version=0)
    seen = other.version("shared")
    assert seen == version, (
        f"{store!r}: a session was written, and a second handle says that it is at version "
        f"{seen}; let make() open the same store each time"
    )
    check_read(other, "shared", (_A,), version, "a second handle reads what the first wrote")
    version = other.append("shared", [_B], version=version)
    check_read(store, "shared", (_A, _B), version, "the first handle reads what another wrote")
    version = other.replace("shared", [_C], version=version)
    check_read(store, "shared", (_C,), version, "the first handle reads what another replaced")
    check_conflict(store, "shared", version - 1, "when another handle was there first")
    assert list(other.sessions()) == ["shared"], (
        f"{store!r}: a second handle lists {shown(other.sessions())}; the first wrote 'shared'"
    )
    assert store.delete("shared") is True, f"{store!r}: delete of a session is not True"
    check_empty(other, "shared", "that another handle deleted")


def _check_never_written(store: Store, make: Callable[[], Store]) -> None:
    check_empty(store, "never", "that was never written")
    check_empty(store, "never", "that was only read")
    deleted = store.delete("never")
    assert deleted is False, (
        f"{store!r}: delete of a session that was never written is {deleted!r}; it is False"
    )
    check_empty(store, "never", "that was deleted before it was written")


def _check_numbers(store: Store, make: Callable[[], Store]) -> None:
    first = store.append("numbers", [_A], version=0)
    assert _is_version(first), (
        f"{store!r}: the first append answers {first!r}; it is the new version, an int above 0"
    )
    check_read(store, "numbers", (_A,), first, "after one append")
    for count, commit in enumerate((_B, _C, _B), 1):
        version = store.append("numbers", [commit], version=first + count - 1)
        assert version == first + count, (
            f"{store!r}: an append of one commit to version {first + count - 1} answers "
            f"{version}; commits are numbered on, without a gap"
        )
    check_read(store, "numbers", (_A, _B, _C, _B), first + 3, "after four appends")
    for back, commits in enumerate(((), (_B,), (_C, _B), (_B, _C, _B))):
        check_after(store, "numbers", first + 3 - back, Stored(first + 3, commits))
    check_after(store, "numbers", first + 99, Stored(first + 3))
    store.delete("numbers")


def _is_version(answered: object) -> bool:
    return type(answered) is int and answered > 0


def _check_several_at_once(store: Store, make: Callable[[], Store]) -> None:
    first = store.append("several", [_A, _B, _C], version=0)
    check_read(store, "several", (_A, _B, _C), first, "after an append of three commits")
    second = store.append("several", (_D, _A), version=first)
    assert second == first + 2, (
        f"{store!r}: an append of two commits to version {first} answers {second}; every commit "
        "has its number"
    )
    check_read(store, "several", (_A, _B, _C, _D, _A), second, "after one of two more")
    check_after(store, "several", first - 1, Stored(second, (_C, _D, _A)))
    _check_refused_whole(store, "several", second)
    store.delete("several")


def _check_refused_whole(store: Store, id: str, version: int) -> None:
    """A store may refuse what JSON cannot hold, or keep it."""
    unkept = Commit((Message("user", metadata={"a": object()}),))
    for write in (store.append, store.replace):
        before = store.read(id)
        try:
            version = write(id, [_A, unkept], version=version)
        except Exception:
            after = store.read(id)
            assert after == before, (
                f"{store!r}: {name_of(write)} of two commits failed at the second one, and the "
                f"session went from {shown(before)} to {shown(after)}; all are written, or none"
            )


def _check_nothing_to_write(store: Store, make: Callable[[], Store]) -> None:
    for write in (store.append, store.replace):
        assert write("nothing", [], version=0) == 0, (
            f"{store!r}: {name_of(write)} of no commits to a session that is not there "
            "changes the version; nothing is written"
        )
        check_empty(store, "nothing", f"to which {name_of(write)} wrote no commits")
    version = store.append("nothing", [_A], version=0)
    for write in (store.append, store.replace):
        answered = write("nothing", [], version=version)
        assert answered == version, (
            f"{store!r}: {name_of(write)} of no commits to version {version} answers {answered}; "
            "nothing is written"
        )
        check_read(store, "nothing", (_A,), version, f"after {name_of(write)} of no commits")
    store.delete("nothing")


def _check_wrong_versions(store: Store, make: Callable[[], Store]) -> None:
    for wrong in (1, 2**40):
        check_conflict(store, "wrong", wrong, "of a session that is not there")
        check_empty(store, "wrong", "where every write was refused")
    version = store.append("wrong", [_A, _B], version=0)
    for wrong in (0, 1, 2, version - 2, version - 1, version + 1, version + 2):
        if wrong != version:
            check_conflict(store, "wrong", wrong, f"of a session at version {version}")
            check_read(store, "wrong", (_A, _B), version, "after a write that was refused")
    version = store.append("wrong", [_C], version=version)
    check_read(store, "wrong", (_A, _B, _C), version, "after refused writes and one more")
    store.delete("wrong")


def _check_replace(store: Store, make: Callable[[], Store]) -> None:
    store.append("beside", [_D], version=0)
    first = store.replace("replaced", [_A, _B], version=0)
    assert _is_version(first), (
        f"{store!r}: replace of a session that is not there answers {first!r}; it begins one"
    )
    check_read(store, "replaced", (_A, _B), first, "that replace began")
    second = store.replace("replaced", [_C], version=first)
    assert second == first + 1, (
        f"{store!r}: replace by one commit at version {first} answers {second}; its numbers go on"
    )
    check_read(store, "replaced", (_C,), second, "after replace, which erases what was there")
    check_after(store, "replaced", first, Stored(second, (_C,)))
    check_after(store, "replaced", first - 1, Stored(second, (_C,)))
    third = store.append("replaced", [_D], version=second)
    check_read(store, "replaced", (_C, _D), third, "after replace and append")
    fourth = store.replace("replaced", [_A, _B, _C], version=third)
    check_read(store, "replaced", (_A, _B, _C), fourth, "after a second replace")
    check_after(store, "replaced", third + 1, Stored(fourth, (_B, _C)))
    assert store.read("beside").commits == (_D,), (
        f"{store!r}: replace of one session changed another"
    )
    store.delete("replaced")
    store.delete("beside")


def _check_delete(store: Store, make: Callable[[], Store]) -> None:
    kept = store.append("kept", [_A], version=0)
    store.append("deleted", [_B, _C], version=0)
    answered = store.delete("deleted")
    assert answered is True, f"{store!r}: delete of a session is {answered!r}; it is True"
    check_empty(store, "deleted", "that was deleted")
    again = store.delete("deleted")
    assert again is False, f"{store!r}: delete of a session that is gone is {again!r}; it is False"
    check_read(store, "kept", (_A,), kept, "after another session was deleted")
    store.delete("kept")


def _check_begun_again(store: Store, make: Callable[[], Store]) -> None:
    for erased in (1, 3):
        old = store.append("again", [_A, _B, _C][:erased], version=0)
        store.delete("again")
        check_conflict(store, "again", old, "of a session that was deleted")
        new = store.append("again", [_D], version=0)
        assert new > old, (
            f"{store!r}: a session was at version {old}, was deleted, and begins again with "
            f"version {new}; begin with first_version, so that nobody takes it for the one before"
        )
        check_conflict(store, "again", old, "of a session that was deleted and begun again")
        check_after(store, "again", old, Stored(new, (_D,)))
        check_read(store, "again", (_D,), new, "that was deleted and begun again")
        store.delete("again")


def _check_lists_are_not_shared(store: Store, make: Callable[[], Store]) -> None:
    handed_in = [_A, _B]
    version = store.append("lists", handed_in, version=0)
    handed_in.append(_C)
    check_read(store, "lists", (_A, _B), version, "after the list that was appended grew")
    handed_in = [_C]
    version = store.replace("lists", handed_in, version=version)
    handed_in.clear()
    check_read(store, "lists", (_C,), version, "after the list that replaced it was emptied")
    ids = store.sessions()
    if isinstance(ids, list):
        ids.clear()
    assert list(store.sessions()) == ["lists"], (
        f"{store!r}: the list that sessions() gave was emptied, and now it gives "
        f"{shown(store.sessions())}; give a list of its own each time"
    )
    store.delete("lists")


# --- ids and commits


def _check_ids(store: Store, make: Callable[[], Store]) -> None:
    _check_apart(store, IDS)


def _check_apart(store: Store, ids: Sequence[str]) -> None:
    """Each id has a session of its own, whatever is written to or deleted from the others."""
    commits = {id: Commit((user(f"{number}"),)) for number, id in enumerate(ids)}
    for id, commit in commits.items():
        found = store.version(id)
        assert found == 0, (
            f"{store!r}: session {shown(id)} was never written and is at version {found}; it "
            "is taken for another id"
        )
        store.append(id, [commit], version=0)
    listed = list(store.sessions())
    assert listed == sorted(commits), (
        f"{store!r}: sessions() leaves out {shown(sorted({*commits} - {*listed}))} and has "
        f"{shown(sorted({*listed} - {*commits}))} instead; it lists every id as it was given"
        if {*listed} != {*commits}
        else f"{store!r}: sessions() gives {shown(listed)}; it is sorted, each id once"
    )
    for id, commit in commits.items():
        check_read(store, id, (commit,), store.version(id), "with other ids beside it")
    for gone, id in enumerate(ids):
        assert store.delete(id) is True, f"{store!r}: delete of session {shown(id)} is not True"
        check_empty(store, id, "that was deleted, with other ids beside it")
        left = len(store.sessions())
        assert left == len(ids) - gone - 1, (
            f"{store!r}: after delete of session {shown(id)} there are {left} sessions, not "
            f"{len(ids) - gone - 1}; an id is no pattern, and no other one"
        )


def _check_commits(store: Store, make: Callable[[], Store]) -> None:
    for name, commits in COMMITS.items():
        _check_come_back(store, name, commits)


def _check_come_back(store: Store, name: str, commits: tuple[Commit, ...]) -> None:
    store.append("commits", commits, version=0)
    found = store.read("commits").commits
    for commit, back in zip(commits, found):
        is_same = back == commit and _zones(back) == _zones(commit)
        assert is_same, f"{store!r}: {name} came back changed: {_difference(commit, back)}"
    assert len(found) == len(commits), (
        f"{store!r}: {name}: {len(commits)} commits were written, {len(found)} came back"
    )
    store.delete("commits")


def _zones(commit: Commit) -> list[object]:
    """Times are equal in any zone; which one it was is to be kept, too."""
    times = [commit.created_at, *(message.created_at for message in commit.messages)]
    return [time and time.utcoffset() for time in times]


def _difference(commit: Commit, found: Commit) -> str:
    given, back, start = repr(commit), repr(found), 0
    while start < min(len(given), len(back)) and given[start] == back[start]:
        start += 1
    start = max(start - 20, 0)
    return f"…{cut(given[start:], 80)} was written, …{cut(back[start:], 80)} was read"


def _check_generated(store: Store, examples: int) -> None:
    whole = st.characters(exclude_categories=["Cs"])
    thorough = settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        report_multiple_bugs=False,
    )

    @thorough
    @given(ids=st.lists(st.text(whole, max_size=20), min_size=2, max_size=5, unique=True))
    def on_ids(ids: list[str]) -> None:
        # An example that failed may have left something: no reason for the next one to fail.
        _begin_empty(store)
        _check_apart(store, ids)

    @thorough
    @given(messages=message_lists(max_size=20), text=st.text(whole))
    def on_messages(messages: list[Message], text: str) -> None:
        _begin_empty(store)
        commits = (Commit(tuple(messages)), Commit((user(text, metadata={text: text}),)))
        _check_come_back(store, "a generated list of messages", commits)

    on_ids()
    on_messages()


def _begin_empty(store: Store) -> None:
    for id in store.sessions():
        store.delete(id)


#: What is tried, by the promise that a failure is reported under.
_PROMISES: dict[str, Callable[[Store, Callable[[], Store]], None]] = {
    "two handles on one session": _check_second_handle,
    "a session that was never written": _check_never_written,
    "one commit after the other": _check_numbers,
    "several commits at once": _check_several_at_once,
    "no commits to write": _check_nothing_to_write,
    "a wrong version": _check_wrong_versions,
    "replace": _check_replace,
    "delete": _check_delete,
    "a session that begins again": _check_begun_again,
    "lists that are handed in and out": _check_lists_are_not_shared,
    "odd ids": _check_ids,
    "odd commits": _check_commits,
    "many writers at once": check_first_writer,
    "a reader beside a writer": check_one_moment,
}
