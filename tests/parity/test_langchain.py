"""LangChain's own functions and middleware and their presets: the same at every request."""

import pytest
from hypothesis import given, settings

import chatmem_lab as cml
from chatmem_lab.adapters import (
    LangChainContextEditing,
    LangChainMiddleware,
    LangChainSummarization,
    LangChainTrimMessages,
)
from chatmem_lab.policies import Preset, split_preset
from chatmem_lab.policies.amounts import Messages, Share, Tokens
from chatmem_lab.policies.presets import (
    langchain_context_editing,
    langchain_summarization,
    langchain_trim_messages,
)
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter
from chatmem_lab.testing.strategies import conversations
from parity import Numbered, assert_same_windows, openai_counter, real_conversations, shown

COUNT = openai_counter()
PREFIX = "Here is a summary of the conversation to date:\n\n"


def brief(messages):
    return "What was said before, in short."


SHORT = summarizer_from(brief)


def trimmed(max_tokens, **options):
    return (
        langchain_trim_messages(max_tokens, **options),
        LangChainTrimMessages(max_tokens, **options),
    )


def edited(trigger, **options):
    return (
        langchain_context_editing(trigger, **options),
        LangChainContextEditing(trigger, **options),
    )


def summarized(**options):
    return (
        langchain_summarization(SHORT, **options),
        LangChainSummarization(summarizer=SHORT, **options),
    )


PAIRS = {
    "trim_messages": trimmed(2_000),
    "trim_messages, system and human": trimmed(
        2_000, include_system=True, start_on=("human",), end_on=("human", "tool")
    ),
    "trim_messages, first": trimmed(1_500, strategy="first"),
    "trim_messages, first, ends on ai": trimmed(1_500, strategy="first", end_on=("ai",)),
    "trim_messages, counted": trimmed(1_500, include_system=True, token_counter="replay"),
    "trim_messages, nothing fits": trimmed(5),
    "trim_messages, partial": trimmed(1_500, allow_partial=True, include_system=True),
    "trim_messages, first, partial, counted": trimmed(
        1_500, strategy="first", allow_partial=True, token_counter="replay"
    ),
    "context editing": (langchain_context_editing(), LangChainContextEditing()),
    "context editing at 1,000": edited(1_000),
    "context editing, inputs too": edited(1_000, keep=1, clear_tool_inputs=True),
    "context editing, at least": edited(1_000, keep=0, clear_at_least=300),
    "context editing, excluded": edited(
        500, keep=0, exclude_tools=("run", "get_user_details"), token_counter="replay"
    ),
    "summarization": summarized(),
    "summarization at 24 messages": summarized(trigger=Messages(24)),
    "summarization at 2,000 tokens": summarized(trigger=Tokens(2_000), keep=Tokens(800)),
    "summarization, shares": summarized(trigger=Share(0.5), keep=Share(0.2), context_tokens=5_000),
    "summarization, counted": summarized(
        trigger=Tokens(2_500), keep=Tokens(700), token_counter="replay"
    ),
    "summarization, little is read": summarized(
        trigger=Messages(20), keep=Messages(6), trim_tokens_to_summarize=60
    ),
    "summarization, all is read": summarized(
        trigger=Messages(12), keep=Messages(3), trim_tokens_to_summarize=None
    ),
}
#: With the defaults nothing happens on conversations of this length.
NEVER = {"context editing", "summarization"}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_windows_on_real_conversations(pair):
    touched = [assert_same_windows(c, *PAIRS[pair], count=COUNT) for c in real_conversations()]
    assert (sum(touched) > 20) is (pair not in NEVER)


@pytest.mark.parametrize(
    ("preset", "adapter"),
    [
        trimmed(40),
        trimmed(60, include_system=True, start_on=("human",)),
        trimmed(50, strategy="first", end_on=("human",)),
        trimmed(90, allow_partial=True, start_on=("human", "ai")),
        trimmed(150, strategy="first", allow_partial=True, token_counter="replay"),
        edited(20, keep=1, clear_tool_inputs=True),
        # Known exception: where nothing but the summary before would be summarized, LangChain
        # summarizes it again; here it stays. Seen only where one says that it was too long.
        summarized(trigger=Messages(5), keep=Messages(2), trim_tokens_to_summarize=None),
        summarized(trigger=Tokens(40), keep=Tokens(20), trim_tokens_to_summarize=None),
    ],
)
@settings(max_examples=80, deadline=None)
@given(conversation=conversations())
def test_the_same_windows_on_generated_conversations(preset, adapter, conversation):
    assert_same_windows(conversation, preset, adapter)


@pytest.mark.parametrize("room", [400, 4_000, None])
def test_both_summarizers_are_shown_the_same(room):
    """The framework shows an earlier summary as the first of the messages."""
    options = {"trigger": Messages(16), "keep": Messages(6), "trim_tokens_to_summarize": room}
    compared = continued = 0
    for conversation in real_conversations():
        ours, theirs = Numbered(), Numbered()
        preset = langchain_summarization(ours, **options)
        _, rules = split_preset(preset)
        adapter = Preset(LangChainSummarization(summarizer=theirs, **options), rules)
        for policy in (preset, adapter):
            cml.replay(conversation, policy, counter=LengthCounter())
        for mine, other in zip(ours.requests, theirs.requests, strict=True):
            before = [] if mine.previous is None else [PREFIX + mine.previous]
            told = before + [message.text for message in mine.messages]
            shown = [message.text for message in other.messages]
            # The oldest that it is shown may have lost its beginning.
            assert told[1:] == shown[1:]
            assert told[0].endswith(shown[0])
            compared += 1
            continued += mine.previous is not None
    assert compared > 20
    assert (continued > 5) is (room != 400)


def test_any_middleware_of_the_framework_can_be_run():
    from langchain.agents.middleware import (
        ClearToolUsesEdit,
        ContextEditingMiddleware,
        SummarizationMiddleware,
    )

    def summarizing(model, **options):
        return SummarizationMiddleware(model, keep=("messages", 6), **options)

    conversation = cml.datasets.load("coding")[0]
    twice = LangChainMiddleware(
        lambda model: summarizing(model, trigger=[{"tokens": 300, "messages": 20}]),
        summarizer=SHORT,
    )
    once = LangChainSummarization(Messages(20), keep=Messages(6), summarizer=SHORT)
    assert shown(conversation, twice) == shown(conversation, once)
    share = LangChainMiddleware(
        lambda model: summarizing(model, trigger=("fraction", 0.5)),
        context_tokens=3_000,
        summarizer=SHORT,
    )
    same = LangChainSummarization(
        Share(0.5), keep=Messages(6), context_tokens=3_000, summarizer=SHORT
    )
    assert shown(conversation, share) == shown(conversation, same)
    # The whole prompt is charged here.
    run = cml.replay(conversation, share, model="gpt-4o")
    asked = [e.summarizer_input_tokens for e in run.trace.events if e.kind == "summarize"]
    assert asked
    assert min(asked) > 500
    edits = [ClearToolUsesEdit(trigger=1_000)]
    view = LangChainMiddleware(lambda model: ContextEditingMiddleware(edits=edits))
    assert shown(conversation, view) == shown(conversation, LangChainContextEditing(1_000))
    # The system message and the replay's own counter, as the model counts.
    by_model = LangChainMiddleware(
        lambda model: ContextEditingMiddleware(edits=edits, token_count_method="model")
    )
    assert shown(conversation, by_model) != shown(conversation, LangChainMiddleware(no_change))


def no_change(model):
    from langchain.agents.middleware import AgentMiddleware

    return AgentMiddleware()
