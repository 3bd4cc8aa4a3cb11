"""`Session`: one session's history and window, kept in a store write by write."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import msgspec

from chatmem_lab.errors import BudgetError, MessageError
from chatmem_lab.keeper import Event, Keeper
from chatmem_lab.memory.line import LineState, lines_of, state_of
from chatmem_lab.memory.window_journal import WindowJournal, placed
from chatmem_lab.messages import Message
from chatmem_lab.policies import Policy, Preset
from chatmem_lab.stores import Change, Commit, Line, Placed, Store
from chatmem_lab.tokens import Count, TokenCounter
from chatmem_lab.window import OwnedWindow, Slot

__all__ = ["Session", "apart"]


class Session:
    """One session: what the store holds of it, and what is staged for the next write.

    Attributes
    ----------
    history : list of Message
        Of the active line.
    keeper : Keeper
        The window's owner.
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
    ) -> None:
        self.id = id
        self.policy = policy
        self.store = store
        self.is_in_turn = False
        self._counter = counter
        self._tool_schemas = counter.count_tools(tools) if tools else Count(0)
        self._staged: list[Commit] = []
        self._load()

    @property
    def log(self) -> list[Commit]:
        """Every commit, those that are only staged with them."""
        return [*self.store.commits(self.id), *self._staged]

    @property
    def events(self) -> list[Event]:
        """What happened to the window of the active line, oldest first."""
        return self.keeper.events

    # --- what is there

    def refresh(self) -> None:
        """Read what other writers have added."""
        if not self.is_in_turn and self.store.version(self.id) != self._version:
            self._staged.clear()
            self._load()

    def shown(self) -> OwnedWindow:
        """What a read shows."""
        self.refresh()
        self.keeper.before_request()
        return self.keeper.shown()

    def to_send(self) -> OwnedWindow:
        """The next request's window: by the rules it may hold more than a read shows."""
        shown = self.shown()
        return self.keeper.window if self.keeper.is_untrimmed else shown

    def placed_window(self) -> tuple[Placed, ...]:
        """The window's slots, as they are stored."""
        return tuple(placed(slot, self.history) for slot in self.keeper.window.slots)

    def _load(self) -> None:
        commits = self.store.commits(self.id)
        self._version = len(commits)
        self.resume(state_of(lines_of([*commits, *self._staged])[-1]))

    def resume(self, line: LineState) -> None:
        """Go on with `line`; nothing is staged by that."""
        self._journal = WindowJournal()
        keeper = Keeper(
            self.policy,
            self._counter,
            session_id=self.id,
            tool_schemas=self._tool_schemas,
            journal=self._journal,
        )
        counts = self._counter.count_messages(line.messages)
        slots = [self._slot(entry, line.messages, counts) for entry in line.window]
        keeper.resume(line.messages, counts, slots, events=line.events, given=line.given)
        self.keeper = keeper
        self.history = list(line.messages)
        self._given = line.given
        self._noted_events = len(line.events)
        self._journal.forget()

    def _slot(self, entry: Placed, messages: Sequence[Message], counts: Sequence[Count]) -> Slot:
        if entry.message is not None:
            message, count = entry.message, self._counter.count_message(entry.message)
        else:
            assert entry.position is not None
            message, count = messages[entry.position], counts[entry.position]
        return Slot(message, count.tokens, entry.position, entry.state, entry.order, count.kind)

    # --- writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """What happens inside is one write: it is there as a whole, or it never was."""
        self.refresh()
        self._stage_readings()
        kept, untouched = len(self._staged), self._mark()
        try:
            yield
            if not self.is_in_turn:
                self._flush()
        except BaseException:
            del self._staged[kept:]
            if self._mark() != untouched:
                self._load()
            raise

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Writes inside wait for the end; an error discards them all."""
        with self.writing():
            self.is_in_turn = True
            try:
                yield
            finally:
                self.is_in_turn = False

    def _mark(self) -> tuple[object, ...]:
        window = self.keeper.window
        return self.keeper, window.version, len(self.history), len(self.events), self._version

    def _flush(self) -> None:
        self.store.append(self.id, self._staged, version=self._version)
        self._version += len(self._staged)
        self._staged.clear()

    def _stage_readings(self) -> None:
        """What reads made the policy decide is written with the next addition."""
        change = self._journal.take(self.history, arrived=False)
        changes = [] if change is None else [change]
        events = self._new_events()
        if changes or events:
            self._staged.append(Commit((), tuple(changes), events))

    def _new_events(self) -> tuple[Event, ...]:
        new = tuple(self.events[self._noted_events :])
        self._noted_events = len(self.events)
        return new

    def take_in(
        self, messages: Sequence[Message], *, is_batch: bool, line: Line | None = None
    ) -> None:
        """`messages` arrive, and are staged as one commit, with `line` as the first of one.

        Raises
        ------
        MessageError, BudgetError
            Where the rules refuse one; in a batch its index is named.
        """
        rules = self.keeper.rules
        as_given = line is not None and rules.set_as == "given"
        before = len(self.history)
        changes: list[Change] = []
        if as_given or (is_batch and rules.batch == "once"):
            with self.keeper.batch(as_given=as_given):
                self._arrive_all(messages, changes, is_batch=is_batch, as_given=as_given)
            self._note(changes, arrived=False)
        else:
            self._arrive_all(messages, changes, is_batch=is_batch, as_given=False)
        new = tuple(self.history[before:])
        if as_given and line is not None:
            self._given = len(new)
            line = msgspec.structs.replace(line, given=len(new))
        if new or line is not None:
            self._staged.append(Commit(new, tuple(changes), self._new_events(), line))

    def _arrive_all(
        self,
        messages: Sequence[Message],
        changes: list[Change],
        *,
        is_batch: bool,
        as_given: bool,
    ) -> None:
        for index, message in enumerate(messages):
            try:
                arrived = self._arrive(message, as_given=as_given)
            except (MessageError, BudgetError) as refused:
                if not is_batch:
                    raise
                raise type(refused)(f"messages[{index}]: {refused}") from None
            if arrived:
                self._note(changes, arrived=True)

    def _arrive(self, message: Message, *, as_given: bool) -> bool:
        """Take one message in; False where the rules let it leave no trace."""
        keeper = self.keeper
        count = self._counter.count_message(message)
        keeper.check(message, count, self.history)
        if not as_given and keeper.is_ignored(message):
            return False
        if message.role == "assistant" and message.generated:
            keeper.before_request()
            keeper.request += 1
        self.history.append(message)
        keeper.add(message, count, len(self.history) - 1)
        return True

    def _note(self, changes: list[Change], *, arrived: bool) -> None:
        change = self._journal.take(self.history, arrived=arrived)
        if change is not None:
            changes.append(change)

    # --- other lines

    def begin(self, kind: Literal["clear", "set", "fork"], messages: Sequence[Message]) -> None:
        """A new line begins, with `messages`."""
        self.resume(LineState())
        self.take_in(messages, is_batch=True, line=Line(kind))

    def begin_with(self, kind: Literal["restore", "fork"], line: LineState, policy: str) -> None:
        """A new line begins with all that `line` holds, which `policy` had left so."""
        window = line.window
        self.resume(line)
        changes: list[Change] = []
        if policy != repr(self.policy):
            self.keeper.ask_again()
            self._note(changes, arrived=False)
        self._noted_events = len(self.events)
        start = Line(kind, tuple(window), line.given)
        self._staged.append(Commit(tuple(self.history), tuple(changes), tuple(self.events), start))

    def set_policy(self, policy: Policy | Preset) -> None:
        """The same line under another policy, which is asked at once."""
        before = self.policy
        line = self.line
        try:
            self.policy = policy
            self.resume(line)
            self.keeper.ask_again()
        except BaseException:
            self.policy = before
            raise
        self._stage_readings()

    @property
    def line(self) -> LineState:
        """The active line as it is."""
        return LineState(self.history, self.events, self._given, self.placed_window())

    def line_at(self, at: int) -> LineState | None:
        """The active line as it was when it had `at` messages.

        None where it began with more messages than that: how the window was then, it does
        not tell.
        """
        commits = lines_of(self.log)[-1]
        first = commits[0] if commits else Commit()
        began_with = first.line is not None and first.line.window is not None
        if began_with and at < len(first.messages):
            return None
        return state_of(commits, until=at)


def apart(message: Message) -> Message:
    """The same message with facts of its own: what holds dicts is never handed on."""
    if message.metadata is None and message.extra is None:
        return message
    return msgspec.structs.replace(
        message, metadata=copy.deepcopy(message.metadata), extra=copy.deepcopy(message.extra)
    )
