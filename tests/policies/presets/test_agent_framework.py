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
    agent_framework_context_window,
    agent_framework_selective_tool_call,
    agent_framework_sliding_window,
    agent_framework_summarization,
    agent_framework_token_budget,
    agent_framework_tool_result,
    agent_framework_truncation,
)
from chatmem_lab.summarizers import Truncate
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


def test_old_calls_become_a_text():
    shown = sent(agent_framework_tool_result(), *AGENT)
    assert shown[:3] == [[0, 1], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5, 6]]
    assert shown[3] == [0, 1, None, 5, 6, 7, 8]
    run = cml.replay(
        Conversation("c", tuple(AGENT)), agent_framework_tool_result(), counter=LengthCounter()
    )
    made = run.window(3).messages[2]
    assert (made.role, made.text) == ("assistant", "[Tool results: look: seen; look: seen]")


def test_a_long_result_is_cut_at_4096_characters():
    call = assistant(tool_calls=[ToolCall("c1", "look", "{}")])
    long = Conversation("c", (user("q"), call, tool_output("c1", "x" * 9_000), assistant("a")))
    run = cml.replay(long, agent_framework_tool_result(0), counter=LengthCounter())
    text = run.window(len(run.requests) - 1).messages[-1].text
    assert text == "[Tool results: look: " + "x" * (4_096 - 37) + "... [truncated]]"


def test_the_oldest_groups_become_a_summary():
    # Results of one answer count as one: five messages before the third request, of which
    # the newest two stay; then summary, a, q leave before call and result.
    preset = agent_framework_summarization(Truncate(400), target_count=2, threshold=1)
    assert sent(preset, *AGENT) == [
        [0, 1],
        [0, 1, 2, 3, 4],
        [0, None, 5, 6],
        [0, None, 7, 8],
    ]


#: What the framework counts of a message with an empty text, at positions below ten.
USER = (
    '{"contents": [{"additional_properties": {}, "text": "", "type": "text"}], '
    '"message_id": "msg_0", "role": "user"}'
)
ASSISTANT = USER.replace("user", "assistant")


def test_a_budget_counts_four_characters_a_token_of_a_message_as_json():
    talk = [user("a" * 100), assistant("b" * 100), user("c" * 40), assistant("d")]
    tokens = (len(USER) + 100) // 4 + (len(ASSISTANT) + 100) // 4 + (len(USER) + 40) // 4
    assert sent(agent_framework_token_budget(tokens), *talk)[1] == [0, 1, 2]
    assert sent(agent_framework_token_budget(tokens - 1), *talk)[1] == [1, 2]
    # The newest stays whatever it counts.
    assert sent(agent_framework_token_budget(0), *talk) == [[0], [2]]


def test_over_the_second_share_groups_leave_down_to_the_first():
    talk = [user("a" * 100), assistant("b" * 100), user("c" * 40), assistant("d")]
    # 53, 54 and 38 tokens; of 160 for input 0.8 are 128, 0.5 are 80.
    tokens = [(len(USER) + 100) // 4, (len(ASSISTANT) + 100) // 4, (len(USER) + 40) // 4]
    assert tokens == [53, 54, 38]
    assert sent(agent_framework_context_window(200, max_output_tokens=40), *talk)[1] == [2]
    # Of 182: 145.6 and 91. All 145 stay.
    assert sent(agent_framework_context_window(200, max_output_tokens=18), *talk)[1] == [0, 1, 2]


def test_wrong_shares_are_named():
    with pytest.raises(PolicyError, match="tool_eviction_threshold must be above 0 and at most"):
        agent_framework_context_window(100, max_output_tokens=1, tool_eviction_threshold=0.9)
    with pytest.raises(PolicyError, match="no token is left for input"):
        agent_framework_context_window(100, max_output_tokens=100)
    with pytest.raises(PolicyError, match="tokenizer must be characters or replay, not 'words'"):
        agent_framework_token_budget(100, tokenizer="words")
