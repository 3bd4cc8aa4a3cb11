"""`ActiveLine`: a session's history and window in memory, and what of it is not staged yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from chatmem_lab.errors import BudgetError, MessageError
from chatmem_lab.html.text import cut
from chatmem_lab.keeper import Keeper
from chatmem_lab.memory.window_journal import WindowJournal, placed
from chatmem_lab.messages import Message
from chatmem_lab.policies import Policy, Preset
from chatmem_lab.stores import Change, Commit, Line, LineState, Placed
from chatmem_lab.tokens import Count, TokenCounter
from chatmem_lab.window import Slot

__all__ = ["ActiveLine"]


class ActiveLine:
    """The line that additions go to.

    Parameters
    ----------
    line : LineState
        What it begins with, all of it known to the store.
    policy : Policy or Preset
    counter : TokenCounter
    before : ActiveLine, optional
        What it counted is not counted again.
    call : callable, optional
        Calls what calls a summarizer.

    Attributes
    ----------
    history : list of Message
    keeper : Keeper
        The window's owner.
    has_arrived : bool
        Whether the newest message is being taken in just now.
    """

    def __init__(
        self,
        line: LineState,
        policy: Policy | Preset,
        counter: TokenCounter,
        *,
        session_id: str,
        tool_schemas: Count,
        before: ActiveLine | None = None,
        call: Callable[[Callable[[], Any]], Any] | None = None,
    ) -> None:
        self._counter = counter
        self._journal = WindowJournal()
        self.history = list(line.messages)
        self._counts = self._counted(before)
        self._times = [*line.times, *[None] * (len(self.history) - len(line.times))]
        self._given = line.given
        self._positions = {m.id: i for i, m in enumerate(self.history) if m.id is not None}
        self._staged_messages = len(self.history)
        self._staged_events = len(line.events)
        self._changes: list[Change] = []
        self.has_arrived = False
        self.keeper = Keeper(
            policy,
            counter,
            session_id=session_id,
            tool_schemas=tool_schemas,
            journal=self._journal,
            call=call,
        )
        self.keeper.resume(line, self._counts, [self._slot(entry) for entry in line.window])
        self._journal.forget()

    def _counted(self, before: ActiveLine | None) -> list[Count]:
        alike = 0
        if before is not None:
            for mine, known in zip(self.history, before.history):
                if mine is not known and mine != known:
                    break
                alike += 1
        new = self._counter.count_messages(self.history[alike:])
        return [*before._counts[:alike], *new] if before is not None else new

    def _slot(self, entry: Placed) -> Slot:
        if entry.message is not None:
            message, count = entry.message, self._counter.count_message(entry.message)
        else:
            assert entry.position is not None
            message, count = self.history[entry.position], self._counts[entry.position]
        return Slot(message, count.tokens, entry.position, entry.state, entry.order, count.kind)

    # --- what there is

    @property
    def state(self) -> LineState:
        """All of it, as it stands."""
        keeper = self.keeper
        window = tuple(placed(slot, self.history) for slot in keeper.window.slots)
        return LineState(
            self.history,
            keeper.events,
            self._given,
            window,
            self._times,
            keeper.is_over_budget,
            keeper.was_asked,
        )

    @property
    def mark(self) -> tuple[object, ...]:
        """Another one where anything has changed."""
        window = self.keeper.window
        return self, window.version, len(self.history), len(self.keeper.events)

    def commit(self, line: Line | None = None) -> Commit | None:
        """What has happened since the last commit; with `line`, as the first of a line.

        It includes what reads made the policy decide. None where there was nothing.
        """
        self._note()
        messages = tuple(self.history[self._staged_messages :])
        events = tuple(self.keeper.events[self._staged_events :])
        changes, self._changes = tuple(self._changes), []
        self._staged_messages += len(messages)
        self._staged_events += len(events)
        if not (messages or events or changes or line is not None):
            return None
        if line is not None and line.window is None:
            line = msgspec.structs.replace(line, given=self._given)
        keeper = self.keeper
        return Commit(
            messages,
            changes,
            events,
            line,
            datetime.now(UTC),
            keeper.is_over_budget,
            keeper.was_asked,
        )

    def commit_as(self, line: Line) -> Commit | None:
        """All of it, as the first commit of `line`."""
        self._staged_messages = self._staged_events = 0
        return self.commit(line)

    def _note(self) -> None:
        """What changed in the window beside that an arrived message took its place."""
        change = self._journal.take(self.history, arrived=self.has_arrived)
        self.has_arrived = False
        if change is not None:
            self._changes.append(change)

    # --- messages arrive

    def take_in(self, messages: Sequence[Message], *, is_batch: bool, sets: bool = False) -> None:
        """`messages` arrive; with `sets`, as the first of a line.

        Raises
        ------
        MessageError, BudgetError
            Where the rules refuse one; in a batch its index is named.
        """
        rules = self.keeper.rules
        as_given = sets and rules.set_as == "given"
        if as_given or (is_batch and rules.batch == "once"):
            with self.keeper.batch(as_given=as_given):
                self._arrive_all(messages, is_batch=is_batch, as_given=as_given)
        else:
            self._arrive_all(messages, is_batch=is_batch, as_given=False)
        if as_given:
            self._given = len(self.history)

    def _arrive_all(self, messages: Sequence[Message], *, is_batch: bool, as_given: bool) -> None:
        for index, message in enumerate(messages):
            try:
                self._arrive(message, as_given=as_given)
            except (MessageError, BudgetError) as refused:
                if not is_batch:
                    raise
                raise type(refused)(f"messages[{index}]: {refused}") from None
            self._note()

    def _arrive(self, message: Message, *, as_given: bool) -> None:
        """Take one message in, unless the rules let it leave no trace, or it is here already."""
        keeper = self.keeper
        if self._is_here(message):
            return
        count = self._counter.count_message(message)
        keeper.check(message, count, self.history)
        if not as_given and keeper.is_ignored(message):
            return
        if message.role == "assistant" and message.generated:
            keeper.before_request()
            keeper.request += 1
            self._note()
        if message.id is not None:
            self._positions[message.id] = len(self.history)
        self.history.append(message)
        self._counts.append(count)
        self._times.append(datetime.now(UTC))
        self.has_arrived = True
        keeper.add(message, count, len(self.history) - 1)

    def restate(self, messages: Sequence[Message]) -> None:
        """Facts of before arrive again: no rule of now refuses one."""
        for message in messages:
            if message.role == "assistant" and message.generated:
                self.keeper.before_request()
                self.keeper.request += 1
            count = self._counter.count_message(message)
            self.history.append(message)
            self.keeper.add(message, count, len(self.history) - 1)

    def _is_here(self, message: Message) -> bool:
        """Whether a message with its id has been added; the same one twice is one."""
        position = self._positions.get(message.id) if message.id is not None else None
        if position is None:
            return False
        if self.history[position].same_as(message):
            return True
        raise MessageError(
            f"message {position} has the id {cut(repr(message.id), 80)} already, and says "
            "something else: an id stands for one message"
        )
