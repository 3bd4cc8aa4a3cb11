"""`OwnedWindow`: a window with the verbs that change it, for its one owner."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

import msgspec

from chatmem_lab.messages import INSTRUCTION_ROLES, Message
from chatmem_lab.window.slot import Slot, State, Unit, order_of
from chatmem_lab.window.window import Window

__all__ = ["Journal", "OwnedWindow"]

_W = TypeVar("_W", bound=Window)


class Journal(Protocol):
    """Told of every slot that enters or leaves a window."""

    def entered(self, slot: Slot) -> None: ...

    def left(self, slot: Slot, why: str) -> None: ...


class OwnedWindow(Window):
    """The keeper's own window. Every change is told to `journal`, if there is one."""

    __slots__ = ("_latest", "journal")

    def __init__(self, *args: object, journal: Journal | None = None, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.journal = journal
        #: The position of the message that arrived last.
        self._latest = -1.0

    # --- entering

    def append(self, slot: Slot, *, joins: bool = False) -> None:
        """`slot` enters at the end; with `joins`, it belongs to the newest unit."""
        if joins and self._newest is not None:
            self._join(self._newest, slot)
        else:
            unit = self._unit(slot)
            self._units.append(unit)
            self._newest = unit
            if unit.starts_turn:
                self._latest_user = unit
        self._entered(slot)

    def put_in_front(self, slot: Slot, *, newest: bool) -> None:
        """`slot` enters before everything else."""
        order = self._units[self._head].order - 1.0 if self.unit_count else self._latest
        own = order if slot.position is None else slot.order
        unit = self._unit(msgspec.structs.replace(slot, order=min(order, own)))
        self._units.insert(self._head, unit)
        if newest:
            self._newest = unit
        self._first_free = self._head
        self._entered(unit.slots[0])

    def insert(self, slot: Slot, index: int) -> None:
        """`slot` enters as a unit of its own before the unit at `index`."""
        units = self._units
        after = units[index].order if index < len(units) else self._next_order
        before = units[index - 1].slots[-1].order if index > self._head else after - 1.0
        order = (before + after) / 2
        if not before < order < after:
            index, order = self._respaced(index)
        unit = self._unit(msgspec.structs.replace(slot, order=order))
        units.insert(index, unit)
        self._first_free = min(self._first_free, index)
        self._entered(unit.slots[0])

    def _respaced(self, index: int) -> tuple[int, float]:
        """Room between the made messages around `index`, and the order that is free there.

        Between two numbers there are but so many others: made messages that crowd at one
        place are put at equal distances.
        """
        units = self._units
        start, stop = index, index
        while start > self._head and units[start - 1].is_made:
            start -= 1
        while stop < len(units) and units[stop].is_made:
            stop += 1
        high = units[stop].order if stop < len(units) else self._next_order
        low = units[start - 1].slots[-1].order if start > self._head else high - 1.0
        step = (high - low) / (stop - start + 2)
        for place in range(start, stop):
            old = units[place].slots[0]
            new = msgspec.structs.replace(
                old, order=low + step * (place - start + 1 + (place >= index))
            )
            units[place].slots[0] = new
            self._left(old, "")
            self._entered(new)
        return index, low + step * (index - start + 1)

    @property
    def _next_order(self) -> float:
        """The order of the message that arrives next."""
        return self._latest + 1.0

    def take_place(self, slot: Slot, order: float) -> None:
        """`slot` enters as a unit of its own where `order` was."""
        unit = self._unit(msgspec.structs.replace(slot, order=order))
        index = bisect_left(self._units, order, lo=self._head, key=order_of)
        self._units.insert(index, unit)
        self._first_free = self._head
        self._entered(unit.slots[0])

    # --- leaving

    def remove(self, leaving: Iterable[Unit], why: str) -> None:
        """The units `leaving` leave; the others close up.

        Costs as many steps as the last of them is away from the front.
        """
        left = {id(unit) for unit in leaving}
        units, head = self._units, self._head
        survivors: list[Unit] = []
        index = head
        while left:
            unit = units[index]
            if id(unit) in left:
                left.discard(id(unit))
                self._leave(unit, why)
            else:
                survivors.append(unit)
            index += 1
        start = index - len(survivors)
        units[start:index] = survivors
        self._head = start
        self._first_free = start
        if start > 64 and start * 2 > len(units):
            del units[:start]
            self._head = self._first_free = 0

    def index_of(self, unit: Unit) -> int:
        """Where `unit` stands, for `insert`; ValueError if it is not in the window."""
        for index in range(self._head, len(self._units)):
            if self._units[index] is unit:
                return index
        raise ValueError(f"{unit!r} is not in the window")

    def end_index(self) -> int:
        """The index after the last unit, for `insert`."""
        return len(self._units)

    # --- staying with other content

    def replace(self, slot: Slot, message: Message, tokens: int, state: State) -> Slot:
        """`slot` stays with the content `message`."""
        unit, index = self._find(slot)
        new = msgspec.structs.replace(slot, message=message, tokens=tokens, state=state)
        unit.slots[index] = new
        unit.tokens += tokens - slot.tokens
        unit.is_held = any(map(self._is_held, unit.slots))
        self._left(slot, "clear" if state == "cleared" else "clamp")
        self._entered(new)
        return new

    def replace_all(
        self, slots: Iterable[tuple[Slot, bool]], why: Callable[[Slot], str] = lambda slot: ""
    ) -> None:
        """The window becomes `slots`, each with whether it belongs to the unit before it.

        What stays is not told to the journal; what leaves, and `why`, and what enters is.
        """
        old = {id(slot): slot for slot in self.slots}
        newest = self._newest.slots[-1].position if self._newest is not None else None
        self._units, self._head, self._first_free = [], 0, 0
        self._newest = self._latest_user = None
        kept: set[int] = set()
        new: list[Slot] = []
        for slot, joins in slots:
            if joins and self._units:
                self._join(self._units[-1], slot)
            else:
                self._units.append(self._unit(slot))
            if id(slot) in old:
                kept.add(id(slot))
            else:
                new.append(slot)
        for key, slot in old.items():
            if key not in kept:
                self._left(slot, why(slot))
        for slot in new:
            self._entered(slot)
        for unit in self._units:
            if unit.starts_turn:
                self._latest_user = unit
        if newest is not None:
            self.settle(newest)
        self.version += 1

    def settle(self, newest: int, since: int = 0) -> None:
        """The unit that holds the latest position up to `newest` is the one that arrived last.

        None did, if that position is before `since`.
        """
        held = [
            u
            for u in self._units[self._head :]
            if u.positions and u.positions[0] <= newest and u.positions[-1] >= since
        ]
        self._newest = max(held, key=lambda unit: unit.positions[0], default=None)
        self._latest = max(self._latest, float(newest))

    def copy(self, apart: Callable[[Message], Message]) -> Window:
        """The window as it is now, for others to keep.

        `apart` gives each message facts of its own.
        """
        copied = self._empty(Window)
        for unit in self.units:
            again = Unit(unit.slots[0], unit.is_held)
            again.slots = [
                msgspec.structs.replace(slot, message=apart(slot.message)) for slot in unit.slots
            ]
            again.tokens = unit.tokens
            copied._units.append(again)
            if unit is self._newest:
                copied._newest = again
            if unit is self._latest_user:
                copied._latest_user = again
        for name in ("_messages", "_turns", "_injected", "message_tokens", "absent_messages"):
            setattr(copied, name, getattr(self, name))
        copied._instruction_messages = self._instruction_messages
        copied._instruction_tokens = self._instruction_tokens
        return copied

    def without(self, units: Iterable[Unit]) -> OwnedWindow:
        """The window as it would be without `units`; this one stays as it is."""
        left = {id(unit) for unit in units}
        rest = self._empty(OwnedWindow)
        rest.replace_all(
            (slot, index > 0)
            for unit in self.units
            if id(unit) not in left
            for index, slot in enumerate(unit.slots)
        )
        if self._newest is not None and self._newest.positions:
            rest.settle(self._newest.positions[-1])
        return rest

    def _empty(self, kind: type[_W]) -> _W:
        return kind(
            self._count,
            overhead_tokens=self.overhead_tokens,
            tool_schema_tokens=self.tool_schema_tokens,
            tool_schema_kind=self.tool_schema_kind,
            pin_user=self.pin_user,
            pins=self.pins,
            budget=self.budget,
            policy=self.policy,
            session_id=self.session_id,
        )

    # --- bookkeeping

    def _unit(self, slot: Slot) -> Unit:
        return Unit(slot, self._is_held(slot))

    def _join(self, unit: Unit, slot: Slot) -> None:
        unit.slots.append(slot)
        unit.tokens += slot.tokens
        unit.is_held = unit.is_held or self._is_held(slot)

    def _is_held(self, slot: Slot) -> bool:
        if slot.position is None:
            return slot.message.is_injected
        return self.pins is not None and self.pins(slot.message)

    def _find(self, slot: Slot) -> tuple[Unit, int]:
        for position in range(len(self._units) - 1, self._head - 1, -1):
            unit = self._units[position]
            if unit.order <= slot.order <= unit.slots[-1].order:
                for index, candidate in enumerate(unit.slots):
                    if candidate is slot:
                        return unit, index
        raise ValueError("the slot is not in the window")

    def _leave(self, unit: Unit, why: str) -> None:
        for slot in unit.slots:
            self._left(slot, why)
        self.departures += 1
        if unit is self._newest:
            self._newest = None
        if unit is self._latest_user:
            self._latest_user = None

    def _entered(self, slot: Slot) -> None:
        self._tally(slot, 1)
        if self.journal is not None:
            self.journal.entered(slot)

    def _left(self, slot: Slot, why: str) -> None:
        self._tally(slot, -1)
        if self.journal is not None:
            self.journal.left(slot, why)

    def _tally(self, slot: Slot, sign: int) -> None:
        self.version += 1
        self._messages += sign
        self.message_tokens += sign * slot.tokens
        if slot.position is None:
            self._injected += sign * slot.message.is_injected
            return
        if slot.position > self._latest:
            self._latest = float(slot.position)
        if slot.message.role in INSTRUCTION_ROLES:
            self._instruction_messages += sign
            self._instruction_tokens += sign * slot.tokens
        elif slot.message.role == "user":
            self._turns += sign
