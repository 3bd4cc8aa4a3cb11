"""`ResultLog`: the tool results of a window, each looked at once."""

from __future__ import annotations

import json
from typing import NamedTuple

from chatmem_lab.messages import ToolCall
from chatmem_lab.window import Slot, Unit, Window

__all__ = ["ResultLog", "ToolResult", "canonical_arguments"]


class ToolResult(NamedTuple):
    """A tool result in a window, the call that it answers and the message that made it."""

    slot: Slot
    call: ToolCall | None = None
    caller: Slot | None = None


class ResultLog:
    """Which results have come since a policy last looked; kept in a window's `scratch`.

    A shortcut only: a new log gives all results of the window at once.
    """

    def __init__(self) -> None:
        self._upto = float("-inf")

    def new(self, window: Window) -> list[ToolResult]:
        """The results that have come since the last look, oldest first."""
        units: list[Unit] = []
        for unit in window.units_backwards:
            if unit.slots[-1].order <= self._upto:
                break
            units.append(unit)
        found = [
            _with_call(slot, unit)
            for unit in reversed(units)
            for slot in unit.slots
            if slot.order > self._upto and slot.message.role == "tool"
        ]
        if units:
            self._upto = max(self._upto, units[0].slots[-1].order)
        return found


def _with_call(slot: Slot, unit: Unit) -> ToolResult:
    for caller in unit.slots:
        for call in caller.message.tool_calls:
            if call.id == slot.message.tool_call_id:
                return ToolResult(slot, call, caller)
    return ToolResult(slot)


def canonical_arguments(arguments: str) -> str:
    """Arguments in one form whatever the order of their fields; as they are if no JSON.

    >>> canonical_arguments('{"b": 1, "a": 2}'), canonical_arguments("{torn")
    ('{"a": 2, "b": 1}', '{torn')
    """
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
