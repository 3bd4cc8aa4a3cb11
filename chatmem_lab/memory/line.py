"""`LineState`: one history from its first message on, with its window, as commits tell it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from msgspec import Struct

from chatmem_lab.keeper import Event
from chatmem_lab.messages import Message
from chatmem_lab.stores import Change, Commit, Placed

__all__ = ["LineState", "lines_of", "state_of"]


class LineState(Struct, frozen=True):
    """What a line holds: its history, what happened, and its window.

    `given` is the number of messages, from the first, that entered as they were given.
    """

    messages: Sequence[Message] = ()
    events: Sequence[Event] = ()
    given: int = 0
    window: Sequence[Placed] = ()


def lines_of(commits: Iterable[Commit]) -> list[list[Commit]]:
    """The commits of each line of a session, oldest first; the last line is the active one."""
    lines: list[list[Commit]] = [[]]
    for commit in commits:
        if commit.line is not None:
            lines.append([])
        lines[-1].append(commit)
    return lines


def state_of(commits: Iterable[Commit], *, until: int | None = None) -> LineState:
    """What the commits of one line leave; not beyond its first `until` messages."""
    messages: list[Message] = []
    events: list[Event] = []
    window: dict[float, Placed] = {}
    given = 0
    for commit in commits:
        changes = deque(commit.changes)
        start = commit.line.window if commit.line is not None else None
        if commit.line is not None:
            given = commit.line.given
        if start is not None:
            messages += commit.messages
            window = {placed.order: placed for placed in start}
        else:
            for message in commit.messages:
                if len(messages) == until:
                    break
                _change(window, changes, len(messages))
                order = float(len(messages))
                window[order] = Placed(order, len(messages))
                messages.append(message)
        _change(window, changes, len(messages))
        events += commit.events
    if until is not None:
        events = [event for event in events if event.position < until]
    ordered = sorted(window.values(), key=lambda placed: placed.order)
    return LineState(messages, events, given, ordered)


def _change(window: dict[float, Placed], changes: deque[Change], at: int) -> None:
    while changes and changes[0].at <= at:
        change = changes.popleft()
        for order in change.left:
            window.pop(order, None)
        window.update((placed.order, placed) for placed in change.entered)
