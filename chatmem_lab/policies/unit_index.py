"""`UnitIndex`: the units of a window by their words, each read once."""

from __future__ import annotations

from chatmem_lab.policies.bm25 import Bm25
from chatmem_lab.window import Unit, Window

__all__ = ["UnitIndex", "text_of"]


def text_of(unit: Unit) -> str:
    """What a unit says: texts, names of tools and their arguments."""
    parts: list[str] = []
    for message in unit.messages:
        parts.append(message.text)
        for call in message.tool_calls:
            parts += [call.name, call.arguments]
    return "\n".join(part for part in parts if part)


class UnitIndex:
    """How well the units of a window fit a text; kept in a window's `scratch`.

    Only a shortcut: a new index reads the whole window. Instructions are not in it. What
    has left is taken out, so that rare is what is rare in the window.
    """

    def __init__(self) -> None:
        self._index = Bm25()
        self._texts: dict[float, str] = {}
        self._upto = float("-inf")
        self._departures = 0

    def look(self, window: Window) -> None:
        """Read what has come since, forget what has left."""
        new: list[Unit] = []
        for unit in window.units_backwards:
            if unit.slots[-1].order <= self._upto:
                break
            new.append(unit)
        for unit in reversed(new):
            if unit.is_instruction:
                continue
            self._forget(unit.order)
            text = text_of(unit)
            self._texts[unit.order] = text
            self._index.add(unit.order, text)
        if new:
            self._upto = max(self._upto, new[0].slots[-1].order)
        if window.departures != self._departures:
            self._departures = window.departures
            for order in [o for o in self._texts if window.slot_at(o) is None]:
                self._forget(order)

    def _forget(self, order: float) -> None:
        if order in self._texts:
            self._index.remove(order, self._texts.pop(order))

    def scores(self, query: str) -> dict[float, float]:
        """The score of each unit that shares a word with `query`, by its place."""
        return {float(key): score for key, score in self._index.scores(query).items()}  # type: ignore[arg-type]
