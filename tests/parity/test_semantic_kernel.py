"""Semantic Kernel's reducers and their presets: the same windows at every request."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chatmem_lab as cml
from chatmem_lab.adapters import SemanticKernelSummarization, SemanticKernelTruncation
from chatmem_lab.messages import INSTRUCTION_ROLES, Conversation, system
from chatmem_lab.policies.presets import (
    semantic_kernel_summarization,
    semantic_kernel_truncation,
)
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter
from chatmem_lab.testing.strategies import conversations
from parity import assert_same_windows, real_conversations, sent

COUNT = None


def brief(messages):
    return "What was said before, in short."


SHORT = summarizer_from(brief)


def truncations(target, **options):
    return (
        semantic_kernel_truncation(target, **options),
        SemanticKernelTruncation(target, **options),
    )


def summarizations(target, summarizer=SHORT, **options):
    return (
        semantic_kernel_summarization(summarizer, target_count=target, **options),
        SemanticKernelSummarization(target, summarizer=summarizer, **options),
    )


PAIRS = {
    "truncation": truncations(10),
    "truncation, threshold": truncations(6, threshold_count=6),
    "truncation after each message": truncations(5, auto_reduce=True),
    "truncation after each message, threshold": truncations(
        8, threshold_count=5, auto_reduce=True
    ),
    "truncation to the instruction": truncations(1, auto_reduce=True),
    "summarization": summarizations(10),
    "summarization, threshold": summarizations(6, threshold_count=6),
    "summarization after each message": summarizations(5, auto_reduce=True),
    "summarization with tools": summarizations(
        6, auto_reduce=True, include_function_content_in_summary=True
    ),
    "several summaries": summarizations(
        5, threshold_count=3, auto_reduce=True, use_single_summary=False
    ),
}
#: Once a turn, and most of the recordings have few.
SELDOM = {name for name in PAIRS if "each" not in name}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_windows_on_real_conversations(pair):
    touched = [
        assert_same_windows(conversation, *PAIRS[pair], count=COUNT)
        for conversation in real_conversations()
    ]
    assert sum(touched) > (5 if pair in SELDOM else 20)


@settings(max_examples=150, deadline=None)
@given(
    conversation=conversations(),
    target=st.integers(1, 5),
    threshold=st.integers(0, 4),
    auto=st.booleans(),
)
def test_the_same_truncations_of_generated_conversations(conversation, target, threshold, auto):
    pair = truncations(target, threshold_count=threshold, auto_reduce=auto)
    assert_same_windows(conversation, *pair)


@settings(max_examples=150, deadline=None)
@given(
    conversation=conversations(),
    target=st.integers(1, 5),
    threshold=st.integers(0, 4),
    auto=st.booleans(),
    single=st.booleans(),
    tools=st.booleans(),
)
def test_the_same_summaries_of_generated_conversations(
    conversation, target, threshold, auto, single, tools
):
    # Known exception: the framework moves an instruction that comes late before all
    # summaries, a window keeps its order: here the first one stands at the front.
    roles = [message.role in INSTRUCTION_ROLES for message in conversation.messages]
    if True in roles and not roles[0]:
        conversation = Conversation("generated", (system("S"), *conversation.messages))
    pair = summarizations(
        target,
        threshold_count=threshold,
        auto_reduce=auto,
        use_single_summary=single,
        include_function_content_in_summary=tools,
    )
    assert_same_windows(conversation, *pair)


@pytest.mark.parametrize("tools", [False, True])
def test_both_summarizers_are_told_the_same(tools):
    """But that the framework adds its instructions, and puts each result behind its call.

    Known exception: where nothing but the summary is over the target, as in a long run of
    calls, the framework has the summary summarized again; the preset lets it stand.
    """
    told: list[list[tuple]] = []

    def numbered(messages):
        shown = [m for m in messages if m.role != "system"]
        if len(shown) == 1 and shown[0].text.startswith("summary "):
            return shown[0].text
        told.append(sorted((sent(m) for m in shown), key=repr))
        return f"summary {len(told)}"

    compared = 0
    for conversation in real_conversations():
        both = []
        for policy in summarizations(
            6,
            summarizer_from(numbered),
            auto_reduce=True,
            include_function_content_in_summary=tools,
        ):
            told.clear()
            cml.replay(conversation, policy, counter=LengthCounter())
            both.append(list(told))
        assert both[0] == both[1]
        compared += len(both[0])
    assert compared > 50
