"""Microsoft Agent Framework's compactions by hand, worked out from agent-framework-core 1.23.0."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import (
    Conversation,
    Message,
    Reasoning,
    ToolCall,
    assistant,
    system,
    tool_output,
    user,
)
from chatmem_lab.policies.presets import (
    agent_framework_selective_tool_call,
    agent_framework_sliding_window,
    agent_framework_truncation,
)
from chatmem_lab.testing import LengthCounter


def sent(preset, *messages):
    run = cml.replay(Conversation("c", messages), preset, counter=LengthCounter())
    return [[slot.position for slot in run.window(r).slots] for r in range(len(run.requests))]


def calling(*ids):
    call = assistant(tool_calls=[ToolCall(id, "look", "{}") for id in ids])
    return [call, *(tool_output(id, "seen") for id in ids)]


#: Positions: S 0, q 1, call 2 with results 3 and 4, a 5, q 6, call 7 with 8, a 9.
AGENT = [
    system("S"),
    user("q"),
    *calling("c1", "c2"),
    assistant("a"),
    user("q"),
    *calling("c3"),
    assistant("a"),
]


def test_a_call_and_its_results_are_one_group():
    assert sent(agent_framework_sliding_window(2), *AGENT) == [
        [0, 1],
        [0, 1, 2, 3, 4],
        [0, 5, 6],
        [0, 6, 7, 8],
    ]
    without = agent_framework_sliding_window(2, preserve_system=False)
    assert sent(without, *AGENT)[0] == [1]


def test_older_calls_leave_with_their_results():
    assert sent(agent_framework_selective_tool_call(), *AGENT)[3] == [0, 1, 5, 6, 7, 8]
    assert sent(agent_framework_selective_tool_call(0), *AGENT)[1] == [0, 1]


def test_over_the_limit_the_oldest_groups_leave_down_to_the_target():
    # Before the last request six messages for the framework, which has 3 and 4 as one:
    # S, q, call, results, a, q are five at the third; call and result make seven.
    shown = sent(agent_framework_truncation(6, compact_to=4), *AGENT)
    assert shown[2] == [0, 1, 2, 3, 4, 5, 6]
    # q leaves (7), the call and its results (5), a (4).
    assert shown[3] == [0, 6, 7, 8]
    first = agent_framework_truncation(6, compact_to=4, preserve_first_user_group=True)
    assert sent(first, *AGENT)[3] == [0, 1, 7, 8]


def test_reasoning_leaves_with_its_call():
    thought = Message("assistant", (Reasoning("hm"),), generated=True)
    shown = sent(
        agent_framework_selective_tool_call(0),
        user("q"),
        thought,
        *calling("c1"),
        user("q"),
        assistant("a"),
    )
    assert shown[-1] == [0, 4]


def test_a_target_over_the_limit_is_an_error():
    with pytest.raises(PolicyError, match=r"compact_to must be at most max_n \(4\), not 5"):
        agent_framework_truncation(4, compact_to=5)
