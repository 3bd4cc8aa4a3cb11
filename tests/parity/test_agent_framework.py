"""Microsoft Agent Framework's compactions and their presets: the same at every request."""

import pytest
from hypothesis import HealthCheck, given, settings

from chatmem_lab.adapters import (
    AgentFrameworkSelectiveToolCall,
    AgentFrameworkSlidingWindow,
    AgentFrameworkTruncation,
)
from chatmem_lab.policies.presets import (
    agent_framework_selective_tool_call,
    agent_framework_sliding_window,
    agent_framework_truncation,
)
from chatmem_lab.testing.strategies import conversations
from parity import assert_same_windows, real_conversations

COUNT = None


def sliding(*args, **options):
    return (
        agent_framework_sliding_window(*args, **options),
        AgentFrameworkSlidingWindow(*args, **options),
    )


def truncating(*args, **options):
    return (
        agent_framework_truncation(*args, **options),
        AgentFrameworkTruncation(*args, **options),
    )


def selecting(*args):
    return agent_framework_selective_tool_call(*args), AgentFrameworkSelectiveToolCall(*args)


PAIRS = {
    "sliding window": sliding(8),
    "sliding window, small": sliding(2),
    "sliding window, without instructions": sliding(5, preserve_system=False),
    "truncation": truncating(20, compact_to=10),
    "truncation, small": truncating(6, compact_to=2),
    "truncation, without instructions": truncating(10, compact_to=5, preserve_system=False),
    "truncation, first user message": truncating(10, compact_to=5, preserve_first_user_group=True),
    "tools": selecting(),
    "tools, more": selecting(4),
    "tools, none": selecting(0),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_windows_on_real_conversations(pair):
    touched = [assert_same_windows(c, *PAIRS[pair], count=COUNT) for c in real_conversations()]
    assert sum(touched) > 15


def has_its_results_at_once(conversation):
    """Whether each result stands behind its call: a late one brings its group back there."""
    asked = set()
    for message in conversation.messages:
        if message.role != "tool":
            asked = {call.id for call in message.tool_calls}
        elif message.tool_call_id not in asked:
            return False
    return True


@pytest.mark.parametrize(
    ("preset", "adapter"),
    [
        sliding(2),
        sliding(1, preserve_system=False),
        truncating(4, compact_to=2),
        truncating(3, compact_to=1, preserve_first_user_group=True),
        selecting(),
        selecting(0),
    ],
)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(conversation=conversations().filter(has_its_results_at_once))
def test_the_same_windows_on_generated_conversations(preset, adapter, conversation):
    assert_same_windows(conversation, preset, adapter)
