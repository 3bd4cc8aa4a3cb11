"""What the Agents SDK's own runner sends and its presets: the same at every request."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatmem_lab.adapters import (
    OpenAIAgentsCompaction,
    OpenAIAgentsSessionLimit,
    OpenAIAgentsToolOutputTrimmer,
)
from chatmem_lab.messages import Conversation, ToolCall, assistant, system, tool_output, user
from chatmem_lab.policies.presets import (
    openai_agents_compaction,
    openai_agents_session_limit,
    openai_agents_tool_output_trimmer,
)
from chatmem_lab.summarizers import summarizer_from
from parity import assert_same_windows, real_conversations

COUNT = None


def brief(messages):
    return "What was said before, in short."


SHORT = summarizer_from(brief)
PAIRS = {
    "session": (openai_agents_session_limit(), OpenAIAgentsSessionLimit()),
    "session of 20 items": (openai_agents_session_limit(20), OpenAIAgentsSessionLimit(20)),
    "session of 5 items": (openai_agents_session_limit(5), OpenAIAgentsSessionLimit(5)),
    "session of 0 items": (openai_agents_session_limit(0), OpenAIAgentsSessionLimit(0)),
    "tool output trimmer": (
        openai_agents_tool_output_trimmer(),
        OpenAIAgentsToolOutputTrimmer(),
    ),
    "tool output trimmer, 1 turn": (
        openai_agents_tool_output_trimmer(1, max_output_chars=150, preview_chars=40),
        OpenAIAgentsToolOutputTrimmer(1, max_output_chars=150, preview_chars=40),
    ),
    "tool output trimmer, some tools": (
        openai_agents_tool_output_trimmer(
            1, max_output_chars=100, trimmable_tools=("read_file", "get_reservation_details")
        ),
        OpenAIAgentsToolOutputTrimmer(
            1, max_output_chars=100, trimmable_tools=("read_file", "get_reservation_details")
        ),
    ),
    "compaction": (openai_agents_compaction(SHORT), OpenAIAgentsCompaction(summarizer=SHORT)),
    "compaction of 4 items": (
        openai_agents_compaction(SHORT, threshold=4),
        OpenAIAgentsCompaction(4, summarizer=SHORT),
    ),
}
#: Known exception. Where a call id comes a second time the SDK sends the newest call only,
#: then finds its store unlike what the model saw, and never compacts again; the preset does.
NO_ID_TWICE = {"compaction", "compaction of 4 items"}
#: Nothing leaves without a limit, but what has an id that comes again.
HARDLY_TOUCHED = {"session"}


def has_an_id_twice(conversation):
    ids = [call.id for message in conversation.messages for call in message.tool_calls]
    return len(set(ids)) < len(ids)


@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_windows_on_real_conversations(pair):
    touched = [
        assert_same_windows(conversation, *PAIRS[pair], count=COUNT)
        for conversation in real_conversations()
        if pair not in NO_ID_TWICE or not has_an_id_twice(conversation)
    ]
    assert len(touched) >= 8
    assert pair in HARDLY_TOUCHED or sum(touched) > 20


texts = st.sampled_from(["", "ok", "a longer text " * 20])


@st.composite
def runs(draw):
    """Conversations as a runner makes them: each call answered, in whatever order."""
    messages, calls = [system("Rules.")], 0
    for turn in range(draw(st.integers(1, 5))):
        messages.append(user(f"question {turn}"))
        for _ in range(draw(st.integers(0, 3))):
            made = [
                ToolCall(f"c{calls + i}", draw(st.sampled_from(["look", "read"])), "{}")
                for i in range(draw(st.integers(1, 3)))
            ]
            calls += len(made)
            messages.append(assistant(draw(texts) or None, tool_calls=made))
            messages += [tool_output(c.id, draw(texts)) for c in draw(st.permutations(made))]
        messages.append(assistant(f"answer {turn}"))
    return Conversation("runs", tuple(messages))


@pytest.mark.parametrize("pair", PAIRS)
@settings(max_examples=40, deadline=None)
@given(conversation=runs())
def test_the_same_windows_on_generated_conversations(pair, conversation):
    assert_same_windows(conversation, *PAIRS[pair])
