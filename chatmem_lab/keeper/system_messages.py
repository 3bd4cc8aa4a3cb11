"""Which system messages leave because another one comes."""

from __future__ import annotations

from typing import NamedTuple

from chatmem_lab.messages import Message
from chatmem_lab.window import Unit, Window

__all__ = ["Batch", "first_system", "replaced_by"]


class Batch(NamedTuple):
    """One addition of several messages: what was there before it."""

    since: int
    texts: frozenset[str]


def first_system(window: Window) -> Unit | None:
    """The system message that the rules speak of."""
    if not window.instruction_messages:
        return None
    return next((u for u in window.units if u.role == "system" and u.is_instruction), None)


def replaced_by(message: Message, rule: str, window: Window, batch: Batch | None) -> list[Unit]:
    """The system messages that leave because `message` comes, by the rule `new_system`."""
    if rule == "keep":
        return []
    if rule != "replace_all":
        current = first_system(window)
        return [] if current is None else [current]
    held = [unit for unit in window.units if unit.role == "system" and unit.is_instruction]
    if batch is None:
        known = frozenset(unit.slots[0].message.text for unit in held)
    else:
        known = batch.texts
        held = [unit for unit in held if unit.positions[0] <= batch.since]
    return [] if message.text in known else held
