"""Faults of loose windows are counted once, and are what a count of the whole window gives."""

from hypothesis import given, settings

from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.messages import FAULTS, count_faults
from chatmem_lab.policies import policy_from
from chatmem_lab.policies.presets import ai4j_message_window, autogen_unbounded
from chatmem_lab.testing import LengthCounter
from chatmem_lab.testing.strategies import conversations

POLICIES = (
    autogen_unbounded(),
    ai4j_message_window(4),
    policy_from(lambda m: m[:2] + m[-3:], repair=False),
    policy_from(lambda m: m[1:] if len(m) > 8 else m, repair=False),
)


@settings(max_examples=150, deadline=None)
@given(conversation=conversations())
def test_as_a_count_of_the_whole_window(conversation):
    for policy in POLICIES:
        trace = replay_stepwise(Layout(conversation, LengthCounter()), policy, model=None)
        for request in range(trace.requests):
            found = count_faults(trace.window(request).messages)
            row = dict(zip(FAULTS, trace.faults[request].tolist()))
            for kind in ("orphan_result", "unanswered_call", "blank_message"):
                assert row[kind] == found.get(kind, 0)
