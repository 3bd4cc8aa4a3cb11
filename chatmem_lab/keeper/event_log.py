"""`EventLog`: records what happens to a window, in order."""

from __future__ import annotations

from typing import Any

from chatmem_lab.keeper.event import Event
from chatmem_lab.window import Window

__all__ = ["EventLog"]


class EventLog:
    """The events of one window.

    Attributes
    ----------
    events : list of Event
    position : int
        The newest message's position; −1 before the first.
    request : int
        The number of requests so far.
    """

    __slots__ = ("_window", "events", "position", "request")

    def __init__(self, window: Window) -> None:
        self._window = window
        self.events: list[Event] = []
        self.position = -1
        self.request = 0

    def record(
        self, kind: str, stage: int = 0, *, tokens_before: int | None = None, **facts: Any
    ) -> None:
        """Something happened: `facts` are fields of `Event`."""
        after = self._window.tokens
        self.events.append(
            Event(
                kind=kind,
                position=self.position,
                request=self.request,
                stage=stage,
                tokens_before=after if tokens_before is None else tokens_before,
                tokens_after=after,
                **facts,
            )
        )
