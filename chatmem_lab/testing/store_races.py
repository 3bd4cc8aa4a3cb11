"""What a store promises to many at once, for `check_store`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Barrier, Event, Thread
from typing import Any

from chatmem_lab.errors import ConflictError
from chatmem_lab.html.text import cut
from chatmem_lab.messages import user
from chatmem_lab.stores import Commit, Store
from chatmem_lab.testing.session_checks import check_read, shown

__all__ = ["check_first_writer", "check_one_moment"]

_ABC = tuple(Commit((user(letter),)) for letter in "abc")

_WRITERS = 8
_ROUNDS = 5


def check_first_writer(store: Store, make: Callable[[], Store]) -> None:
    """Of many writers who know one version exactly one is first, with one handle or several."""
    for handles in ([store] * _WRITERS, [make() for _ in range(_WRITERS)]):
        version = 0
        expected: tuple[Commit, ...] = ()
        for turn in range(_ROUNDS):
            answers = _race(handles, version, "replace" if turn == _ROUNDS - 1 else "append")
            failed = [a for a in answers if not isinstance(a, int | ConflictError)]
            assert not failed, (
                f"{store!r}: of {_WRITERS} threads that write at once one got "
                f"{type(failed[0]).__name__}: {cut(str(failed[0]), 200)}; those that come too "
                "late get a ConflictError"
            )
            first = [writer for writer, answer in enumerate(answers) if isinstance(answer, int)]
            assert len(first) == 1, (
                f"{store!r}: {len(first)} of {_WRITERS} threads that write to one session at "
                f"version {version} are told that they were first; exactly one is"
            )
            written = (_written_by(first[0]),) * 2
            expected = written if turn == _ROUNDS - 1 else expected + written
            version = answers[first[0]]
            check_read(store, "race", expected, version, f"that {_WRITERS} threads wrote to")
        store.delete("race")


def _written_by(writer: int) -> Commit:
    return Commit((user(f"writer {writer}"),))


def _race(handles: Sequence[Store], version: int, method: str) -> list[Any]:
    answers: list[Any] = [None] * len(handles)
    start = Barrier(len(handles))

    def write(writer: int) -> None:
        start.wait()
        try:
            answers[writer] = getattr(handles[writer], method)(
                "race", [_written_by(writer)] * 2, version=version
            )
        except Exception as error:
            answers[writer] = error

    _run([Thread(target=write, args=(writer,)) for writer in range(len(handles))])
    return answers


def check_one_moment(store: Store, make: Callable[[], Store]) -> None:
    """A reader never sees a part of a write: neither of several commits, nor of a replacement."""
    other = make()
    version = store.append("moment", _ABC, version=0)
    is_over = Event()
    torn: list[object] = []

    def read() -> None:
        while not is_over.is_set() and not torn:
            try:
                stored = other.read("moment")
            except Exception as error:
                torn.append(error)
            else:
                texts = "".join(commit.messages[0].text for commit in stored.commits)
                if texts not in ("abc", "abcabc") or (stored.version - version) % 3:
                    torn.append((stored.version - version, texts))

    reader = Thread(target=read)
    reader.start()
    try:
        newest = version
        for turn in range(_ROUNDS * 8):
            write = store.replace if turn % 2 else store.append
            newest = write("moment", _ABC, version=newest)
    finally:
        is_over.set()
        reader.join()
    assert not torn, (
        f"{store!r}: three commits are written at a time, and a reader saw {shown(torn[0])} "
        "(commits since the first version, what they say); a write is seen whole or not at all"
    )
    store.delete("moment")


def _run(threads: Sequence[Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
