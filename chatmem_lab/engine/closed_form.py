"""The closed form: window policies computed for a whole conversation at once.

Under these policies a window is the pinned messages and a suffix of the others, so that a
replay is the search for one cut per message. Sums come from running totals; the step path
must agree in every column, event and span (a property test holds them equal).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from chatmem_lab.engine.layout import Ints, Layout
from chatmem_lab.engine.totals import Totals
from chatmem_lab.engine.trace import Span, Trace
from chatmem_lab.keeper import Event
from chatmem_lab.messages import FAULTS
from chatmem_lab.policies import (
    KeepAll,
    MessageWindow,
    Policy,
    Preset,
    TokenWindow,
    TurnWindow,
    split_preset,
)
from chatmem_lab.policies.limits import over_budget_reason, over_count_reason, parts_of_sum
from chatmem_lab.policies.rules import OWN_RULES
from chatmem_lab.policies.suffix import SuffixPolicy
from chatmem_lab.tokens import COUNT_KINDS
from chatmem_lab.window import Slot

__all__ = ["has_closed_form", "replay_closed_form"]

Bools = npt.NDArray[np.bool_]


def has_closed_form(layout: Layout, policy: Policy | Preset) -> bool:
    """Whether `policy` on this conversation is a matter of cuts alone.

    It is not where a system message replaces another, since then the order changes, nor
    where the window must start on a user message or hold one apart from the suffix.
    """
    chosen, rules = split_preset(policy)
    if type(chosen) is KeepAll:
        return rules == OWN_RULES and layout.system_messages <= 1
    if type(chosen) not in (MessageWindow, TokenWindow, TurnWindow):
        return False
    assert isinstance(chosen, SuffixPolicy)
    return (
        rules == OWN_RULES
        and not chosen.start_on_user
        and not chosen.pin_user
        and layout.system_messages <= 1
    )


def replay_closed_form(
    layout: Layout, policies: Sequence[Policy | Preset], *, model: str | None
) -> list[Trace]:
    """Replay `layout`'s conversation under window policies, all at once.

    Parameters
    ----------
    layout : Layout
    policies : sequence of Policy or Preset
        Each must have a closed form on this conversation; see `has_closed_form`.
    model : str, optional
        For the record.

    Returns
    -------
    list of Trace
        One per policy, in order.
    """
    totals = layout.totals
    chosen = [split_preset(policy)[0] for policy in policies]
    cuts = np.zeros((len(chosen), len(layout) + 1), np.int64)
    over = np.zeros((len(chosen), len(layout) + 1), bool)
    for row, policy in enumerate(chosen):
        cuts[row, 1:] = _cuts(totals, policy)
        over[row] = _over(totals, policy, cuts[row])
    at = totals.positions
    held = _Held(totals, at, cuts[:, at])
    columns = {
        "category_tokens": held.category_tokens(),
        "tool_call_tokens": held.of(totals.call_tokens),
        "messages": held.messages,
        "units": totals.instructions[at] + totals.units[at] - held.cut,
        "evicted_messages": np.diff(totals.body[held.gone], axis=1, prepend=0),
        "evicted_tokens": np.diff(totals.body_tokens[held.gone], axis=1, prepend=0),
        "absent_messages": totals.body[held.gone],
        "prefix_tokens": _prefix_tokens(layout, totals, held),
        "count_kind": held.count_kind(layout),
        "over_budget": over[:, at],
        "faults": held.faults(),
    }
    pinned, none = held.pinned_tokens(), np.zeros(len(at), np.int64)
    return [
        Trace(
            layout=layout,
            policy=policies[row],
            budget=policy.budget,
            model=model,
            pinned_tokens=pinned,
            summarizer_input_tokens=none,
            summarizer_output_tokens=none,
            make_events=partial(_events, layout, policy, cuts[row, 1:], over[row]),
            make_spans=partial(_spans, layout, cuts[row, 1:]),
            **{name: column[row] for name, column in columns.items()},
        )
        for row, policy in enumerate(chosen)
    ]


class _Held:
    """What each policy's window holds at each request: the body before `gone` is not in it.

    Arrays have a row per policy and a column per request.
    """

    def __init__(self, totals: Totals, at: Ints, cut: Ints) -> None:
        self.totals = totals
        self.at = at
        self.cut = cut
        self.gone: Ints = totals.start[cut]
        self.messages = totals.instructions[at] + self.of(totals.body)

    def of(self, total: Ints) -> Ints:
        """The body's sum of a running total."""
        held: Ints = total[self.at] - total[self.gone]
        return held

    def category_tokens(self) -> Ints:
        tokens = self.of(self.totals.category)
        tokens[..., 0] += self.totals.instruction_tokens[self.at]
        return tokens

    def pinned_tokens(self) -> Ints:
        totals, at = self.totals, self.at
        newest_start = totals.start[np.maximum(totals.units[at] - 1, 0)]
        newest = totals.body_tokens[at] - totals.body_tokens[newest_start]
        pinned: Ints = totals.instruction_tokens[at] + newest * totals.is_body_before[at]
        return pinned

    def count_kind(self, layout: Layout) -> Ints:
        found = self.of(self.totals.kinds) + self.totals.instruction_kinds[self.at] > 0
        if layout.tool_schemas.tokens:
            found[..., COUNT_KINDS.index(layout.tool_schemas.kind)] = True
        lower, upper = COUNT_KINDS.index("lower_bound"), COUNT_KINDS.index("upper_bound")
        found[..., COUNT_KINDS.index("estimate")] |= found[..., lower] & found[..., upper]
        codes: Ints = (found * np.arange(len(COUNT_KINDS))).max(axis=-1)
        return codes

    def faults(self) -> Ints:
        if self.totals.has_faults:
            faults = self.of(self.totals.faults) + self.totals.instruction_faults[self.at]
        else:
            faults = np.zeros((*self.cut.shape, len(FAULTS)), np.int64)
        faults[..., FAULTS.index("empty_window")] = self.messages == 0
        return faults


# --- where the window is cut


def _weights(totals: Totals, policy: Policy) -> tuple[Ints, Ints | int]:
    """Running totals of what counts against the limit: the body's, and what is beside it."""
    if isinstance(policy, TokenWindow):
        return totals.body_tokens, totals.instruction_tokens + totals.fixed
    if isinstance(policy, MessageWindow):
        return totals.body, totals.instructions if policy.count_pinned else 0
    return totals.turns, 0


def _cuts(totals: Totals, policy: Policy) -> Ints:
    """After each message, how many body units have been evicted."""
    n = len(totals.asked)
    if not isinstance(policy, SuffixPolicy) or n == 0:
        return np.zeros(n, np.int64)
    body, beside = _weights(totals, policy)
    total: Ints = (body + beside)[1:]
    evicted = body[totals.start]
    newest = np.maximum(totals.units[1:] - totals.is_body_before[1:], 0)
    if isinstance(policy, TurnWindow):
        turn_units = np.flatnonzero(np.diff(evicted) > 0)
        searched = partial(_turn_cut, turn_units)
    else:
        searched = partial(_fit_cut, evicted)
    if policy.target == policy.high:
        cuts = np.minimum(searched(total, policy.high), newest)
        chosen: Ints = np.maximum.accumulate(np.where(totals.asked, cuts, 0))
        return chosen
    return _jump(totals.asked, total, evicted, newest, searched, policy.high, policy.target)


def _fit_cut(evicted: Ints, total: Ints, target: int) -> Ints:
    """The fewest evicted units that leave at most `target`."""
    return np.searchsorted(evicted, total - target, side="left").astype(np.int64)


def _turn_cut(turn_units: Ints, total: Ints, target: int) -> Ints:
    """The unit at which the last `target` turns begin; 0 if there are no more turns."""
    over = total - target
    if not len(turn_units):
        return np.zeros_like(total)
    cuts: Ints = np.where(over > 0, turn_units[np.clip(over, 0, len(turn_units) - 1)], 0)
    return cuts


def _jump(
    asked: Bools,
    total: Ints,
    evicted: Ints,
    newest: Ints,
    searched: partial[Ints],
    high: int,
    low: int,
) -> Ints:
    """With a low-water mark: from one cut to the next, by bisection."""
    times = np.flatnonzero(asked)
    totals_asked = total[times]
    cuts = np.zeros(len(asked), np.int64)
    cut = index = 0
    while True:
        first_over = int(np.searchsorted(totals_asked, high + evicted[cut], side="right"))
        index = max(index, first_over)
        if index >= len(times):
            return np.maximum.accumulate(cuts)
        time = times[index]
        cut = max(cut, int(min(searched(total[time], low), newest[time])))
        cuts[time] = cut
        index += 1


def _over(totals: Totals, policy: Policy, cut: Ints) -> Bools:
    """Before each position, and behind the last, whether the window is over the limit."""
    if not isinstance(policy, MessageWindow | TokenWindow):
        return np.zeros(len(cut), bool)
    body, beside = _weights(totals, policy)
    over: Bools = body - body[totals.start[cut]] + beside > policy.high
    return over


# --- the prefix


def _prefix_tokens(layout: Layout, totals: Totals, held: _Held) -> Ints:
    """The tokens that each request's window and the one before begin with alike."""
    at, gone = held.at, held.gone
    prefix = np.zeros(gone.shape, np.int64)
    if not len(at):
        return prefix
    before = at[:-1]
    was_gone, is_gone = np.minimum(gone[:, :-1], before), gone[:, 1:]
    changed = held.cut[:, :-1] != held.cut[:, 1:]
    kept = totals.instruction_tokens[before] + totals.body_tokens[before]
    shared = np.where(
        changed, totals.instruction_tokens[was_gone], kept - totals.body_tokens[gone[:, :-1]]
    )
    first_now = _first_held(totals, was_gone, is_gone)
    maybe_alike = totals.tokens[was_gone] == totals.tokens[np.minimum(first_now, len(layout))]
    for row, request in np.argwhere(changed & maybe_alike & (was_gone < before)).tolist():
        then = range(was_gone[row, request], before[request])
        shared[row, request] += _alike_tokens(
            layout, totals, then, int(is_gone[row, request]), int(at[request + 1])
        )
    prefix[:, 1:] = (shared + layout.tool_schemas.tokens) * layout.same_model[1:]
    return prefix


def _first_held(totals: Totals, was_gone: Ints, is_gone: Ints) -> Ints:
    """The first position from `was_gone` on that the window now holds."""
    if not totals.instruction_positions:
        return is_gone
    instructions = np.array([*totals.instruction_positions, len(totals.tokens) - 1], np.int64)
    following = instructions[np.searchsorted(instructions[:-1], was_gone)]
    return np.minimum(following, is_gone)


def _alike_tokens(layout: Layout, totals: Totals, then: range, gone: int, end: int) -> int:
    """Tokens of equal messages at the start of what was held from `then` on, and is now."""
    messages, tokens = layout.messages, layout.tokens
    between = [p for p in totals.instruction_positions if then.start <= p < gone]
    shared = 0
    for old, new in zip(then, [*between, *range(gone, min(end, gone + len(then)))]):
        if old != new and not messages[old].same_as(messages[new]):
            break
        shared += int(tokens[new])
    return shared


# --- events and spans, made when asked for


def _events(layout: Layout, policy: Policy, cut: Ints, over: Bools) -> list[Event]:
    totals = layout.totals
    units = [u for u in layout.conversation.units if not layout.is_instruction[u.start]]
    tokens = totals.instruction_tokens + totals.body_tokens + totals.fixed
    gone = totals.body_tokens[totals.start]
    requests = np.searchsorted(totals.positions, np.arange(-1, len(cut)), side="right")
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
    looked = np.unique(
        np.concatenate(
            [np.flatnonzero(totals.asked), totals.positions - 1, np.array([len(cut) - 1])]
        )
    )
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
        messages=held - totals.fixed,
        tool_schemas=layout.tool_schemas.tokens,
        overhead=layout.counter.request_tokens,
    )
    return over_budget_reason(policy.max_tokens, parts)


def _spans(layout: Layout, cut: Ints) -> list[Span]:
    totals = layout.totals
    positions = np.arange(len(layout))
    first = np.searchsorted(totals.positions, positions, side="right")
    unit = np.maximum(totals.units[1:] - 1, 0)
    evicted_at = np.searchsorted(cut, unit, side="right")
    leaves = (evicted_at < len(layout)) & ~layout.is_instruction
    last = np.where(
        leaves,
        np.searchsorted(totals.positions, evicted_at, side="right") - 1,
        len(totals.positions),
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
