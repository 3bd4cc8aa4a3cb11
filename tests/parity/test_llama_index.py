"""LlamaIndex's memories and their presets: the same windows at every request."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chatmem_lab as cml
from chatmem_lab.adapters import (
    LlamaIndexBaseMemory,
    LlamaIndexChatMemoryBuffer,
    LlamaIndexChatSummaryMemoryBuffer,
    LlamaIndexMemory,
)
from chatmem_lab.messages import INSTRUCTION_ROLES, Conversation
from chatmem_lab.policies.presets import (
    llama_index_chat_memory_buffer,
    llama_index_chat_summary_memory_buffer,
    llama_index_memory,
)
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter
from chatmem_lab.testing.strategies import conversations
from parity import assert_same_windows, real_conversations, shown

#: All count texts as gpt-3.5-turbo, whatever the window is counted with.
COUNT = None


def brief(messages):
    return "What was said before, in short."


SHORT = summarizer_from(brief)


def buffers(*limit, **options):
    return (
        llama_index_chat_memory_buffer(*limit, **options),
        LlamaIndexChatMemoryBuffer(*limit, **options),
    )


def summaries(**options):
    return (
        llama_index_chat_summary_memory_buffer(SHORT, **options),
        LlamaIndexChatSummaryMemoryBuffer(summarizer=SHORT, **options),
    )


def memories(*limit, **options):
    return llama_index_memory(*limit, **options), LlamaIndexMemory(*limit, **options)


PAIRS = {
    "buffer": buffers(),
    "buffer of 700": buffers(700),
    "buffer, each message": buffers(scratchpad=False),
    "buffer of 700, each message": buffers(700, scratchpad=False),
    "summary": summaries(),
    "summary of 500": summaries(token_limit=500),
    "summary, each message": summaries(scratchpad=False),
    "summary of 500, each message": summaries(token_limit=500, scratchpad=False),
    "memory": memories(),
    "memory of 1,000": memories(1_000, token_flush_size=100),
    "memory of 1,000, each message": memories(1_000, token_flush_size=100, scratchpad=False),
    "memory of 2,000, less than its flush": memories(2_000, scratchpad=False),
    "memory, static, system": memories(
        2_000, token_flush_size=300, static_content="Be kind.\n\nAlways."
    ),
    "memory, static, user": memories(
        2_000, token_flush_size=300, static_content="Be kind.", insert_method="user"
    ),
}
#: At its default of 21,000 tokens of texts hardly any recording loses anything.
HARDLY_TOUCHED = {"memory"}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_windows_on_real_conversations(pair):
    touched = [
        assert_same_windows(conversation, *PAIRS[pair], count=COUNT)
        for conversation in real_conversations()
    ]
    assert sum(touched) > 20 or pair in HARDLY_TOUCHED


@settings(max_examples=150, deadline=None)
@given(conversation=conversations(), limit=st.integers(1, 80), scratchpad=st.booleans())
def test_the_same_tails_of_generated_conversations(conversation, limit, scratchpad):
    assert_same_windows(conversation, *buffers(limit, scratchpad=scratchpad))


@settings(max_examples=150, deadline=None)
@given(conversation=conversations(), limit=st.integers(1, 80), scratchpad=st.booleans())
def test_the_same_summaries_of_generated_conversations(conversation, limit, scratchpad):
    # Known exception: the framework's instructions stand before its summary; where one comes
    # in the midst of a recording, the preset's summary may stand before it.
    messages = conversation.messages
    chat = [m for m in messages if m.role not in INSTRUCTION_ROLES]
    start = next((i for i, m in enumerate(messages) if m in chat), len(messages))
    conversation = Conversation("generated", (*messages[:start], *chat))
    assert_same_windows(conversation, *summaries(token_limit=limit, scratchpad=scratchpad))


@settings(max_examples=200, deadline=None)
@given(
    conversation=conversations(),
    limit=st.integers(1, 200),
    ratio=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    flush=st.integers(1, 60),
    content=st.sampled_from(["", "Be kind."]),
    method=st.sampled_from(["system", "user"]),
    scratchpad=st.booleans(),
)
def test_the_same_queues_of_generated_conversations(
    conversation, limit, ratio, flush, content, method, scratchpad
):
    pair = memories(
        limit,
        chat_history_token_ratio=ratio,
        token_flush_size=flush,
        static_content=content,
        insert_method=method,
        scratchpad=scratchpad,
    )
    assert_same_windows(conversation, *pair)


def test_both_summarizers_are_told_the_same():
    """The framework tells one text, in which calls are empty lines."""
    told: list[str] = []

    def numbered(messages):
        told.append("\n".join(m.text for m in messages))
        return f"summary {len(told)}"

    compared = 0
    for conversation in real_conversations():
        both = []
        for policy in (
            llama_index_chat_summary_memory_buffer(summarizer_from(numbered), token_limit=500),
            LlamaIndexChatSummaryMemoryBuffer(500, summarizer=summarizer_from(numbered)),
        ):
            told.clear()
            cml.replay(conversation, policy, counter=LengthCounter())
            both.append(list(told))
        assert len(both[0]) == len(both[1])
        for mine, other in zip(*both):
            for line in mine.split("\n"):
                assert line in other
        compared += len(both[0])
    assert compared > 20


def test_facts_are_extracted_from_what_is_flushed():
    conversation = next(c for c in real_conversations() if len(c.requests) > 8)
    facts = LlamaIndexMemory(
        500, token_flush_size=50, max_facts=5, scratchpad=False, summarizer=SHORT
    )
    run = cml.replay(conversation, facts, counter=LengthCounter())
    texts = [m.text for m in run.window(len(run.requests) - 1).messages if m.role == "system"]
    wanted = "<ExtractedFacts>\n<fact>What was said before, in short.</fact>\n</ExtractedFacts>"
    assert any(wanted in text for text in texts)
    asked = [e.summarizer_input_tokens for e in run.trace.events if e.kind == "summarize"]
    assert asked
    assert min(asked) > 0


def test_any_memory_of_the_framework_can_be_run():
    from llama_index.core.memory import ChatMemoryBuffer, Memory, SimpleComposableMemory

    conversation = cml.datasets.load("support")[0]
    same = LlamaIndexBaseMemory(lambda llm: ChatMemoryBuffer.from_defaults(token_limit=200))
    assert shown(conversation, same) == shown(conversation, LlamaIndexChatMemoryBuffer(200))
    # With the framework's own SQL store, too.
    sql = LlamaIndexBaseMemory(lambda llm: Memory.from_defaults(token_limit=200))
    assert shown(conversation, sql) == shown(conversation, LlamaIndexMemory(200))
    composed = LlamaIndexBaseMemory(
        lambda llm: SimpleComposableMemory.from_defaults(
            primary_memory=ChatMemoryBuffer.from_defaults(token_limit=200)
        )
    )
    assert shown(conversation, composed) == shown(conversation, same)
