"""`StoreAdapter`: a store of three methods, as LangChain4j has them, taken as a `Store`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any, NamedTuple, Protocol, runtime_checkable

from chatmem_lab.messages import Message
from chatmem_lab.stores.commit import Commit, Line
from chatmem_lab.stores.line_state import lines_of, state_of
from chatmem_lab.stores.store import Stored, check_version, first_version

__all__ = ["MessageStore", "StoreAdapter"]


@runtime_checkable
class MessageStore(Protocol):
    """Keeps for each id a list of messages, and knows nothing of windows."""

    def get_messages(self, memory_id: str) -> Iterable[Message] | None:
        """The messages of the session; nothing, or None, where there are none."""
        ...

    def update_messages(self, memory_id: str, messages: list[Message]) -> Any:
        """From now on these are the session's messages."""
        ...

    def delete_messages(self, memory_id: str) -> Any:
        """The session is erased."""
        ...


class _Known(NamedTuple):
    version: int
    commits: tuple[Commit, ...]
    messages: list[Message]


_NOTHING = _Known(0, (), [])


class StoreAdapter:
    """Takes any object with ``get_messages``, ``update_messages`` and ``delete_messages``.

    It makes the calls that LangChain4j makes: one ``get_messages`` for each read and each
    addition, one ``update_messages`` with all that the window holds for each addition that
    changed something, one ``delete_messages`` for `clear`. So only the window is kept:
    opened again, a memory's history is what its window was. Two processes on one session can
    overwrite each other, since such stores have no versions.

    Parameters
    ----------
    store : MessageStore

    Examples
    --------
    >>> from chatmem_lab.memory import ChatMemory
    >>> class Shelf(dict):
    ...     def get_messages(self, memory_id):
    ...         return self.get(memory_id)
    ...     def update_messages(self, memory_id, messages):
    ...         self[memory_id] = messages
    ...     def delete_messages(self, memory_id):
    ...         self.pop(memory_id, None)
    >>> shelf = Shelf()
    >>> ChatMemory(id="ann", store=StoreAdapter(shelf)).add_user("hi")
    >>> [message.text for message in shelf["ann"]]
    ['hi']
    """

    def __init__(self, store: MessageStore) -> None:
        if not isinstance(store, MessageStore):
            raise TypeError(
                "an object with get_messages, update_messages and delete_messages is wanted, "
                f"not {type(store).__name__}"
            )
        self._store = store
        self._known: dict[str, _Known] = {}
        self._lock = Lock()

    def version(self, session_id: str) -> int:
        """The number of the session's newest commit; 0 if there is none."""
        with self._lock:
            return self._look(session_id).version

    def read(self, session_id: str, *, after: int = 0) -> Stored:
        """The version, and the commits with higher numbers than `after`."""
        with self._lock:
            known = self._known.get(session_id)
            if known is None or after == 0:
                known = self._look(session_id)
            newer = min(max(known.version - after, 0), len(known.commits))
            return Stored(known.version, known.commits[len(known.commits) - newer :])

    def _look(self, session_id: str) -> _Known:
        """What the object holds now, as commits: ours, if it is what we gave it."""
        held = list(self._store.get_messages(session_id) or ())
        known = self._known.get(session_id, _NOTHING)
        if held != known.messages:
            commits = (Commit(tuple(held), line=Line("set", given=len(held))),) if held else ()
            known = _Known(first_version(1) if held else 0, commits, held)
            self._known[session_id] = known
        return known

    def append(self, session_id: str, commits: Sequence[Commit], *, version: int) -> int:
        """Append all of `commits`, and hand the window on."""
        return self._write(session_id, commits, version, keep=True)

    def replace(self, session_id: str, commits: Sequence[Commit], *, version: int) -> int:
        """Append all of `commits`, and forget those that were there before."""
        return self._write(session_id, commits, version, keep=False)

    def _write(
        self, session_id: str, commits: Sequence[Commit], version: int, *, keep: bool
    ) -> int:
        with self._lock:
            known = self._known.get(session_id, _NOTHING)
            check_version(session_id, wanted=version, found=known.version)
            if not commits:
                return version
            log = (*(known.commits if keep else ()), *commits)
            line = lines_of(log)[-1]
            state = state_of(line)
            window = [
                state.messages[placed.position or 0] if placed.message is None else placed.message
                for placed in state.window
            ]
            if not state.messages and line[0].line is not None and line[0].line.kind == "clear":
                self._store.delete_messages(session_id)
            else:
                self._store.update_messages(session_id, list(window))
            new = version + len(commits) if version else first_version(len(commits))
            self._known[session_id] = _Known(new, log, window)
            return new

    def delete(self, session_id: str) -> bool:
        """Erase the session for good; whether there was one that we know of."""
        with self._lock:
            known = self._known.pop(session_id, _NOTHING)
            self._store.delete_messages(session_id)
            return known.version > 0

    def sessions(self) -> Sequence[str]:
        """The ids that were used here: such stores do not list theirs."""
        return sorted(id for id, known in self._known.items() if known.version)

    def __repr__(self) -> str:
        return f"StoreAdapter({self._store!r})"
