"""`Session`: one session's history and window, kept in a store write by write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import RLock, get_ident
from typing import Any, Literal, TypeVar

import msgspec

from chatmem_lab.errors import ConflictError, MessageError
from chatmem_lab.keeper import Event, Folding, Keeper
from chatmem_lab.memory.active_line import ActiveLine
from chatmem_lab.memory.checked_counter import CheckedCounter
from chatmem_lab.memory.forgetting import has_left, what_is_left
from chatmem_lab.messages import Message
from chatmem_lab.policies import Policy, Preset
from chatmem_lab.stores import Commit, Line, LineState, Store, lines_of, state_of
from chatmem_lab.tokens import Count, TokenCounter
from chatmem_lab.window import OwnedWindow

__all__ = ["Session"]

_T = TypeVar("_T")

#: How often an addition is tried again where other writers were first.
_TRIES = 100


class _Write:
    """One write: whether a part of it, the fact itself, is in the store before its end."""

    has_flushed = False
    is_in_turn = False


class Session:
    """One session: what the store holds of it, and what is staged for the next write.

    Safe for threads: one at a time reads or writes, a turn keeps the others waiting. While a
    summarizer works for a single addition, the message that called for it is stored already
    and the others may go on.

    Attributes
    ----------
    is_in_turn : bool
        Whether additions wait for the end of a turn.
    """

    def __init__(
        self,
        policy: Policy | Preset,
        *,
        id: str,
        store: Store,
        counter: TokenCounter,
        tools: Sequence[Mapping[str, Any]],
        keep_history: bool = True,
    ) -> None:
        self.id = id
        self.policy = policy
        self.store = store
        self.is_in_turn = False
        self._turn_of = 0
        self._keeps_history = keep_history
        self._counter = CheckedCounter(counter)
        self._tool_schemas = self._counter.count_tools(tools) if tools else Count(0)
        self._staged: list[Commit] = []
        self._version = 0
        self._lock = RLock()
        #: Whether a write is being made: nothing else may be written meanwhile.
        self._is_writing = False
        #: Whether the window is what the commits, staged ones with them, tell.
        self._is_sound = False
        #: Whether the lock may be given up while a summarizer works.
        self._may_call_out = False
        self._write = _Write()
        self._active = self._line_with(LineState(), before=None)

    @property
    def log(self) -> list[Commit]:
        """Every commit, those that are only staged with them."""
        return [*self.store.read(self.id).commits, *self._staged]

    @property
    def history(self) -> list[Message]:
        """Every message of the active line."""
        return self._active.history

    @property
    def keeper(self) -> Keeper:
        """The owner of its window."""
        return self._active.keeper

    @property
    def events(self) -> list[Event]:
        """What happened to the window of the active line, oldest first."""
        return self.keeper.events

    @property
    def is_in_turn_here(self) -> bool:
        """Whether this thread has a turn open."""
        return self.is_in_turn and self._turn_of == get_ident()

    # --- what is there

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Inside, the session is as the store has it, and nobody else changes it."""
        with self._lock:
            self._refresh()
            try:
                yield
            except BaseException:
                # What a read made the policy decide may be half done.
                self._is_sound = self._is_writing
                raise

    def _refresh(self) -> None:
        """Read what other writers have added."""
        if not self._is_sound:
            self._load()
            return
        if self.is_in_turn or self._is_writing:
            return
        if self.store.version(self.id) != self._version:
            self._is_sound = False
            self._stage()
            if self._staged or not self._follow():
                self._staged.clear()
                self._load()
            self._is_sound = True

    def _follow(self) -> bool:
        """Go on with the commits that are new; False where they do not follow ours."""
        stored = self.store.read(self.id, after=self._version)
        first = stored.version - len(stored.commits) + 1
        if not stored.commits or first != self._version + 1:
            return False
        lines = lines_of(stored.commits)
        start = self.line if len(lines) == 1 else None
        self._resume(state_of(lines[-1], start=start))
        self._version = stored.version
        return True

    def shown(self) -> OwnedWindow:
        """What a read shows; inside `reading`."""
        if not self._is_writing:
            with self._calling_out():
                self.keeper.before_request()
        return self.keeper.shown()

    def to_send(self) -> OwnedWindow:
        """The next request's window: by the rules it may hold more than a read shows."""
        shown = self.shown()
        return self.keeper.window if self.keeper.is_untrimmed else shown

    def _load(self) -> None:
        self._is_sound = False
        stored = self.store.read(self.id)
        self._version = stored.version
        self._resume(state_of(lines_of([*stored.commits, *self._staged])[-1]))
        self._is_sound = True

    def _resume(self, line: LineState) -> None:
        """Go on with `line`; nothing is staged by that. Whatever fails, fails before."""
        self._active = self._line_with(line, before=self._active)

    def _line_with(self, line: LineState, before: ActiveLine | None) -> ActiveLine:
        return ActiveLine(
            line,
            self.policy,
            self._counter,
            session_id=self.id,
            tool_schemas=self._tool_schemas,
            before=before,
            call=self._call_out,
        )

    # --- writing

    @contextmanager
    def writing(self, *, fresh: bool = True) -> Iterator[_Write]:
        """What happens inside is one write: it is there as a whole, or it never was.

        Without `fresh` what others wrote is not read first: it is given up anyway.

        Raises
        ------
        MessageError
            Where a write is being made already: by a policy or a summarizer that is asked
            for one.
        """
        with self._lock:
            if self._is_writing:
                raise MessageError(
                    "the memory is being written to: a policy or a summarizer may read it while "
                    "it is asked, and add nothing"
                )
            if fresh or not self._is_sound:
                self._refresh()
            policy, kept, untouched = self.policy, len(self._staged), None
            write = self._write = _Write()
            write.is_in_turn = self.is_in_turn
            try:
                self._is_writing = True
                self._stage()
                kept, untouched = len(self._staged), (self._active.mark, self._version)
                yield write
                if not self.is_in_turn:
                    self._flush()
            except BaseException as error:
                self.policy = policy
                # What reads decided was about a window that is no more.
                del self._staged[0 if isinstance(error, ConflictError) else kept :]
                if untouched is None or (self._active.mark, self._version) != untouched:
                    # Where that fails, too, it is loaded when it is used next.
                    with suppress(Exception):
                        self._load()
                raise
            finally:
                self._is_writing = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Writes inside wait for the end; an error discards them all."""
        with self._lock:
            if self.is_in_turn:
                raise MessageError("a turn is open already: end it before the next one begins")
            with self.writing():
                try:
                    # Inside: an interrupt between two of these lines must not leave them so.
                    self.is_in_turn = True
                    self._turn_of = get_ident()
                    self._is_writing = False
                    yield
                finally:
                    self.is_in_turn = False
                    self._is_writing = True

    def _flush(self) -> None:
        if not self._staged:
            return
        begins = any(commit.line is not None for commit in self._staged)
        if self._keeps_history or not (begins or has_left(self.line)):
            self._version = self.store.append(self.id, self._staged, version=self._version)
        else:
            self._resume(what_is_left(self.line))
            self._staged.clear()
            self._stage_as(Line("forget", tuple(self.line.window)))
            self._version = self.store.replace(self.id, self._staged, version=self._version)
        self._staged.clear()

    def _stage(self, line: Line | None = None) -> None:
        """What has happened since the last time is written next."""
        commit = self._active.commit(line)
        if commit is not None:
            self._staged.append(commit)

    def add(self, messages: Sequence[Message], *, is_batch: bool) -> None:
        """`messages` are added; where other writers were first, after theirs.

        Raises
        ------
        MessageError, BudgetError
            Where the rules refuse one; in a batch its index is named.
        ConflictError
            In a turn, or if other writers are always first.
        """

        def take_in() -> None:
            with self._calling_out(not is_batch):
                self._active.take_in(messages, is_batch=is_batch)
            self._stage()

        self.write(take_in)

    def write(self, work: Callable[[], object], *, fresh: bool = True) -> None:
        """Do `work` as one write; where other writers were first, again after theirs.

        Raises
        ------
        ConflictError
            In a turn, or if other writers are always first.
        """
        for attempt in range(_TRIES):
            write = None
            try:
                with self.writing(fresh=fresh or attempt > 0) as write:
                    work()
                return
            except ConflictError:
                if write is not None and write.has_flushed:
                    return
                if (write is not None and write.is_in_turn) or attempt == _TRIES - 1:
                    raise

    # --- while a summarizer works

    @contextmanager
    def _calling_out(self, allowed: bool = True) -> Iterator[None]:
        self._may_call_out = allowed and self._keeps_history and not self.is_in_turn
        try:
            yield
        finally:
            self._may_call_out = False

    def _call_out(self, work: Callable[[], _T]) -> _T:
        """Do `work` while others may read and write, once what led to it is stored."""
        if not self._may_call_out:
            return work()
        self._may_call_out = False
        write, keeper = self._write, self.keeper
        if self._active.has_arrived:
            self._stage()
            self._flush()
            write.has_flushed = True
        was_writing, self._is_writing = self._is_writing, False
        self._lock.release()
        try:
            result = work()
        finally:
            self._lock.acquire()
            self._write, self._is_writing = write, was_writing
        if self.keeper is not keeper and isinstance(result, Folding):
            self.keeper.lose(result)
        return result

    # --- other lines

    def begin(self, kind: Literal["clear", "set"], messages: Sequence[Message]) -> None:
        """A new line begins, with `messages`; inside `writing`."""
        self._resume(LineState())
        self._active.take_in(messages, is_batch=True, sets=True)
        self._stage(Line(kind))

    def begin_with(self, kind: Literal["restore", "fork"], line: LineState, policy: str) -> None:
        """A new line begins with all that `line` holds, which `policy` had left so."""
        self._resume(line)
        if policy != repr(self.policy):
            self.keeper.ask_again()
        self._stage_as(Line(kind, tuple(line.window), line.given))

    def _stage_as(self, line: Line) -> None:
        commit = self._active.commit_as(line)
        if commit is not None:
            self._staged.append(commit)

    def set_policy(self, policy: Policy | Preset) -> None:
        """The same line under another policy, which is asked at once; inside `writing`."""
        line = self.line
        self.policy = policy
        self._resume(line)
        self.keeper.ask_again()
        self._stage()

    @property
    def line(self) -> LineState:
        """The active line as it is."""
        return self._active.state

    def line_at(self, at: int) -> LineState:
        """The active line as it was when it had `at` messages.

        Where it began with more messages than that, it does not tell how the window was then:
        it is what the policy leaves of them now.
        """
        commits = lines_of(self.log)[-1]
        first = commits[0] if commits else Commit()
        began_with = first.line is not None and first.line.window is not None
        if not began_with or at >= len(first.messages):
            return state_of(commits, until=at)
        past = self.line
        again = self._line_with(LineState(), before=None)
        again.restate(past.messages[:at])
        return msgspec.structs.replace(
            again.state, given=min(past.given, at), times=past.times[:at]
        )
