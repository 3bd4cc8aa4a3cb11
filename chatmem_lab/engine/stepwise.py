"""The step path: a replay message by message through the keeper, for any policy."""

from __future__ import annotations

from functools import partial
from heapq import merge
from itertools import tee

import numpy as np

from chatmem_lab.engine.layout import _CATEGORY, Layout
from chatmem_lab.engine.trace import Span, Trace
from chatmem_lab.keeper import Event, Keeper
from chatmem_lab.messages import FAULTS, INSTRUCTION_ROLES, FaultCounter
from chatmem_lab.policies import Policy, Preset
from chatmem_lab.tokens import COUNT_KINDS
from chatmem_lab.window import Slot, Unit, Window

__all__ = ["replay_stepwise"]

_MADE = 4
_KIND = {kind: code for code, kind in enumerate(COUNT_KINDS)}
_ESTIMATE, _UNKNOWN = _KIND["estimate"], _KIND["unknown"]
_BLANK = FAULTS.index("blank_message")
_LOST_SYSTEM = FAULTS.index("lost_system")
_EMPTY_WINDOW = FAULTS.index("empty_window")


class _Recorder:
    """Keeps sums over the window, and the span of each slot, as slots enter and leave."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.category = [0] * 5
        self.call_tokens = 0
        self.originals = 0
        self.instructions = 0
        self.kinds = [0] * len(COUNT_KINDS)
        if layout.tool_schemas.kind != "exact":
            self.kinds[_KIND[layout.tool_schemas.kind]] += 1
        self.fault_counts = [0] * len(FAULTS)
        self.evicted_messages = 0
        self.evicted_tokens = 0
        #: Tokens in the window that the last request did not hold.
        self.new_tokens = 0
        #: The least place of what the last request did not hold.
        self.new_from = float("inf")
        self.request = 0
        self.spans: list[Span] = []
        self._since: dict[int, int] = {}
        self.last_order = float("-inf")
        #: The least place in the window that changed since the last request.
        self.changed_from = float("inf")
        #: Slots that the last request showed and that have left since.
        self.left_since: list[Slot] = []
        self._fault_counter = FaultCounter()
        self._counted_upto = float("-inf")

    def entered(self, slot: Slot) -> None:
        self._add(slot, 1)
        self._since[id(slot)] = self.request
        self.new_tokens += slot.tokens
        self.new_from = min(self.new_from, slot.order)
        if slot.order < self.last_order:
            self.changed_from = min(self.changed_from, slot.order)
        else:
            self.last_order = slot.order

    def left(self, slot: Slot, why: str) -> None:
        self._add(slot, -1)
        first = self._since.pop(id(slot))
        if first < self.request:
            self.spans.append(Span(slot, first, self.request - 1, why))
            self.left_since.append(slot)
            self.changed_from = min(self.changed_from, slot.order)
        else:
            self.new_tokens -= slot.tokens
        if why in ("evict", "fold") and slot.position is not None:
            self.evicted_messages += 1
            self.evicted_tokens += slot.tokens

    def weakest_kind(self) -> int:
        """The code of the window's weakest count, tool schemas with it."""
        _, lower, upper, estimate, unknown = self.kinds
        if unknown:
            return _UNKNOWN
        if estimate or (lower and upper):
            return _ESTIMATE
        return 2 if upper else 1 if lower else 0

    def was_shown(self, slot: Slot) -> bool:
        """Whether the request before this one held `slot`."""
        return self._since[id(slot)] < self.request

    def faults_of(self, window: Window) -> dict[str, int]:
        """The faults of `window`; where it has only grown, of what is new and of nothing else."""
        if self.changed_from != float("inf"):
            self._fault_counter, self._counted_upto = FaultCounter(), float("-inf")
        new: list[Unit] = []
        for unit in window.units_backwards:
            if unit.slots[-1].order <= self._counted_upto:
                break
            new.append(unit)
        for unit in reversed(new):
            for slot in unit.slots:
                if slot.order > self._counted_upto:
                    self._fault_counter.add(slot.message)
                    self._counted_upto = slot.order
        return self._fault_counter.faults

    def next_request(self) -> None:
        """What is in the window now, the request has seen."""
        self.request += 1
        self.changed_from = self.new_from = float("inf")
        self.left_since.clear()
        self.evicted_messages = self.evicted_tokens = self.new_tokens = 0

    def close(self, slots: tuple[Slot, ...]) -> None:
        """What is still in the window at the end."""
        for slot in slots:
            self.spans.append(Span(slot, self._since[id(slot)], self.request))

    def _add(self, slot: Slot, sign: int) -> None:
        self.kinds[_KIND[slot.count_kind]] += sign
        tokens = sign * slot.tokens
        message = slot.message
        if slot.position is None:
            self.category[_MADE] += tokens
            self.fault_counts[_BLANK] += sign * message.is_blank
            return
        self.originals += sign
        self.category[_CATEGORY[message.role]] += tokens
        if message.tool_calls:
            self.call_tokens += tokens
        if message.role in INSTRUCTION_ROLES:
            self.instructions += sign
        for kind, n in self.layout.faults.get(slot.position, {}).items():
            if slot.state == "kept" or kind != "blank_message":
                self.fault_counts[FAULTS.index(kind)] += sign * n
        if slot.state != "kept" and message.is_blank:
            self.fault_counts[_BLANK] += sign


def replay_stepwise(layout: Layout, policy: Policy | Preset, *, model: str | None) -> Trace:
    """Replay `layout`'s conversation under `policy`, message by message.

    Parameters
    ----------
    layout : Layout
    policy : Policy or Preset
    model : str, optional
        For the record.

    Returns
    -------
    Trace
    """
    conversation = layout.conversation
    recorder = _Recorder(layout)
    keeper = Keeper(
        policy,
        layout.counter,
        session_id=conversation.id,
        tool_schemas=layout.tool_schemas,
        conversation=conversation,
        journal=recorder,
    )
    requests = set(layout.request_positions.tolist())
    rows: list[tuple[int, ...]] = []
    # A message that the rules ignore does not part a call from its result: where there can
    # be one, units and faults are those of the window and not of the recording.
    segments_alike = layout.system_messages <= 1 and keeper.rules.blank != "ignore"
    strict = keeper.policy.contract == "strict" and segments_alike
    counts, joins, is_open = layout.counts, layout.joins, layout.is_open
    for position, message in enumerate(layout.messages):
        if position in requests:
            keeper.before_request()
            rows.append(_row(layout, keeper, recorder, position, strict))
            keeper.request += 1
            recorder.next_request()
        if segments_alike:
            keeper.arrive(message, counts[position], position, joins[position], is_open[position])
        else:
            keeper.add(message, counts[position], position)
    keeper.before_request()
    recorder.close(keeper.window.slots)
    return _trace(layout, policy, keeper, recorder, rows, model)


def _row(
    layout: Layout, keeper: Keeper, recorder: _Recorder, position: int, strict: bool
) -> tuple[int, ...]:
    window = keeper.window
    faults = _faults(layout, keeper, recorder, position, strict)
    return (
        *recorder.category,
        recorder.call_tokens,
        len(window),
        window.unit_count,
        window.pinned_tokens,
        recorder.evicted_messages,
        recorder.evicted_tokens,
        position - recorder.originals,
        _prefix_tokens(layout, keeper, recorder),
        recorder.weakest_kind(),
        keeper.is_over_budget,
        *faults,
    )


def _faults(
    layout: Layout, keeper: Keeper, recorder: _Recorder, position: int, strict: bool
) -> list[int]:
    if strict:
        faults = list(recorder.fault_counts)
    else:
        found = recorder.faults_of(keeper.window)
        faults = [found.get(kind, 0) for kind in FAULTS]
    faults[_EMPTY_WINDOW] = int(not len(keeper.window))
    if not strict and not recorder.instructions:
        faults[_LOST_SYSTEM] = int(layout.is_instruction[:position].any())
    return faults


def _prefix_tokens(layout: Layout, keeper: Keeper, recorder: _Recorder) -> int:
    """Tokens of the messages that this window and the last request's begin with alike."""
    if recorder.request == 0 or not layout.same_model[recorder.request]:
        return 0
    changed_from = recorder.changed_from
    if changed_from == float("inf"):
        shown = keeper.window.message_tokens - recorder.new_tokens
        return layout.tool_schemas.tokens + shown
    boundary = min(changed_from, recorder.new_from)
    shared, after = keeper.window.split_at(boundary)
    shared += layout.tool_schemas.tokens
    now, remaining = tee(after)
    then = merge(
        sorted(recorder.left_since, key=_by_order),
        filter(recorder.was_shown, remaining),
        key=_by_order,
    )
    for old, new in zip(then, now):
        if old.message is not new.message and old.message.key != new.message.key:
            break
        shared += new.tokens
    return shared


def _by_order(slot: Slot) -> float:
    return slot.order


def _trace(
    layout: Layout,
    policy: Policy | Preset,
    keeper: Keeper,
    recorder: _Recorder,
    rows: list[tuple[int, ...]],
    model: str | None,
) -> Trace:
    n = len(rows)
    columns = np.array(rows, np.int64).reshape(n, 15 + len(FAULTS))
    charged = np.zeros((2, n), np.int64)
    for event in keeper.events:
        if event.request < n:
            charged[0, event.request] += event.summarizer_input_tokens
            charged[1, event.request] += event.summarizer_output_tokens
    return Trace(
        layout=layout,
        policy=policy,
        budget=keeper.policy.budget,
        model=model,
        category_tokens=columns[:, :5],
        tool_call_tokens=columns[:, 5],
        messages=columns[:, 6],
        units=columns[:, 7],
        pinned_tokens=columns[:, 8],
        evicted_messages=columns[:, 9],
        evicted_tokens=columns[:, 10],
        absent_messages=columns[:, 11],
        prefix_tokens=columns[:, 12],
        summarizer_input_tokens=charged[0],
        summarizer_output_tokens=charged[1],
        count_kind=columns[:, 13],
        over_budget=columns[:, 14].astype(bool),
        faults=columns[:, 15:],
        make_events=partial(list[Event], keeper.events),
        make_spans=partial(list[Span], recorder.spans),
    )
