"""Strands' managers and their presets: the same windows at every request."""

import pytest
from hypothesis import given, settings

from chatmem_lab.adapters import StrandsSlidingWindow, StrandsSummarizing
from chatmem_lab.policies.presets import strands_sliding_window, strands_summarizing
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing.strategies import conversations
from parity import assert_same_windows, openai_counter, real_conversations

COUNT = openai_counter()
#: Where nothing more can leave the model's error is raised: the request is over budget.
GIVES_UP = "ContextWindowOverflowException"


def brief(messages):
    return "What was said before, in short."


SHORT = summarizer_from(brief)
PAIRS = {
    "sliding window": (strands_sliding_window(), StrandsSlidingWindow(summarizer=SHORT)),
    "sliding window of 12": (
        strands_sliding_window(12),
        StrandsSlidingWindow(12, summarizer=SHORT),
    ),
    "before each call": (
        strands_sliding_window(10, per_turn=True),
        StrandsSlidingWindow(10, per_turn=1, summarizer=SHORT),
    ),
    "the first two pinned": (
        strands_sliding_window(9, per_turn=True, pin_first=2),
        StrandsSlidingWindow(9, per_turn=1, pin_first=2, summarizer=SHORT),
    ),
    "overflow": (
        strands_sliding_window(30, context_tokens=6_000),
        StrandsSlidingWindow(30, context_tokens=6_000, summarizer=SHORT),
    ),
    "overflow, results whole": (
        strands_sliding_window(30, should_truncate_results=False, context_tokens=7_000),
        StrandsSlidingWindow(
            30, should_truncate_results=False, context_tokens=7_000, summarizer=SHORT
        ),
    ),
    "before the overflow": (
        strands_sliding_window(context_tokens=9_000, compression_threshold=0.6),
        StrandsSlidingWindow(context_tokens=9_000, compression_threshold=0.6, summarizer=SHORT),
    ),
    "summarizing": (
        strands_summarizing(SHORT, context_tokens=8_000),
        StrandsSummarizing(context_tokens=8_000, summarizer=SHORT),
    ),
    "summarizing half, early": (
        strands_summarizing(
            SHORT,
            summary_ratio=0.5,
            preserve_recent_messages=4,
            pin_first=1,
            compression_threshold=0.7,
            context_tokens=10_000,
        ),
        StrandsSummarizing(
            0.5,
            preserve_recent_messages=4,
            pin_first=1,
            compression_threshold=0.7,
            context_tokens=10_000,
            summarizer=SHORT,
        ),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_windows_on_real_conversations(pair):
    touched = [
        assert_same_windows(c, *PAIRS[pair], count=COUNT, gives_up=GIVES_UP)
        for c in real_conversations()
    ]
    assert sum(touched) > 20


@pytest.mark.parametrize("per_turn", [False, True])
@settings(max_examples=100, deadline=None)
@given(conversation=conversations())
def test_the_same_windows_on_generated_conversations(per_turn, conversation):
    assert_same_windows(
        conversation,
        strands_sliding_window(4, per_turn=per_turn),
        StrandsSlidingWindow(4, per_turn=int(per_turn)),
    )
