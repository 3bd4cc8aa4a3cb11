"""`ChatMemories`: the sessions of a product, by id."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from threading import RLock
from typing import Any, Literal, overload
from uuid import UUID

from msgspec import Struct

from chatmem_lab.errors import MessageError
from chatmem_lab.memory.arguments import checked_id
from chatmem_lab.memory.chat_memory import ChatMemory
from chatmem_lab.messages import Conversation
from chatmem_lab.policies import Policy, Preset
from chatmem_lab.stores import MemoryStore, Store, open_store
from chatmem_lab.tokens import TokenCounter

__all__ = ["ChatMemories", "SessionInfo"]

_log = logging.getLogger("chatmem_lab.memory")

Id = str | int | UUID


class SessionInfo(Struct, frozen=True, kw_only=True):
    """What there is to say of a session, in numbers.

    Parameters
    ----------
    id : str
    messages : int
        Of the whole history.
    window_messages, tokens : int
        Of what the model sees now; tokens as `ChatMemory.tokens`.
    count_kind : str
        How sure `tokens` is.
    branches : int
        Lines that were left by `clear`, `set` and `restore`.
    version : int
        0 for a session that is not there: empty, expired, or never begun.
    created_at, updated_at : datetime, optional
        Of its first and its last write.
    policy : str
    """

    id: str
    messages: int
    window_messages: int
    tokens: int
    count_kind: str
    branches: int
    version: int
    created_at: datetime | None
    updated_at: datetime | None
    policy: str


class ChatMemories:
    """Chat memories by id, in one store: ``memories["user-42"]``.

    There is one object per id in a process, so threads that serve the same user share a
    memory; different ids share nothing. A session begins with its first message.

    Parameters
    ----------
    policy : Policy, Preset or callable
        For every session, or a function of the id that gives one.
    store : Store or str, optional
        A store or its URL (see `open_store`); without one, that of the environment variable
        ``CHATMEM_LAB_STORE``, or the memory of this process.
    model, counter, tools, keep_history
        As `ChatMemory` takes them.

    Examples
    --------
    >>> from chatmem_lab.policies import MessageWindow
    >>> memories = ChatMemories(MessageWindow(20), store="memory:")
    >>> memories["ann"].add_user("hi")
    >>> memories["bo"].messages
    ()
    >>> memories.list()
    ['ann']
    """

    def __init__(
        self,
        policy: Policy | Preset | Callable[[str], Policy | Preset] | None = None,
        *,
        store: Store | str | None = None,
        model: str | None = None,
        counter: TokenCounter | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        keep_history: bool = True,
    ) -> None:
        self._policy = policy
        self.store = open_store(store) if store is None or isinstance(store, str) else store
        self._options: dict[str, Any] = {
            "model": model,
            "counter": counter,
            "tools": tools,
            "keep_history": keep_history,
        }
        self._memories: dict[str, ChatMemory] = {}
        self._lock = RLock()
        if not _is_made_per_id(policy):
            self._made("a check of the arguments")
        if isinstance(self.store, MemoryStore):
            _log.info("sessions are kept in the memory of this process, and lost with it")

    def __getitem__(self, id: Id) -> ChatMemory:
        """The memory of a session, begun or not."""
        key = checked_id(id)
        with self._lock:
            memory = self._memories.get(key)
            if memory is None:
                memory = self._memories[key] = self._made(key)
            return memory

    def _made(self, id: str) -> ChatMemory:
        policy = self._policy
        if _is_made_per_id(policy):
            policy = policy(id)  # type: ignore[operator, misc]
        return ChatMemory(policy, id=id, store=self.store, **self._options)  # type: ignore[arg-type]

    def list(self) -> list[str]:
        """The ids of all sessions that the store holds, sorted."""
        return list(self.store.sessions())

    def __iter__(self) -> Iterator[str]:
        return iter(self.list())

    def __len__(self) -> int:
        """The number of sessions that the store holds."""
        return len(self.store.sessions())

    def __contains__(self, id: object) -> bool:
        try:
            return self.store.version(checked_id(id)) > 0
        except MessageError:
            return False

    def info(self, id: Id) -> SessionInfo:
        """What there is to say of a session; version 0 where there is none."""
        memory = self.peek(id)
        commits = self.store.read(memory.id)
        times = [commit.created_at for commit in commits.commits if commit.created_at is not None]
        window = memory.window
        return SessionInfo(
            id=memory.id,
            messages=len(memory),
            window_messages=len(window),
            tokens=window.tokens,
            count_kind=window.count_kind,
            branches=len(memory.branches),
            version=commits.version,
            created_at=min(times, default=None),
            updated_at=max(times, default=None),
            policy=repr(memory.policy),
        )

    def clear(self, id: Id, *, keep_system: bool = False) -> None:
        """Begin the session anew; what was there stays as a branch."""
        if id in self:
            self[id].clear(keep_system=keep_system)

    def delete(self, id: Id) -> bool:
        """Erase the session for good, branches too; whether there was one."""
        key = checked_id(id)
        with self._lock:
            self._memories.pop(key, None)
            return self.store.delete(key)

    def evict(self, id: Id) -> bool:
        """Drop the object of a session, as after a long silence; the store keeps its data.

        Returns
        -------
        bool
            Whether there was one.
        """
        with self._lock:
            return self._memories.pop(checked_id(id), None) is not None

    @overload
    def conversation(self, id: Id, branches: Literal["active"] = ...) -> Conversation: ...

    @overload
    def conversation(self, id: Id, branches: Literal["all"]) -> tuple[Conversation, ...]: ...

    def conversation(
        self, id: Id, branches: Literal["active", "all"] = "active"
    ) -> Conversation | tuple[Conversation, ...]:
        """The session as a conversation that can be replayed; with "all", every line of it.

        Raises
        ------
        MessageError
            If there is no such session, or `branches` is neither.
        """
        if branches not in ("active", "all"):
            raise MessageError(f"branches is active or all, not {branches!r}")
        if id not in self:
            raise MessageError(f"there is no session {id!r}: memories.list() names them")
        memory = self.peek(id)
        if branches == "active":
            return memory.conversation()
        return (*memory.branches, memory.conversation())

    def peek(self, id: Id) -> ChatMemory:
        """The session's memory, to look at: no object is kept for it that was not there."""
        key = checked_id(id)
        with self._lock:
            return self._memories.get(key) or self._made(key)

    def close(self) -> None:
        """Close the store, if it can be closed."""
        close = getattr(self.store, "close", None)
        if callable(close):
            close()

    def __enter__(self) -> ChatMemories:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ChatMemories, {self.store!r}>"


def _is_made_per_id(policy: object) -> bool:
    """Whether it is a function of the id, and not a policy, or a class that was not called."""
    return callable(policy) and not isinstance(policy, Policy | Preset | type)
