"""Events and spans of a replay in closed form, worked out when somebody asks for them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from chatmem_lab.engine.layout import Ints, Layout
from chatmem_lab.engine.totals import Totals
from chatmem_lab.engine.trace import Span
from chatmem_lab.keeper import Event
from chatmem_lab.policies import MessageWindow, Policy, TokenWindow
from chatmem_lab.policies.limits import over_budget_reason, over_count_reason, parts_of_sum
from chatmem_lab.policies.suffix import SuffixPolicy
from chatmem_lab.window import Slot

__all__ = ["events_of_cuts", "spans_of_cuts"]

Bools = npt.NDArray[np.bool_]


def events_of_cuts(
    layout: Layout, policy: Policy, cuts: Ints, first_unit: int, over: Bools
) -> list[Event]:
    """What happened, from the cuts after each message; units count from `first_unit`."""
    totals, cut = layout.totals, cuts - first_unit
    fixed = layout.tool_schemas.tokens + layout.counter.request_tokens
    units = [u for u in layout.conversation.units if not layout.is_instruction[u.start]]
    tokens = totals.instruction_tokens + totals.body_tokens + fixed
    gone = totals.body_tokens[totals.start]
    requests = np.searchsorted(totals.at, np.arange(-1, len(cut)), side="right")
    found: list[tuple[int, int, Event]] = []
    for time in np.flatnonzero(np.diff(cut, prepend=0)).tolist():
        first, last = int(cut[time - 1]) if time else 0, int(cut[time])
        assert isinstance(policy, SuffixPolicy)
        event = Event(
            kind="evict",
            position=time,
            request=int(requests[time + 1]),
            units=tuple(tuple(unit) for unit in units[first:last]),
            messages=sum(map(len, units[first:last])),
            tokens_before=int(tokens[time + 1] - gone[first]),
            tokens_after=int(tokens[time + 1] - gone[last]),
            reason=policy.why,
        )
        found.append((time, 0, event))
    asked = np.flatnonzero(totals.asked)
    looked = np.unique(np.concatenate([asked, totals.at - 1, np.array([len(cut) - 1])]))
    was_over = False
    for time in looked.tolist():
        if over[time + 1] and not was_over:
            held = int(tokens[time + 1] - gone[int(cut[time]) if time >= 0 else 0])
            event = Event(
                kind="over_budget",
                position=time,
                request=int(requests[time + 1]),
                messages=_messages_at(totals, cut, time),
                tokens_before=held,
                tokens_after=held,
                reason=_why_over(layout, policy, cut, time, held),
            )
            found.append((time, 1, event))
        was_over = bool(over[time + 1])
    found.sort(key=lambda entry: entry[:2])
    return [event for _, _, event in found]


def _messages_at(totals: Totals, cut: Ints, time: int) -> int:
    gone = totals.start[int(cut[time])] if time >= 0 else 0
    return int(totals.instructions[time + 1] + totals.body[time + 1] - totals.body[gone])


def _why_over(layout: Layout, policy: Policy, cut: Ints, time: int, held: int) -> str:
    totals = layout.totals
    after = time + 1
    is_body = bool(totals.is_body_before[after])
    newest_start = totals.start[totals.units[after] - 1] if is_body else after
    if isinstance(policy, MessageWindow):
        instructions = int(totals.instructions[after])
        messages = _messages_at(totals, cut, time)
        return over_count_reason(
            policy.max_messages,
            "message",
            messages - (0 if policy.count_pinned else instructions),
            pinned=instructions if policy.count_pinned else 0,
            newest=int(totals.body[after] - totals.body[newest_start]) if is_body else None,
        )
    assert isinstance(policy, TokenWindow)
    parts = parts_of_sum(
        instructions=int(totals.instruction_tokens[after]),
        newest=int(totals.body_tokens[after] - totals.body_tokens[newest_start]) if is_body else 0,
        messages=held - layout.tool_schemas.tokens - layout.counter.request_tokens,
        tool_schemas=layout.tool_schemas.tokens,
        overhead=layout.counter.request_tokens,
    )
    return over_budget_reason(policy.max_tokens, parts)


def spans_of_cuts(layout: Layout, cuts: Ints, first_unit: int) -> list[Span]:
    """Each message that a request shows, from its first request to its last."""
    totals, cut = layout.totals, cuts - first_unit
    positions = np.arange(len(layout))
    first = np.searchsorted(totals.at, positions, side="right")
    unit = np.maximum(totals.units[1:-1] - 1, 0)
    evicted_at = np.searchsorted(cut, unit, side="right")
    leaves = (evicted_at < len(layout)) & ~layout.is_instruction
    last = np.where(
        leaves,
        np.searchsorted(totals.at, evicted_at, side="right") - 1,
        len(totals.at),
    )
    shown = np.flatnonzero(first <= last).tolist()
    return [
        Span(
            Slot(
                layout.messages[p],
                int(layout.tokens[p]),
                p,
                "kept",
                float(p),
                layout.counts[p].kind,
            ),
            int(first[p]),
            int(last[p]),
            "evict" if leaves[p] else "",
        )
        for p in shown
    ]
