"""What a policy that sees the whole history leaves of it, as slots in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set

import msgspec

from chatmem_lab.messages import Message
from chatmem_lab.tokens import TokenCounter
from chatmem_lab.window import Revision, Slot, State, Window

__all__ = ["slots_left", "what_changed"]

#: A made message comes this much behind the one before it, or here before all others.
_STEP, _FRONT = 1e-6, -1e6


def slots_left(
    history: Window,
    revision: Revision,
    current: Iterable[Slot],
    counter: TokenCounter,
    make: Callable[[Message], Slot],
) -> list[tuple[Slot, bool]]:
    """The slots that `revision` leaves of `history`, each with whether it joins the last.

    Where nothing changed, the slot is the one that the window holds already, so that it
    neither leaves nor enters.
    """
    current = list(current)
    shown: dict[int | None, Slot] = {s.position: s for s in current if s.position is not None}
    made: dict[object, list[Slot]] = {}
    for slot in reversed([slot for slot in current if slot.position is None]):
        made.setdefault(slot.message.key, []).append(slot)

    def made_slot(message: Message) -> Slot:
        known = made.get(message.key)
        return known.pop() if known else make(message)

    evicted = {id(unit) for unit in revision.evict}
    inserts: dict[int | None, list[Message]] = {}
    for insert in revision.insert:
        key = None if insert.before is None else id(insert.before)
        inserts.setdefault(key, []).append(insert.message)
    left: list[tuple[Slot, bool]] = []
    for unit in history.units:
        left.extend((made_slot(message), False) for message in inserts.get(id(unit), ()))
        if id(unit) not in evicted:
            for index, slot in enumerate(unit.slots):
                left.append((_seen(slot, revision, shown, counter), index > 0))
    left.extend((made_slot(message), False) for message in inserts.get(None, ()))
    return _in_order(left)


def what_changed(
    old: Iterable[Slot], new: Iterable[Slot], shown: Set[int]
) -> dict[str, list[Slot]]:
    """The slots by what happened to them, in the words of events; only what did happen.

    `shown` holds the positions that were in the window or have arrived since.
    """
    before = {id(slot): slot for slot in old}
    now = list(new)
    after = {id(slot) for slot in now}
    positions = {slot.position for slot in now if slot.position is not None}
    held = {slot.position for slot in before.values()}
    entered = [slot for slot in now if id(slot) not in before]
    changes = {
        "evict": [
            slot
            for slot in before.values()
            if id(slot) not in after and slot.position not in positions
        ],
        "return": [s for s in entered if s.position is not None and s.position not in shown],
        "clear": [s for s in entered if s.state == "cleared" and s.position in held],
        "clamp": [s for s in entered if s.state == "clamped" and s.position in held],
        "insert": [s for s in entered if s.position is None],
    }
    return {kind: slots for kind, slots in changes.items() if slots}


def _seen(
    slot: Slot, revision: Revision, shown: Mapping[int | None, Slot], counter: TokenCounter
) -> Slot:
    message = revision.replace.get(slot, slot.message)
    held = shown.get(slot.position)
    if held is not None and held.message.key == message.key:
        return held
    if message is slot.message:
        return slot
    count = counter.count_message(message)
    state: State = "cleared" if revision.replaced_as == "clear" else "clamped"
    return msgspec.structs.replace(
        slot, message=message, tokens=count.tokens, state=state, count_kind=count.kind
    )


def _in_order(slots: Iterable[tuple[Slot, bool]]) -> list[tuple[Slot, bool]]:
    """The same slots with rising order; only where messages were made or moved is it new."""
    placed: list[tuple[Slot, bool]] = []
    last: float | None = None
    for slot, joins in slots:
        if last is not None and slot.order <= last:
            slot = msgspec.structs.replace(slot, order=last + _STEP)
        elif slot.position is None and slot.order == 0.0:
            order = _FRONT if last is None else last + _STEP
            slot = msgspec.structs.replace(slot, order=order)
        placed.append((slot, joins))
        last = slot.order
    return placed
