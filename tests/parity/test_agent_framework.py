"""Microsoft Agent Framework's compactions and their presets: the same at every request."""

import pytest
from hypothesis import HealthCheck, given, settings

from chatmem_lab.adapters import (
    AgentFrameworkContextWindow,
    AgentFrameworkSelectiveToolCall,
    AgentFrameworkSlidingWindow,
    AgentFrameworkSummarization,
    AgentFrameworkTokenBudget,
    AgentFrameworkToolResult,
    AgentFrameworkTruncation,
)
from chatmem_lab.messages import Reasoning
from chatmem_lab.policies.presets import (
    agent_framework_context_window,
    agent_framework_selective_tool_call,
    agent_framework_sliding_window,
    agent_framework_summarization,
    agent_framework_token_budget,
    agent_framework_tool_result,
    agent_framework_truncation,
)
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing.strategies import conversations
from parity import Numbered, assert_same_windows, real_conversations

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


def collapsing(*args):
    return agent_framework_tool_result(*args), AgentFrameworkToolResult(*args)


def within_context(*args, **options):
    return (
        agent_framework_context_window(*args, **options),
        AgentFrameworkContextWindow(*args, **options),
    )


def within_budget(tokens, calls=None, groups=None, **options):
    strategies = []
    if calls is not None:
        strategies.append(AgentFrameworkToolResult(calls))
    if groups is not None:
        strategies.append(AgentFrameworkSlidingWindow(groups))
    return (
        agent_framework_token_budget(
            tokens, keep_last_tool_call_groups=calls, keep_last_groups=groups, **options
        ),
        AgentFrameworkTokenBudget(tokens, strategies=strategies, **options),
    )


def brief(messages):
    return "What was said before, in short."


def summarizing(**options):
    short = summarizer_from(brief)
    return (
        agent_framework_summarization(short, **options),
        AgentFrameworkSummarization(short, **options),
    )


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
    "results": collapsing(),
    "results, more": collapsing(4),
    "results, none": collapsing(0),
    "context window": within_context(8_000, max_output_tokens=1_000),
    "context window, replay's count": within_context(
        6_000,
        max_output_tokens=1_000,
        tokenizer="replay",
        keep_last_tool_call_groups=1,
        preserve_first_user_group=True,
    ),
    "context window, tight": within_context(
        2_000, max_output_tokens=100, tool_eviction_threshold=0.2
    ),
    "budget": within_budget(3_000),
    "budget, results": within_budget(3_000, 1),
    "budget, results and window": within_budget(2_500, 1, 6),
    "budget, all strategies": within_budget(4_000, 2, 8, early_stop=False),
    "budget, too small": within_budget(300),
    "summaries": summarizing(),
    "summaries, rarely": summarizing(target_count=10, threshold=6),
    "summaries, no limit": summarizing(threshold=0, max_summary_input_tokens=None),
    "summaries, short input": summarizing(max_summary_input_tokens=600),
}
#: On generated conversations, small enough that something leaves.
SMALL = {
    "sliding window": sliding(2),
    "sliding window, without instructions": sliding(1, preserve_system=False),
    "truncation": truncating(4, compact_to=2),
    "truncation, first user message": truncating(3, compact_to=1, preserve_first_user_group=True),
    "tools": selecting(),
    "tools, none": selecting(0),
    "results": collapsing(),
    "results, none": collapsing(0),
    "context window": within_context(300, max_output_tokens=20, keep_last_tool_call_groups=1),
    "context window, first user message": within_context(
        500, max_output_tokens=20, preserve_first_user_group=True
    ),
    "budget": within_budget(200),
    "budget, results and window": within_budget(250, 1, 4),
    "budget, nothing": within_budget(0, 0, 2, early_stop=False),
    "summaries": summarizing(target_count=2, threshold=1),
    "summaries, short input": summarizing(target_count=3, max_summary_input_tokens=250),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_windows_on_real_conversations(pair):
    touched = [assert_same_windows(c, *PAIRS[pair], count=COUNT) for c in real_conversations()]
    assert sum(touched) > 15


def is_reasoning(message):
    reasoned = any(isinstance(part, Reasoning) for part in message.parts)
    return reasoned and not message.text and not message.tool_calls


def has_its_results_at_once(conversation):
    """Not so: a late result brings its group back there.

    Nor is it where reasoning stands behind an unanswered call or behind reasoning: there it
    depends on earlier requests which group it joins.
    """
    asked = set()
    before = None
    for message in conversation.messages:
        if message.role == "tool":
            if message.tool_call_id not in asked:
                return False
        else:
            asked = {call.id for call in message.tool_calls}
            if before and is_reasoning(message) and (before.tool_calls or is_reasoning(before)):
                return False
        before = message
    return True


@pytest.mark.parametrize("pair", SMALL)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(conversation=conversations().filter(has_its_results_at_once))
def test_the_same_windows_on_generated_conversations(pair, conversation):
    assert_same_windows(conversation, *SMALL[pair])


def test_both_summarizers_are_shown_the_same_messages():
    """Each text of the preset's request stands in the framework's prompt, as often as asked."""
    ours, theirs = Numbered(), Numbered()
    for conversation in real_conversations()[:4]:
        assert_same_windows(
            conversation,
            agent_framework_summarization(ours),
            AgentFrameworkSummarization(theirs),
        )
    assert len(ours.requests) == len(theirs.requests) > 10
    for mine, other in zip(ours.requests, theirs.requests):
        prompt = other.messages[-1].text
        shown = [*(m.text for m in mine.messages), mine.previous or ""]
        assert all(text in prompt for text in shown)
