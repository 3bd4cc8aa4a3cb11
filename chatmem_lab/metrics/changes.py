"""`changes_at`: what is different in the window since the request before, and why."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd

__all__ = ["COLUMNS", "changes_at", "removal_requests"]

#: Of the table that `changes_at` makes.
COLUMNS = ("change", "slot", "position", "kind", "tokens_before", "tokens_after", "reason")

#: Kinds of `run.events` that take something out of the window, wholly or in part.
REMOVALS = ("evict", "fold", "clear", "clamp", "system_replaced")
#: What an end in `run.map` is called here.
_LEFT = {"evict": "evicted", "fold": "folded", "system_replaced": "replaced"}
#: Kinds of `run.events` that change no slot, and what they are called here.
_NOTES = {
    "over_budget": "over budget",
    "summarize_failed": "summarize failed",
    "repair": "kept whole",
}
#: The kinds of `run.events` that can explain a change.
_CAUSES = {
    "evicted": ("evict",),
    "folded": ("fold",),
    "replaced": ("system_replaced",),
    "cleared": ("clear", "clamp"),
    "clamped": ("clamp", "clear"),
    "returned": ("return",),
    "made": ("fold", "insert"),
}


class _Run(Protocol):
    @property
    def map(self) -> pd.DataFrame: ...
    @property
    def events(self) -> pd.DataFrame: ...
    @property
    def requests(self) -> pd.DataFrame: ...


def changes_at(run: _Run, request: int) -> pd.DataFrame:
    """What is different in the window at `request` from the one at the request before.

    Parameters
    ----------
    run : Replay
        Anything with `run.map`, `run.events` and `run.requests`.
    request : int

    Returns
    -------
    DataFrame
        A row per slot that changed: ``change`` (entered, returned, made, evicted, folded,
        cleared, clamped, replaced), ``slot``, ``position``, ``kind``, ``tokens_before`` and
        ``tokens_after`` in the two windows, ``reason``; and a row per event that changed no
        slot (over budget, summarize failed, kept whole) with neither slot nor tokens. The
        sums of ``tokens_after`` and ``tokens_before`` differ by as much as the
        ``input_tokens`` of the two requests. A message that came and left again between
        them is in neither window: its tokens are 0 in both.

    Raises
    ------
    IndexError
        If there is no such request.

    Examples
    --------
    >>> import chatmem_lab as cml
    >>> conversation = cml.Conversation(
    ...     "chat",
    ...     (cml.user("Hi, I am Ada."), cml.assistant("Hello!"), cml.user("Who am I?"),
    ...      cml.assistant("Ada.")),
    ... )
    >>> run = cml.replay(conversation, cml.MessageWindow(2), model="gpt-4o")
    >>> changes_at(run, 1)[["change", "position", "tokens_before", "tokens_after"]].values.tolist()
    [['entered', 1, 0, 6], ['entered', 2, 0, 8], ['evicted', 0, 10, 0]]
    """
    requests = len(run.requests)
    if not 0 <= request < requests:
        raise IndexError(f"there is no request {request}: there are {requests}, from 0")
    spans, events = run.map, run.events
    came = spans[(spans["first_request"] == request).to_numpy()]
    left = spans[(spans["last_request"] == request - 1).to_numpy()]
    now = events[(events["request"] == request).to_numpy()]
    # A position that left and came is one message in a new state.
    held = left[left["position"].notna().to_numpy()]
    before = dict(zip(held["position"].tolist(), held["tokens"].tolist()))
    here = set(came["position"].dropna().tolist())
    rows = _arrivals(spans, came, before, request)
    gone = left[~left["position"].isin(here).to_numpy(bool, na_value=False)]
    rows += _departures(gone, now)
    rows += _passed(run, rows, now)
    reasons = _reasons(now)
    for row in rows:
        if not row["reason"]:
            kinds = _CAUSES.get(row["change"], ())
            found = (reasons.get((kind, row["position"])) for kind in kinds)
            row["reason"] = next((reason for reason in found if reason), "")
    rows += [
        {"change": _NOTES[kind], "kind": "", "reason": reason}
        for kind, reason in zip(now["kind"], now["reason"])
        if kind in _NOTES
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    whole = dict.fromkeys(("slot", "position", "tokens_before", "tokens_after"), "Int64")
    return table.astype(whole)


def removal_requests(run: _Run) -> list[int]:
    """The requests before which something was evicted, folded, cleared, clamped or replaced.

    Examples
    --------
    >>> import chatmem_lab as cml
    >>> conversation = cml.Conversation(
    ...     "chat", (cml.user("1"), cml.assistant("2"), cml.user("3"), cml.assistant("4"))
    ... )
    >>> removal_requests(cml.replay(conversation, cml.MessageWindow(2), model="gpt-4o"))
    [1]
    """
    at = run.events.loc[run.events["kind"].isin(REMOVALS).to_numpy(), "request"].to_numpy(int)
    return np.unique(at[at < len(run.requests)]).tolist()


Row = dict[str, Any]


def _row(change: str, span: Any, before: int, after: int) -> Row:
    position = None if pd.isna(span.position) else int(span.position)
    return {
        "change": change,
        "slot": span.slot,
        "position": position,
        "kind": span.kind,
        "tokens_before": before,
        "tokens_after": after,
        "reason": "",
    }


def _spans(table: pd.DataFrame) -> list[Any]:
    return list(table.itertuples(index=False))


def _arrivals(
    spans: pd.DataFrame, came: pd.DataFrame, before: dict[int, int], request: int
) -> list[Row]:
    """A row per span that begins here: a message that entered, or one in a new state."""
    earlier = spans[(spans["first_request"] < request).to_numpy()]
    known = set(earlier.loc[earlier["position"].isin(came["position"]), "position"].dropna())
    rows = []
    for span in _spans(came):
        position = None if pd.isna(span.position) else int(span.position)
        change = str(span.state)
        if change == "kept":
            change = "returned" if position in known else "entered"
            if position in before:
                if before[position] == span.tokens:
                    continue  # moved, and otherwise as it was
                change = "replaced"
        was = before.get(position, 0) if position is not None else 0
        rows.append(_row(change, span, int(was), int(span.tokens)))
    return rows


def _departures(gone: pd.DataFrame, now: pd.DataFrame) -> list[Row]:
    """A row per span that ended with its message.

    One that was cleared or clamped first has no span in that state if no request saw it.
    """
    folded = {
        position
        for units in now.loc[(now["kind"] == "fold").to_numpy(), "units"]
        for unit in units
        for position in unit
    }
    rows = []
    for span in _spans(gone):
        change = _LEFT.get(str(span.end))
        if change is None and span.end:
            change = "folded" if span.position in folded else "evicted"
        if change is not None:
            rows.append(_row(change, span, int(span.tokens), 0))
    return rows


def _passed(run: _Run, rows: list[Row], now: pd.DataFrame) -> list[Row]:
    """A row per message that came and left between the two requests."""
    known = {row["position"] for row in rows if row["tokens_after"] == 0}
    conversation = getattr(run, "conversation", None)
    passed = []
    for kind, units, reason in zip(now["kind"], now["units"], now["reason"]):
        if kind not in _LEFT:
            continue
        for position in (p for unit in units for p in unit):
            if position not in known:
                known.add(position)
                what = "" if conversation is None else conversation.messages[position].kind
                passed.append(
                    {"change": _LEFT[kind], "position": position, "kind": what,
                     "tokens_before": 0, "tokens_after": 0, "reason": reason}
                )  # fmt: skip
    return passed


def _reasons(now: pd.DataFrame) -> dict[tuple[str, int | None], str]:
    """The reason of each kind of event, by position; None for a made message."""
    found: dict[tuple[str, int | None], str] = {}
    for kind, units, reason in zip(now["kind"], now["units"], now["reason"]):
        found[kind, None] = reason
        for unit in units:
            for position in unit:
                found[kind, position] = reason
    return found
