"""`Window`: what the model sees at one step."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from chatmem_lab.messages import Message
from chatmem_lab.tokens import Count
from chatmem_lab.tokens.counting import weakest
from chatmem_lab.window.slot import Slot, Unit, order_of

__all__ = ["Window"]


class Window:
    """The messages that the model sees at one step, as units in order.

    Policies read it; only the keeper changes it (`OwnedWindow`). Counts are O(1); walks
    are lazy, so a policy that stops early pays only for what it looked at.

    Attributes
    ----------
    tokens : int
        Everything that is sent: messages, `overhead_tokens` and `tool_schema_tokens`.
    message_tokens : int
        The messages alone.
    overhead_tokens, tool_schema_tokens : int
        What each request costs beside its messages.
    pin_user : bool
        Whether the latest user message is pinned too.
    pins : callable or None
        Says of a message whether its unit is pinned too.
    budget : int or None
        The policy's budget in tokens.
    policy : object
        The policy that left it.
    request : int or None
        The request that it belongs to.
    absent_messages : int
        Messages of the history that it does not hold.
    prefix_tokens : int or None
        What it shares with the request before.
    session_id : str
        The session that it belongs to.
    turn_numbers : mapping of int to int
        The number of the turn, from 1, that begins at a position; where that is known.
    """

    __slots__ = (
        "_count",
        "_first_free",
        "_head",
        "_injected",
        "_instruction_messages",
        "_instruction_tokens",
        "_latest_user",
        "_messages",
        "_newest",
        "_turns",
        "_units",
        "absent_messages",
        "budget",
        "departures",
        "message_tokens",
        "overhead_tokens",
        "pin_user",
        "pins",
        "policy",
        "prefix_tokens",
        "request",
        "scratch",
        "session_id",
        "tool_schema_kind",
        "tool_schema_tokens",
        "turn_numbers",
        "version",
    )

    def __init__(
        self,
        count: Callable[[Message], Count],
        *,
        overhead_tokens: int = 0,
        tool_schema_tokens: int = 0,
        tool_schema_kind: str = "exact",
        pin_user: bool = False,
        pins: Callable[[Message], bool] | None = None,
        budget: int | None = None,
        policy: object = "",
        session_id: str = "",
    ) -> None:
        self._count = count
        self._units: list[Unit] = []
        self._head = 0
        self._first_free = 0
        self._newest: Unit | None = None
        self._latest_user: Unit | None = None
        self._messages = 0
        self._turns = 0
        self._injected = 0
        self._instruction_messages = 0
        self._instruction_tokens = 0
        self.message_tokens = 0
        self.overhead_tokens = overhead_tokens
        self.tool_schema_tokens = tool_schema_tokens
        self.tool_schema_kind = tool_schema_kind
        self.pin_user = pin_user
        self.pins = pins
        self.budget = budget
        self.policy = policy
        self.session_id = session_id
        self.request: int | None = None
        self.absent_messages = 0
        self.prefix_tokens: int | None = None
        self.turn_numbers: Mapping[int | None, int] = {}
        self.version = 0
        #: How many units have left so far.
        self.departures = 0
        #: Where policies may keep what they worked out; they must answer alike without it.
        self.scratch: dict[object, Any] = {}

    # --- counts, all O(1)

    @property
    def tokens(self) -> int:
        return self.message_tokens + self.overhead_tokens + self.tool_schema_tokens

    def __len__(self) -> int:
        """The number of messages."""
        return self._messages

    @property
    def unit_count(self) -> int:
        """The number of units."""
        return len(self._units) - self._head

    @property
    def turn_count(self) -> int:
        """The number of turns that begin in it."""
        return self._turns

    @property
    def instruction_messages(self) -> int:
        """The number of pinned system and developer messages."""
        return self._instruction_messages

    @property
    def instruction_tokens(self) -> int:
        """The tokens of the pinned system and developer messages."""
        return self._instruction_tokens

    @property
    def pinned_tokens(self) -> int:
        """The tokens of all that is never evicted."""
        newest, user = self._newest, self._latest_user
        tokens = self._instruction_tokens
        if newest is not None and not newest.is_instruction:
            tokens += newest.tokens
        if self.pin_user and user is not None and user is not newest and not user.is_held:
            tokens += user.tokens
        return tokens + self.held_tokens

    @property
    def held_tokens(self) -> int:
        """The tokens of what is held or injected, beside instructions and the newest unit."""
        if self.pins is None and not self._injected:
            return 0
        return sum(
            unit.tokens
            for unit in self.units
            if unit.is_held and not unit.is_instruction and unit is not self._newest
        )

    @property
    def count_kind(self) -> str:
        """How sure `tokens` is: the weakest of its slots."""
        kinds = {slot.count_kind for unit in self.units for slot in unit.slots}
        return weakest(kinds | {self.tool_schema_kind})

    def count(self, message: Message) -> int:
        """The tokens of `message`, were it in the window."""
        return self._count(message).tokens

    # --- what is in it

    @property
    def newest(self) -> Unit | None:
        """The unit that arrived last; it is pinned."""
        return self._newest

    @property
    def latest_user(self) -> Unit | None:
        """The latest user message that is in the window."""
        return self._latest_user

    @property
    def units(self) -> Iterator[Unit]:
        """All units in order, lazily."""
        units = self._units
        for index in range(self._head, len(units)):
            yield units[index]

    @property
    def units_backwards(self) -> Iterator[Unit]:
        """All units, newest first, lazily."""
        units = self._units
        for index in range(len(units) - 1, self._head - 1, -1):
            yield units[index]

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All slots in order."""
        return tuple(slot for unit in self.units for slot in unit.slots)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is sent."""
        return tuple(slot.message for unit in self.units for slot in unit.slots)

    def is_pinned(self, unit: Unit) -> bool:
        """Whether a policy may not evict `unit`."""
        return (
            unit is self._newest
            or unit.is_held
            or unit.is_instruction
            or (self.pin_user and unit is self._latest_user)
        )

    def holds(self, unit: Unit) -> bool:
        """Whether `unit` is one of this window's own units."""
        index = bisect_left(self._units, unit.order, lo=self._head, key=order_of)
        return index < len(self._units) and self._units[index] is unit

    def holds_slot(self, slot: Slot) -> bool:
        """Whether `slot` is one of this window's own slots."""
        index = bisect_right(self._units, slot.order, lo=self._head, key=order_of) - 1
        return index >= self._head and any(s is slot for s in self._units[index].slots)

    def split_at(self, order: float) -> tuple[int, Iterator[Slot]]:
        """The tokens of the slots before `order`, and the others in order, lazily.

        Sums whichever side has fewer units.
        """
        units, head = self._units, self._head
        index = bisect_left(units, order, lo=head, key=order_of)
        edge = units[index - 1] if index > head else None
        inside = [s for s in edge.slots if s.order >= order] if edge is not None else []
        if index - head <= len(units) - index:
            before = sum(unit.tokens for unit in units[head:index])
        else:
            before = self.message_tokens - sum(unit.tokens for unit in units[index:])
        before -= sum(slot.tokens for slot in inside)
        rest = (slot for i in range(index, len(units)) for slot in units[i].slots)
        return before, chain(inside, rest)

    def slot_at(self, order: float) -> Slot | None:
        """The slot whose place is `order`, if it is in the window."""
        index = bisect_right(self._units, order, lo=self._head, key=order_of) - 1
        if index < self._head:
            return None
        return next((s for s in self._units[index].slots if s.order == order), None)

    def forwards(self) -> Iterator[Unit]:
        """The units that may be evicted, oldest first, lazily."""
        units = self._units
        while self._first_free < len(units) and _stays(units[self._first_free]):
            self._first_free += 1
        for index in range(self._first_free, len(units)):
            unit = units[index]
            if not self.is_pinned(unit):
                yield unit

    def backwards(self) -> Iterator[Unit]:
        """The units that may be evicted, newest first, lazily."""
        for unit in self.units_backwards:
            if not self.is_pinned(unit):
                yield unit

    def units_before_turn(self, turn: int) -> tuple[Unit, ...]:
        """The units that may be evicted and stand before a turn of the window.

        Parameters
        ----------
        turn : int
            Counted from the end, −1 being the latest turn.

        Returns
        -------
        tuple of Unit
            Empty if the window has no more turns than that.
        """
        if turn >= 0:
            raise ValueError(f"turn is counted from the end: -1 or less, not {turn}")
        left = -turn
        start: float | None = None
        for unit in self.units_backwards:
            if unit.starts_turn:
                if left == 0:
                    break
                left -= 1
                start = unit.order
        else:
            return ()
        evicted = []
        for unit in self.forwards():
            if start is None or unit.order >= start:
                break
            evicted.append(unit)
        return tuple(evicted)

    # --- drawing

    def blocks(self) -> list[dict[str, object]]:
        """The slots as plain values, for drawing: kind, tokens, state, pinned, position, text."""
        drawn = []
        for unit in self.units:
            pinned = self.is_pinned(unit)
            for slot in unit.slots:
                text = slot.message.text
                calls = "; ".join(f"{c.name}({c.arguments})" for c in slot.message.tool_calls)
                drawn.append(
                    {
                        "kind": slot.kind,
                        "tokens": slot.tokens,
                        "state": slot.state,
                        "pinned": pinned,
                        "position": slot.position,
                        "covers": _covers(slot),
                        "turn": self.turn_numbers.get(slot.position),
                        "text": f"{text}\n{calls}" if text and calls else text or calls,
                    }
                )
        return drawn

    def _repr_html_(self) -> str:
        from chatmem_lab.html.window import window_html

        return window_html(
            self.blocks(),
            budget=self.budget,
            count_kind=self.count_kind,
            tool_schema_tokens=self.tool_schema_tokens,
            overhead_tokens=self.overhead_tokens,
            request=self.request,
            policy=str(self.policy),
            absent_messages=self.absent_messages,
            prefix_tokens=self.prefix_tokens,
        )

    def __repr__(self) -> str:
        budget = f" of {self.budget:,}" if self.budget is not None else ""
        return f"<Window {len(self)} messages, {self.tokens:,}{budget} tokens>"


def _stays(unit: Unit) -> bool:
    return unit.is_held or unit.is_instruction


def _covers(slot: Slot) -> int | None:
    """How many messages of the history a summary stands for."""
    return None if slot.message.summary is None else slot.message.summary.messages
