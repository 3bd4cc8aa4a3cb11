"""AutoGen's contexts and their presets: the same windows at every request."""

import pytest
from hypothesis import given, settings

from chatmem_lab.adapters import (
    AutoGenBuffered,
    AutoGenContext,
    AutoGenHeadAndTail,
    AutoGenTokenLimited,
)
from chatmem_lab.policies.presets import (
    autogen_buffered,
    autogen_head_and_tail,
    autogen_token_limited,
    autogen_unbounded,
)
from chatmem_lab.testing.strategies import conversations
from parity import assert_same_windows, openai_counter, real_conversations

COUNT = openai_counter()


def unbounded():
    from autogen_core.model_context import UnboundedChatCompletionContext

    return UnboundedChatCompletionContext()


PAIRS = {
    "unbounded": (autogen_unbounded(), AutoGenContext(unbounded)),
    "buffer of 10": (autogen_buffered(10), AutoGenBuffered(10)),
    "buffer of 3": (autogen_buffered(3), AutoGenBuffered(3)),
    "token limit": (autogen_token_limited(3_000), AutoGenTokenLimited(3_000)),
    "token limit, tight": (autogen_token_limited(400), AutoGenTokenLimited(400)),
    "the model's limit": (
        autogen_token_limited(5_000),
        AutoGenTokenLimited(context_tokens=5_000),
    ),
    "head and tail": (
        autogen_head_and_tail(2, tail_size=10),
        AutoGenHeadAndTail(2, tail_size=10),
    ),
    "head and tail, one each": (
        autogen_head_and_tail(1, tail_size=1),
        AutoGenHeadAndTail(1, tail_size=1),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_windows_on_real_conversations(pair):
    touched = [assert_same_windows(c, *PAIRS[pair], count=COUNT) for c in real_conversations()]
    assert (sum(touched) > 20) is (pair != "unbounded")


@pytest.mark.parametrize(
    ("preset", "adapter"),
    [
        (autogen_buffered(4), AutoGenBuffered(4)),
        (autogen_token_limited(60), AutoGenTokenLimited(60)),
        (autogen_head_and_tail(2, tail_size=2), AutoGenHeadAndTail(2, tail_size=2)),
    ],
)
@settings(max_examples=100, deadline=None)
@given(conversation=conversations())
def test_the_same_windows_on_generated_conversations(preset, adapter, conversation):
    assert_same_windows(conversation, preset, adapter)
