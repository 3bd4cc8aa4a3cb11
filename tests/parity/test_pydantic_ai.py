"""The compactions of Pydantic AI's harness and their presets: the same at every request."""

import pytest
from hypothesis import given, settings

from chatmem_lab.adapters import (
    PydanticAIClampOversized,
    PydanticAIClearToolResults,
    PydanticAIDeduplicateFileReads,
    PydanticAISlidingWindow,
)
from chatmem_lab.policies.presets import (
    pydantic_ai_clamp_oversized,
    pydantic_ai_clear_tool_results,
    pydantic_ai_deduplicate_file_reads,
    pydantic_ai_sliding_window,
)
from chatmem_lab.testing.strategies import conversations
from parity import assert_same_windows, real_conversations

COUNT = None


def sliding(*args, **options):
    return (
        pydantic_ai_sliding_window(*args, **options),
        PydanticAISlidingWindow(*args, **options),
    )


def clearing(*args, **options):
    return (
        pydantic_ai_clear_tool_results(*args, **options),
        PydanticAIClearToolResults(*args, **options),
    )


def clamping(*args, **options):
    return (
        pydantic_ai_clamp_oversized(*args, **options),
        PydanticAIClampOversized(*args, **options),
    )


def deduplicating(*args, **options):
    return (
        pydantic_ai_deduplicate_file_reads(*args, **options),
        PydanticAIDeduplicateFileReads(*args, **options),
    )


PAIRS = {
    "sliding window": sliding(50),
    "sliding window, small": sliding(12, keep_messages=6),
    "sliding window, first not kept": sliding(
        10, keep_messages=0, preserve_first_user_message=False
    ),
    "clear": clearing(20),
    "clear, often": clearing(4, keep_pairs=1),
    "clear, inputs too": clearing(6, keep_pairs=0, clear_tool_inputs=True),
    "clear, excluded": clearing(6, keep_pairs=0, exclude_tools=("run", "get_user_details")),
    "clamp": clamping(600, keep_head_chars=100, keep_tail_chars=50),
    "clamp, texts only": clamping(
        300, keep_head_chars=100, keep_tail_chars=0, clamp_tool_call_args=False
    ),
    "deduplicate": deduplicating(),
    "deduplicate, opened pages": deduplicating(("open", "read_document"), path_argument="url"),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_windows_on_real_conversations(pair):
    touched = [assert_same_windows(c, *PAIRS[pair], count=COUNT) for c in real_conversations()]
    assert sum(touched) > 15


@pytest.mark.parametrize(
    ("preset", "adapter"),
    [
        sliding(4, keep_messages=2),
        sliding(3, keep_messages=3, preserve_first_user_message=False),
        clearing(3, keep_pairs=1, clear_tool_inputs=True),
        clamping(20, keep_head_chars=3, keep_tail_chars=2),
    ],
)
@settings(max_examples=80, deadline=None)
@given(conversation=conversations())
def test_the_same_windows_on_generated_conversations(preset, adapter, conversation):
    assert_same_windows(conversation, preset, adapter)
