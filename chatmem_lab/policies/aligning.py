"""What a function made of a window's messages, as a revision.

Each returned message is traced to the slot that it came from: missing ones are evicted, the
same with other content is replaced, new ones are inserted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from chatmem_lab.messages import Message
from chatmem_lab.window import KEEP, Insert, Revision, Slot, Unit, Window

__all__ = ["Aligned", "align", "revision_of"]

#: A returned message and the slot that it came from, or None for a new one.
Aligned = tuple[Slot | None, Message]


def revision_of(
    window: Window,
    aligned: Sequence[Aligned],
    *,
    reason: str,
    repair: bool = False,
    again: Sequence[Unit] = (),
    replaced_as: Literal["clear", "clamp"] = "clamp",
) -> Revision:
    """The revision that makes `aligned` of `window`; `KEEP` if that is what it holds.

    Parameters
    ----------
    window : Window
    aligned : sequence of (Slot or None, Message)
    reason : str
    repair : bool
        Units of which a part is kept, and pinned ones, are kept whole.
    again : sequence of Unit
        Units whose messages were returned twice.
    replaced_as : {"clear", "clamp"}
    """
    kept = {id(slot): message for slot, message in aligned if slot is not None}
    evict, repaired = _missing(window, kept, repair)
    repaired += [unit for unit in [*_moved(window, aligned), *again] if unit not in repaired]
    replace = {
        slot: message
        for slot, message in aligned
        if slot is not None and message is not slot.message and not message.same_as(slot.message)
    }
    insert = _inserts(window, aligned, repair=repair)
    if not (evict or replace or insert or repaired):
        return KEEP
    return Revision(
        evict=tuple(evict),
        replace=replace,
        replaced_as=replaced_as,
        insert=insert,
        repaired=tuple(repaired),
        reason=reason,
    )


def _missing(
    window: Window, kept: dict[int, Message], repair: bool
) -> tuple[list[Unit], list[Unit]]:
    evict: list[Unit] = []
    repaired: list[Unit] = []
    for unit in window.units:
        held = sum(id(slot) in kept for slot in unit.slots)
        if held == 0 and not (repair and window.is_pinned(unit)):
            evict.append(unit)
        elif held < len(unit):
            repaired.append(unit)
    return evict, repaired


def align(slots: Sequence[Slot], returned: Sequence[Message]) -> list[Aligned]:
    """Each returned message with the slot that it came from, or None for a new one."""
    by_object: dict[int, list[Slot]] = {}
    by_id: dict[object, list[Slot]] = {}
    by_content: dict[object, list[Slot]] = {}
    for slot in slots:
        by_object.setdefault(id(slot.message), []).append(slot)
        identity = _identity(slot.message)
        if identity is not None:
            by_id.setdefault(identity, []).append(slot)
        by_content.setdefault(slot.message.key, []).append(slot)
    taken: set[int] = set()

    def take(candidates: list[Slot] | None) -> Slot | None:
        for slot in candidates or ():
            if id(slot) not in taken:
                taken.add(id(slot))
                return slot
        return None

    found: list[Slot | None] = [take(by_object.get(id(message))) for message in returned]
    for index, message in enumerate(returned):
        if found[index] is None:
            found[index] = take(by_id.get(_identity(message)))
    for index, message in enumerate(returned):
        if found[index] is None:
            found[index] = take(by_content.get(message.key))
    return list(zip(found, returned))


def _moved(window: Window, aligned: Sequence[Aligned]) -> list[Unit]:
    """Units that a function put elsewhere; a window keeps its order."""
    unit_of = {id(slot): unit for unit in window.units for slot in unit.slots}
    moved: dict[int, Unit] = {}
    last = float("-inf")
    for slot, _ in aligned:
        if slot is not None and slot.order < last:
            unit = unit_of[id(slot)]
            moved[id(unit)] = unit
        elif slot is not None:
            last = slot.order
    return list(moved.values())


def _identity(message: Message) -> object:
    """What stays the same where a function rewrites a message; None if nothing does."""
    if message.id is not None:
        return message.id
    if message.role == "tool" and message.tool_call_id:
        return ("answers", message.tool_call_id)
    return ("calls", message.tool_calls) if message.tool_calls else None


def _inserts(window: Window, aligned: Sequence[Aligned], *, repair: bool) -> tuple[Insert, ...]:
    """The new messages; with `repair` no calls and results, which would be in no unit."""
    unit_of = {id(slot): unit for unit in window.units for slot in unit.slots}
    inserts: list[Insert] = []
    before: Unit | None = None
    for slot, message in reversed(aligned):
        if slot is not None:
            before = unit_of[id(slot)]
        elif not (repair and (message.tool_calls or message.role == "tool")):
            inserts.append(Insert(message, before))
    return tuple(reversed(inserts))
