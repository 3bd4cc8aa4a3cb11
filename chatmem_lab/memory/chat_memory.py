"""`ChatMemory`: an append-only history, and the window that a policy leaves."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NoReturn
from uuid import UUID

from chatmem_lab.errors import BudgetError, MessageError, SnapshotError
from chatmem_lab.html.text import cut
from chatmem_lab.keeper import Event
from chatmem_lab.memory.arguments import checked_id, checked_store, checked_tools, counter_for
from chatmem_lab.memory.copies import apart, dated, event_apart, line_apart, placed_apart
from chatmem_lab.memory.incoming import all_prepared, prepared
from chatmem_lab.memory.session import Session
from chatmem_lab.memory.snapshot import Snapshot, check_snapshot
from chatmem_lab.messages import (
    INSTRUCTION_ROLES,
    Conversation,
    Message,
    RecordedEvent,
    ToolCall,
    assistant,
    system,
    tool_output,
    user,
)
from chatmem_lab.policies import KeepAll, Policy, Preset
from chatmem_lab.projections import to_anthropic, to_chat, to_responses
from chatmem_lab.stores import LineState, Store, lines_of, state_of
from chatmem_lab.tokens import TokenCounter
from chatmem_lab.window import Window

__all__ = ["ChatMemory"]


class ChatMemory:
    """A chat memory: facts are added, a policy decides what the model still sees.

    The history is append-only; the window is a view of it. Every addition is accepted or
    refused as a whole, and nothing outside can change what is inside.

    Parameters
    ----------
    policy : Policy or Preset
    id : str, int or UUID
        The session's id; two ids never share anything. It is kept as text: 1 and "1" are
        one id.
    store : Store or str, optional
        Where the session is kept, or its URL (see `open_store`); what it holds of this id
        already is read. Policy, model and tools are not kept: give them again. Without one,
        in memory, for this object alone.
    model : str, optional
        Whose tokens are counted. Without one, o200k_base, and every count is an estimate.
    counter : TokenCounter, optional
        Counts instead of the model's own counter.
    tools : sequence of dict
        Tool schemas, counted with every request; give them to the client yourself.
    keep_history : bool
        With False what leaves the window is erased, from the store too, for those who must
        not keep it: history, events and branches hold only what the window does.

    Warns
    -----
    UserWarning
        If `counter` counts for another model than `model`.

    Examples
    --------
    >>> from chatmem_lab.policies import MessageWindow
    >>> memory = ChatMemory(MessageWindow(2), id="user-42")
    >>> memory.add_system("You are a librarian.")
    >>> memory.add_user("Who wrote Emma?")
    >>> memory.add_assistant("Jane Austen.")
    >>> memory.add_user("When?")
    >>> [message.text for message in memory.messages]
    ['You are a librarian.', 'Jane Austen.', 'When?']
    >>> len(memory.history)
    4
    """

    def __init__(
        self,
        policy: Policy | Preset | None = None,
        *,
        id: str | int | UUID,
        store: Store | str | None = None,
        model: str | None = None,
        counter: TokenCounter | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        keep_history: bool = True,
    ) -> None:
        self.id = checked_id(id)
        self.model = model
        self.counter = counter_for(model, counter)
        self._tools = checked_tools(tools)
        self._session = Session(
            KeepAll() if policy is None else policy,
            id=self.id,
            store=checked_store(store),
            counter=self.counter,
            tools=self._tools,
            keep_history=keep_history,
        )
        self._keeps_history = keep_history

    @property
    def policy(self) -> Policy | Preset:
        """What decides; `set_policy` changes it."""
        return self._session.policy

    # --- adding

    def add(self, message: Message) -> None:
        """Add one message.

        Raises
        ------
        MessageError
            If it is no message, or the memory's rules refuse it; then nothing has changed.
        BudgetError
            If it alone exceeds the budget and the rules refuse that.

        Warns
        -----
        UserWarning
            If a text held halves of surrogate pairs, which no API takes and no file holds.
        """
        self._session.add([prepared(message, self.id)], is_batch=False)

    def add_all(self, messages: Iterable[Message]) -> None:
        """Add several messages: all of them, or, where one is refused, none.

        The policy is asked after each, or once at the end where the rules say so.

        Raises
        ------
        MessageError
            As `add`, naming the message's index in the list.
        """
        self._session.add(all_prepared(messages, self.id), is_batch=True)

    def add_system(self, text: str) -> None:
        """Add a system message; what becomes of the one before it, the rules say.

        By our own rules one with the same text is ignored, and another takes its place.
        """
        self.add(system(text))

    def add_user(
        self,
        text: str | None = None,
        *,
        images: Iterable[str | Path | bytes] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a user message."""
        if self._session.keeper.rules.blank == "ignore":
            images = [i for i in images if not (isinstance(i, str) and not i.strip())]
        self.add(user(text, images=images, metadata=metadata))

    def add_assistant(
        self, text: str | None = None, *, tool_calls: Iterable[ToolCall] = ()
    ) -> None:
        """Add an assistant message: text, tool calls, or both."""
        self.add(assistant(text, tool_calls=tool_calls))

    def add_tool_output(self, call_id: str, output: str, *, is_error: bool = False) -> None:
        """Add the result of a tool call that is still open."""
        self.add(tool_output(call_id, output, is_error=is_error))

    @contextmanager
    def turn(self) -> Iterator[ChatMemory]:
        """What is added inside is kept together at the end, or, after an error, not at all.

        Reads inside show what is staged; the store knows nothing of it before the end.

        Raises
        ------
        MessageError
            If this thread has one open already; that of another thread is waited for.
        ConflictError
            If another writer changed the session meanwhile; then the turn is discarded.

        Examples
        --------
        >>> memory = ChatMemory(id="user-42")
        >>> with memory.turn():
        ...     memory.add_user("Look it up.")
        ...     raise TimeoutError("the model did not answer")
        Traceback (most recent call last):
        ...
        TimeoutError: the model did not answer
        >>> memory.history
        ()
        """
        with self._session.turn():
            yield self

    @property
    def is_in_turn(self) -> bool:
        """Whether this thread has a turn open."""
        return self._session.is_in_turn_here

    # --- reading

    @property
    def window(self) -> Window:
        """What the model sees now, as it stays; draws itself in a notebook."""
        with self._session.reading():
            window = self._session.shown().copy(apart=apart)
            window.absent_messages = len(self._session.history) - sum(
                slot.position is not None for slot in window.slots
            )
            return window

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that the model sees now."""
        with self._session.reading():
            return tuple(map(apart, self._session.shown().messages))

    @property
    def history(self) -> tuple[Message, ...]:
        """Every message of the session since it began or was last cleared, set or restored."""
        with self._session.reading():
            return tuple(map(apart, self._session.history))

    @property
    def branches(self) -> tuple[Conversation, ...]:
        """The lines that were left, oldest first: what `clear`, `set` and `restore` abandoned.

        Each is a conversation that can be replayed; lines without messages are left out.
        """
        with self._session.reading():
            lines = [state_of(commits) for commits in lines_of(self._session.log)[:-1]]
        return tuple(
            self._as_conversation(f"{self.id}#{number}", line)
            for number, line in enumerate(lines)
            if line.messages
        )

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The tool schemas that go with every request."""
        return copy.deepcopy(self._tools)

    @property
    def tokens(self) -> int:
        """What a request would hold now, in tokens: messages, tool schemas, overhead."""
        with self._session.reading():
            return self._session.shown().tokens

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened to the window of this line, oldest first."""
        with self._session.reading():
            return tuple(map(event_apart, self._session.events))

    def request(self) -> tuple[Message, ...]:
        """The messages to send now.

        Raises
        ------
        BudgetError
            If the messages that must stay exceed the policy's budget, with the parts of
            the sum. The history is not affected.
        """
        with self._session.reading():
            window = self._session.to_send()
            stages = self._session.keeper.policy.stages
            excess = [s.excess(window) for s in stages if s.budget is not None]
            messages = tuple(map(apart, window.messages))
        for why in excess:
            if why is not None:
                raise BudgetError(why)
        return messages

    def _to_send(self) -> tuple[Message, ...]:
        with self._session.reading():
            return self._session.to_send().messages

    def to_chat(self, *, repair: bool = False) -> list[dict[str, Any]]:
        """What to send now, as OpenAI's Chat Completions take it; see `cml.to_chat`.

        It does not look at the budget; `request` does.
        """
        return to_chat(self._to_send(), repair=repair)

    def to_responses(
        self,
        *,
        repair: bool = False,
        ids: bool = False,
        style: Literal["openai", "ai4j"] = "openai",
    ) -> list[dict[str, Any]]:
        """What to send now, as input of OpenAI's Responses API; see `cml.to_responses`."""
        return to_responses(self._to_send(), repair=repair, ids=ids, style=style)

    def to_anthropic(self, *, repair: bool = False) -> dict[str, Any]:
        """What to send now, as Anthropic's Messages API takes it; see `cml.to_anthropic`."""
        return to_anthropic(self._to_send(), repair=repair)

    def conversation(self) -> Conversation:
        """The history as a conversation that can be replayed, with what happened to it.

        A message without a time of its own has the one at which it was added.
        """
        with self._session.reading():
            return self._as_conversation(self.id, self._session.line)

    def _as_conversation(self, id: str, line: LineState) -> Conversation:
        times = [*line.times, *[None] * len(line.messages)]
        return Conversation(
            id,
            tuple(dated(apart(m), time) for m, time in zip(line.messages, times)),
            tools=self.tools,
            model=self.model,
            recorded_events=tuple(
                RecordedEvent(
                    event.position + 1,
                    event.kind,
                    event.tokens_before,
                    event.tokens_after,
                    event.made,
                    {"positions": [p for unit in event.units for p in unit]}
                    if event.units
                    else None,
                )
                for event in line.events
            ),
        )

    def __len__(self) -> int:
        """The number of messages in the history."""
        with self._session.reading():
            return len(self._session.history)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a memory cannot be copied or pickled: use snapshot() or fork(new_id)")

    def __repr__(self) -> str:
        return f"<ChatMemory {cut(repr(self.id), 80)}, {self.policy!r}, {len(self)} messages>"

    def _repr_html_(self) -> str:
        return self.window._repr_html_()

    # --- other lines

    def snapshot(self) -> Snapshot:
        """The session as it is now, complete in itself: nothing later changes it."""
        with self._session.reading():
            return self._snapshot_of(self._session.line)

    def _snapshot_of(self, line: LineState) -> Snapshot:
        return Snapshot(
            id=self.id,
            messages=tuple(map(apart, line.messages)),
            window=tuple(map(placed_apart, line.window)),
            events=tuple(map(event_apart, line.events)),
            policy=repr(self.policy),
            given=line.given,
            is_over=line.is_over,
            was_asked=line.was_asked,
            model=self.model,
            tools=self.tools,
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from `snapshot` in a new active line; the one that is left stays as a branch.

        Where another policy left the snapshot, this memory's policy is asked at once.

        Raises
        ------
        SnapshotError
            For what is no snapshot, or one whose parts do not fit together.
        """
        if not isinstance(snapshot, Snapshot):
            raise SnapshotError(
                f"a Snapshot is wanted, not {type(snapshot).__name__}: take one with "
                "memory.snapshot() or read one with Snapshot.from_json(text); the messages of a "
                "branch go to memory.set(branch.messages)"
            )
        check_snapshot(snapshot)
        self._session.write(
            lambda: self._session.begin_with("restore", line_apart(snapshot), snapshot.policy)
        )

    def fork(self, new_id: str | int | UUID, at: int | None = None) -> ChatMemory:
        """Another memory that begins with this one's past; the two share nothing from there on.

        Parameters
        ----------
        new_id : str, int or UUID
            An id that the store holds no session of.
        at : int, optional
            Only the first `at` messages of the history, with the window as it was then (made
            anew where that was before a `restore`); None for all, with the window of now.

        Raises
        ------
        MessageError
            If the id is this one's, or taken, or the history has no `at` messages.
        """
        id = checked_id(new_id)
        with self._session.reading():
            if id == self.id or self._session.store.version(id):
                raise MessageError(
                    f"there is a session {cut(repr(id), 80)} already: fork to an id of its own"
                )
            held = len(self._session.history)
            if at is not None and (type(at) is not int or not 0 <= at <= held):
                raise MessageError(
                    f"at must be a number of messages from 0 to {held}, all that there are, not "
                    f"{cut(repr(at), 80)}"
                )
            line = self._session.line if at is None else self._session.line_at(at)
            start = line_apart(self._snapshot_of(line))
        forked = ChatMemory(
            self.policy,
            id=id,
            store=self._session.store,
            model=self.model,
            counter=self.counter,
            tools=self._tools,
            keep_history=self._keeps_history,
        )
        with forked._session.writing():
            forked._session.begin_with("fork", start, repr(self.policy))
        return forked

    def clear(self, *, keep_system: bool = False) -> None:
        """Begin anew, with nothing; what was there stays as a branch.

        Parameters
        ----------
        keep_system : bool
            Begin with the system and developer messages that the window holds.
        """

        def begin() -> None:
            kept = [
                slot.message
                for slot in self._session.keeper.window.slots
                if slot.position is not None and slot.message.role in INSTRUCTION_ROLES
            ]
            self._session.begin("clear", kept if keep_system else [])

        self._session.write(begin, fresh=keep_system)

    def set(self, messages: Iterable[Message]) -> None:
        """Begin anew, with `messages`; what was there stays as a branch.

        Raises
        ------
        MessageError
            As `add_all`; then nothing has changed.
        """
        new = all_prepared(messages, self.id)
        self._session.write(lambda: self._session.begin("set", new), fresh=False)

    def set_policy(self, policy: Policy | Preset) -> None:
        """From now on `policy` decides; it is asked at once.

        What has left the window stays out, unless the new policy sees the whole history.
        The policy is not kept in the store.
        """
        self._session.write(lambda: self._session.set_policy(policy))
