"""What a policy that sees the whole history leaves of it, as slots in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from chatmem_lab.messages import Message
from chatmem_lab.tokens import TokenCounter
from chatmem_lab.window import Revision, Slot, Window

__all__ = ["slots_left"]


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
    shown = {slot.position: slot for slot in current}
    evicted = {id(unit) for unit in revision.evict}
    inserts: dict[int | None, list[Message]] = {}
    for insert in revision.insert:
        key = None if insert.before is None else id(insert.before)
        inserts.setdefault(key, []).append(insert.message)
    left: list[tuple[Slot, bool]] = []
    for unit in history.units:
        left.extend((make(message), False) for message in inserts.get(id(unit), ()))
        if id(unit) not in evicted:
            for index, slot in enumerate(unit.slots):
                left.append((_seen(slot, revision, shown, counter), index > 0))
    left.extend((make(message), False) for message in inserts.get(None, ()))
    return _in_order(left)


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
    return msgspec.structs.replace(
        slot, message=message, tokens=count.tokens, state="clamped", count_kind=count.kind
    )


def _in_order(slots: Iterable[tuple[Slot, bool]]) -> list[tuple[Slot, bool]]:
    """The same slots with rising order, where messages were made."""
    placed: list[tuple[Slot, bool]] = []
    last = -1.0
    for slot, joins in slots:
        if slot.order <= last or slot.position is None:
            slot = msgspec.structs.replace(slot, order=last + 1e-6)
        placed.append((slot, joins))
        last = slot.order
    return placed
