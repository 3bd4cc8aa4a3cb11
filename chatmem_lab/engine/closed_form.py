"""The closed form: window policies computed for a whole conversation at once.

Under these policies a window is the pinned messages and a suffix of the others, so that a
replay is the search for one cut per message. Sums come from running totals; the step path
must agree in every column, event and span (a property test holds them equal).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from chatmem_lab.engine.cut_records import events_of_cuts, spans_of_cuts
from chatmem_lab.engine.layout import Ints, Layout
from chatmem_lab.engine.totals import Totals
from chatmem_lab.engine.trace import Trace
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
from chatmem_lab.policies.rules import OWN_RULES
from chatmem_lab.policies.suffix import SuffixPolicy
from chatmem_lab.tokens import COUNT_KINDS

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
    layouts: Sequence[Layout], policies: Sequence[Policy | Preset], *, model: str | None
) -> list[list[Trace]]:
    """Replay conversations under window policies, all at once.

    Parameters
    ----------
    layouts : sequence of Layout
    policies : sequence of Policy or Preset
        Each must have a closed form on each conversation; see `has_closed_form`.
    model : str, optional
        For the record.

    Returns
    -------
    list of list of Trace
        For each conversation one per policy, both in order.
    """
    totals = Totals(layouts)
    chosen = [split_preset(policy)[0] for policy in policies]
    cuts = np.stack([_cuts(totals, policy) for policy in chosen])
    before = np.maximum(np.roll(cuts, 1, axis=1), totals.first_unit)
    before[:, 0] = 0
    over = np.stack([_over(totals, policy, cut) for policy, cut in zip(chosen, before)])
    held = _Held(totals, before[:, totals.at])
    columns: dict[str, Any] = {
        "category_tokens": held.category_tokens(),
        "tool_call_tokens": held.of(totals.call_tokens),
        "messages": held.messages,
        "units": held.beside(totals.instructions) + totals.units[totals.at] - held.cut,
        "evicted_messages": held.since_last(held.gone_of(totals.body)),
        "evicted_tokens": held.since_last(held.gone_of(totals.body_tokens)),
        "absent_messages": held.gone_of(totals.body),
        "prefix_tokens": _prefix_tokens(totals, held),
        "count_kind": held.count_kind(),
        "over_budget": over[:, totals.at],
        "faults": held.faults(),
    }
    pinned, none = held.pinned_tokens(), np.zeros(len(totals.at), np.int64)
    traces: list[list[Trace]] = []
    for layout, offset, first, last in zip(
        layouts, totals.offsets.tolist(), totals.requests[:-1], totals.requests[1:]
    ):
        end = offset + len(layout)
        unit = int(totals.units[offset])
        traces.append(
            [
                Trace(
                    layout=layout,
                    policy=policies[row],
                    budget=policy.budget,
                    model=model,
                    pinned_tokens=pinned[first:last],
                    summarizer_input_tokens=none[first:last],
                    summarizer_output_tokens=none[first:last],
                    make_events=partial(
                        events_of_cuts,
                        layout,
                        policy,
                        cuts[row, offset:end],
                        unit,
                        over[row, offset : end + 1],
                    ),
                    make_spans=partial(spans_of_cuts, layout, cuts[row, offset:end], unit),
                    **{name: column[row, first:last] for name, column in columns.items()},
                )
                for row, policy in enumerate(chosen)
            ]
        )
    return traces


class _Held:
    """What each policy's window holds at each request: the body before `gone` is not in it.

    Arrays have a row per policy and a column per request.
    """

    def __init__(self, totals: Totals, cut: Ints) -> None:
        self.totals = totals
        self.cut = cut
        self.gone: Ints = totals.start[cut]
        self.messages = self.beside(totals.instructions) + self.of(totals.body)

    def of(self, total: Ints) -> Ints:
        """The body's sum of a running total."""
        held: Ints = total[self.totals.at] - total[self.gone]
        return held

    def beside(self, total: Ints) -> Ints:
        """The sum of a running total over all messages before the request."""
        sums: Ints = total[self.totals.at] - total[self.totals.base]
        return sums

    def gone_of(self, total: Ints) -> Ints:
        """The sum of a running total over what is gone."""
        sums: Ints = total[self.gone] - total[self.totals.base]
        return sums

    def since_last(self, sums: Ints) -> Ints:
        """What was added since the request before."""
        added = np.diff(sums, axis=1, prepend=0)
        added[:, self.totals.firsts] = sums[:, self.totals.firsts]
        return added

    def category_tokens(self) -> Ints:
        tokens = self.of(self.totals.category)
        tokens[..., 0] += self.beside(self.totals.instruction_tokens)
        return tokens

    def pinned_tokens(self) -> Ints:
        totals, at = self.totals, self.totals.at
        newest_start = totals.start[np.maximum(totals.units[at] - 1, 0)]
        newest = totals.body_tokens[at] - totals.body_tokens[newest_start]
        instructions = self.beside(totals.instruction_tokens)
        pinned: Ints = instructions + newest * totals.is_body_before[at]
        return pinned

    def count_kind(self) -> Ints:
        totals = self.totals
        found = self.of(totals.kinds) + self.beside(totals.instruction_kinds) > 0
        for code, requests in totals.schema_kinds:
            found[:, requests, code] = True
        lower, upper = COUNT_KINDS.index("lower_bound"), COUNT_KINDS.index("upper_bound")
        found[..., COUNT_KINDS.index("estimate")] |= found[..., lower] & found[..., upper]
        codes: Ints = (found * np.arange(len(COUNT_KINDS))).max(axis=-1)
        return codes

    def faults(self) -> Ints:
        if self.totals.has_faults:
            faults = self.of(self.totals.faults) + self.beside(self.totals.instruction_faults)
        else:
            faults = np.zeros((*self.cut.shape, len(FAULTS)), np.int64)
        faults[..., FAULTS.index("empty_window")] = self.messages == 0
        return faults


# --- where the window is cut


def _weights(totals: Totals, policy: Policy) -> tuple[Ints, Ints | None, Ints | int]:
    """What counts against the limit, as running totals: the body's, and what is beside it."""
    if isinstance(policy, TokenWindow):
        return totals.body_tokens, totals.instruction_tokens, totals.fixed
    if isinstance(policy, MessageWindow):
        return totals.body, totals.instructions if policy.count_pinned else None, 0
    return totals.turns, None, 0


def _totals_at(
    body: Ints, beside: Ints | None, fixed: Ints | int, origin: Ints, places: slice
) -> Ints:
    """At `places`, the weight of all that has been, the body's of earlier conversations too."""
    total: Ints = body[places] + fixed
    return total if beside is None else total + beside[places] - beside[origin]


def _cuts(totals: Totals, policy: Policy) -> Ints:
    """After each message, how many body units have been evicted, of those before it too."""
    first = totals.first_unit
    if not isinstance(policy, SuffixPolicy):
        return first
    weights = _weights(totals, policy)
    body = weights[0]
    total = _totals_at(*weights, totals.origin, slice(1, None))
    evicted = body[totals.start]
    newest = np.maximum(totals.units[1:] - totals.is_body_before[1:], first)
    if policy.target == policy.high:
        cuts = _searched(policy, totals, evicted, total, slice(None), policy.high)
        cuts = np.clip(cuts, first, newest)
        chosen: Ints = np.maximum.accumulate(np.where(totals.asked, cuts, first))
        return chosen
    chosen = first.copy()
    for offset, layout in zip(totals.offsets.tolist(), totals.layouts):
        places = slice(offset, offset + len(layout) + 1)
        low = _searched(policy, totals, evicted, total, places, policy.target)
        low = np.clip(low, first[places], newest[places])
        chosen[places] = _jump(
            totals.asked[places], total[places], evicted, low, int(first[offset]), policy.high
        )
    return chosen


def _searched(
    policy: SuffixPolicy, totals: Totals, evicted: Ints, total: Ints, places: slice, target: int
) -> Ints:
    """At `places`, the first cut that leaves at most `target`."""
    spare = total[places] - target
    if not isinstance(policy, TurnWindow):
        return np.searchsorted(evicted, spare, side="left").astype(np.int64)
    turn_units = np.flatnonzero(np.diff(evicted) > 0)
    if not len(turn_units):
        return np.zeros_like(spare)
    # A cut at a turn; no cut where there are no more turns than that.
    cuts: Ints = np.where(
        spare > totals.turns[totals.origin[places]],
        turn_units[np.clip(spare, 0, len(turn_units) - 1)],
        0,
    )
    return cuts


def _jump(asked: Bools, total: Ints, evicted: Ints, low: Ints, first: int, high: int) -> Ints:
    """With a low-water mark: from one cut to the next, by bisection."""
    times = np.flatnonzero(asked)
    totals_asked = total[times]
    cuts = np.full(len(asked), first, np.int64)
    cut, index = first, 0
    while True:
        first_over = int(np.searchsorted(totals_asked, high + evicted[cut], side="right"))
        index = max(index, first_over)
        if index >= len(times):
            return np.maximum.accumulate(cuts)
        cut = max(cut, int(low[times[index]]))
        cuts[times[index]] = cut
        index += 1


def _over(totals: Totals, policy: Policy, cut: Ints) -> Bools:
    """At each place, whether the window before it is over the limit."""
    if not isinstance(policy, MessageWindow | TokenWindow):
        return np.zeros(len(cut), bool)
    weights = _weights(totals, policy)
    total = _totals_at(*weights, totals.origin, slice(None, -1))
    over: Bools = total - weights[0][totals.start[cut]] > policy.high
    return over


# --- the prefix


def _prefix_tokens(totals: Totals, held: _Held) -> Ints:
    """The tokens that each request's window and the one before begin with alike."""
    at, gone = totals.at, held.gone
    prefix = np.zeros(gone.shape, np.int64)
    if not len(at):
        return prefix
    before, base = at[:-1], totals.base[1:]
    was_gone, is_gone = np.minimum(gone[:, :-1], before), gone[:, 1:]
    changed = held.cut[:, :-1] != held.cut[:, 1:]
    kept = totals.instruction_tokens[before] + totals.body_tokens[before]
    shared = np.where(
        changed, totals.instruction_tokens[was_gone], kept - totals.body_tokens[gone[:, :-1]]
    )
    shared -= totals.instruction_tokens[base]
    first_now = _first_held(totals, was_gone, is_gone)
    maybe_alike = changed & (totals.tokens[was_gone] == totals.tokens[first_now])
    same = totals.base[:-1] == base
    for row, request in np.argwhere(maybe_alike & (was_gone < before) & same).tolist():
        then = range(was_gone[row, request], before[request])
        shared[row, request] += _alike_tokens(
            totals, then, int(is_gone[row, request]), int(at[request + 1])
        )
    same_model = np.concatenate([layout.same_model for layout in totals.layouts])[1:]
    prefix[:, 1:] = (shared + totals.schema_tokens[1:]) * (same & same_model)
    return prefix


def _first_held(totals: Totals, was_gone: Ints, is_gone: Ints) -> Ints:
    """The first place from `was_gone` on that the window now holds."""
    if not len(totals.instruction_places):
        return is_gone
    instructions = np.append(totals.instruction_places, len(totals.tokens) - 1)
    following = instructions[np.searchsorted(totals.instruction_places, was_gone)]
    first: Ints = np.minimum(following, is_gone)
    return first


def _alike_tokens(totals: Totals, then: range, gone: int, end: int) -> int:
    """Tokens of equal messages at the start of what was held from `then` on, and is now."""
    messages, tokens = totals.messages, totals.tokens
    instructions = totals.instruction_places
    between = instructions[(instructions >= then.start) & (instructions < min(gone, end))]
    shared = 0
    for old, new in zip(then, [*between.tolist(), *range(gone, min(end, gone + len(then)))]):
        was, now = messages[old], messages[new]
        if was is None or now is None or (was is not now and not was.same_as(now)):
            break
        shared += int(tokens[new])
    return shared
