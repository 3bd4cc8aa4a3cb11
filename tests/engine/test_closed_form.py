"""The closed form and the step path agree in every column, event and span."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmem_lab.engine import Layout, has_closed_form, replay_closed_form, replay_stepwise
from chatmem_lab.engine.trace import Trace
from chatmem_lab.policies import KeepAll, MessageWindow, TokenWindow, TurnWindow
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.testing.strategies import conversations

COLUMNS = [
    name
    for name in Trace.__struct_fields__
    if name not in ("layout", "policy", "budget", "model", "make_events", "make_spans")
]


@st.composite
def window_policies(draw):
    kind = draw(st.sampled_from(["all", "messages", "tokens", "turns"]))
    if kind == "all":
        return KeepAll()
    high = draw(st.integers(1, 12)) * (25 if kind == "tokens" else 1)
    low = draw(st.none() | st.integers(1, high))
    if kind == "messages":
        return MessageWindow(high, low=low, count_pinned=draw(st.booleans()))
    return (TokenWindow if kind == "tokens" else TurnWindow)(high, low=low)


def spans_of(trace):
    return [
        (s.slot.position, s.slot.state, s.slot.order, s.first_request, s.last_request, s.end)
        for s in trace.spans
    ]


@pytest.mark.parametrize("model", ["gpt-5", None])
@given(conversation=conversations(), policy=window_policies())
def test_agrees_with_the_step_path(conversation, policy, model):
    layout = Layout(conversation, LengthCounter(), model=model)
    if not has_closed_form(layout, policy):
        assert sum(m.role == "system" for m in conversation.messages) > 1
        return
    (closed, again) = replay_closed_form([layout], [policy, policy], model=model)[0]
    np.testing.assert_array_equal(closed.prefix_tokens, again.prefix_tokens)
    stepwise = replay_stepwise(layout, policy, model=model)
    for column in COLUMNS:
        np.testing.assert_array_equal(
            getattr(closed, column), getattr(stepwise, column), err_msg=column
        )
    assert closed.events == stepwise.events
    assert spans_of(closed) == spans_of(stepwise)


@given(many=st.lists(conversations(max_size=16), max_size=5), policy=window_policies())
def test_many_conversations_at_once_are_as_each_alone(many, policy):
    layouts = [Layout(c, LengthCounter(), model=None) for c in many]
    layouts = [layout for layout in layouts if has_closed_form(layout, policy)]
    if not layouts:
        return
    together = replay_closed_form(layouts, [policy], model=None)
    for layout, (trace,) in zip(layouts, together):
        alone = replay_stepwise(layout, policy, model=None)
        for column in COLUMNS:
            np.testing.assert_array_equal(
                getattr(trace, column), getattr(alone, column), err_msg=column
            )
        assert trace.events == alone.events
        assert spans_of(trace) == spans_of(alone)
