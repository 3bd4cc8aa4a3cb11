"""`LineState`: one history from its first message on, with its window, as commits tell it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from chatmem_lab.keeper import Event
from chatmem_lab.messages import Message
from chatmem_lab.stores.commit import Change, Commit, Placed

__all__ = ["LineState", "lines_of", "state_of"]


class LineState(Struct, frozen=True):
    """What a line holds: its history, what happened, and its window.

    Parameters
    ----------
    messages : sequence of Message
    events : sequence of Event
    given : int
        How many messages, from the first, entered as they were given.
    window : sequence of Placed
    times : sequence of datetime or None
        When each message was written.
    is_over, was_asked : bool
        As in `Commit`.
    """

    messages: Sequence[Message] = ()
    events: Sequence[Event] = ()
    given: int = 0
    window: Sequence[Placed] = ()
    times: Sequence[datetime | None] = ()
    is_over: bool = False
    was_asked: bool = False


def lines_of(commits: Iterable[Commit]) -> list[list[Commit]]:
    """The commits of each line of a session, oldest first; the last line is the active one."""
    lines: list[list[Commit]] = [[]]
    for commit in commits:
        if commit.line is not None:
            lines.append([])
        lines[-1].append(commit)
    return lines


def state_of(
    commits: Iterable[Commit], *, start: LineState | None = None, until: int | None = None
) -> LineState:
    """What the commits of one line leave, going on from `start`.

    `until` is the number of messages at which to stop.
    """
    start = LineState() if start is None else start
    messages, events, times = list(start.messages), list(start.events), list(start.times)
    window = {placed.order: placed for placed in start.window}
    given, is_over, was_asked = start.given, start.is_over, start.was_asked
    beyond = False
    for commit in commits:
        changes = deque(commit.changes)
        begun = commit.line.window if commit.line is not None else None
        if commit.line is not None:
            given = commit.line.given
        if begun is not None:
            messages += commit.messages
            window = {placed.order: placed for placed in begun}
        else:
            for message in commit.messages:
                if len(messages) == until:
                    beyond = True
                    break
                _change(window, changes, len(messages))
                order = float(len(messages))
                window[order] = Placed(order, len(messages))
                messages.append(message)
        _change(window, changes, len(messages))
        times += [commit.created_at] * (len(messages) - len(times))
        events += commit.events
        if beyond:
            break
        is_over, was_asked = commit.is_over, commit.was_asked
    if until is not None:
        events = [event for event in events if event.position < until]
    ordered = sorted(window.values(), key=lambda placed: placed.order)
    return LineState(messages, events, given, ordered, times, is_over, was_asked)


def _change(window: dict[float, Placed], changes: deque[Change], at: int) -> None:
    while changes and changes[0].at <= at:
        change = changes.popleft()
        for order in change.left:
            window.pop(order, None)
        window.update((placed.order, placed) for placed in change.entered)
