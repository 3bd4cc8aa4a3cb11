"""langmem's running summary and its preset: the same at every request."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import chatmem_lab as cml
from chatmem_lab.adapters import LangMemSummarizeMessages
from chatmem_lab.messages import Conversation, ToolCall, assistant, tool_output, user
from chatmem_lab.policies import Preset, split_preset
from chatmem_lab.policies.presets import langmem_summarize_messages
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter
from chatmem_lab.testing.strategies import conversations
from parity import Numbered, assert_same_windows, openai_counter, real_conversations

COUNT = openai_counter()


def brief(messages):
    return "What was said before, in short."


SHORT = summarizer_from(brief)


def summaries(max_tokens, summarizer=SHORT, **options):
    return (
        langmem_summarize_messages(summarizer, max_tokens=max_tokens, **options),
        LangMemSummarizeMessages(max_tokens, summarizer=summarizer, **options),
    )


PAIRS = {
    "of 4,000": summaries(4_000),
    "of 2,000, early": summaries(2_000, max_tokens_before_summary=800),
    "of 2,500, late": summaries(2_500, max_tokens_before_summary=6_000, max_summary_tokens=100),
    "of 3,000, counted": summaries(3_000, token_counter="replay"),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_same_windows_on_real_conversations(pair):
    touched = [
        assert_same_windows(c, *PAIRS[pair], count=COUNT)
        for c in map(in_order, real_conversations())
    ]
    assert sum(touched) > 20


@settings(max_examples=150, deadline=None)
@given(
    conversation=conversations(),
    max_tokens=st.integers(20, 120),
    before=st.one_of(st.none(), st.integers(1, 150)),
    summary=st.integers(0, 15),
)
def test_the_same_windows_on_generated_conversations(conversation, max_tokens, before, summary):
    pair = summaries(max_tokens, max_tokens_before_summary=before, max_summary_tokens=summary)
    assert_same_windows(in_order(conversation), *pair)


def in_order(conversation):
    """The conversation without what makes langmem lose its place.

    Known exceptions: ids of calls that come again, results that are not right behind their
    calls or not in their order. There it sends messages twice or loses them, and then fails.
    """
    messages: list = []
    pending: dict = {}
    groups: Counter = Counter()
    for message in conversation.messages:
        if message.role == "tool":
            if message.tool_call_id in pending:
                pending[message.tool_call_id] = message
            continue
        messages += answered(pending, groups.total())
        groups[bool(pending)] += 1
        pending = dict.fromkeys(call.id for call in message.tool_calls)
        calls = tuple(ToolCall(f"{id}-{groups.total()}", *named(message, id)) for id in pending)
        messages.append(replace(message, tool_calls=calls))
    messages += answered(pending, groups.total())
    return replace(conversation, messages=tuple(messages))


def named(message, id):
    call = next(call for call in message.tool_calls if call.id == id)
    return call.name, call.arguments


def answered(pending, group):
    return [
        replace(result, tool_call_id=f"{id}-{group}")
        for id, result in pending.items()
        if result is not None
    ]


def test_both_summarizers_are_shown_the_same():
    """The framework's question stands behind the messages, and tells the summary so far."""
    compared = continued = 0
    for conversation in map(in_order, real_conversations()):
        ours, theirs = Numbered(), Numbered()
        options = {"max_tokens_before_summary": 3_000}
        preset = langmem_summarize_messages(ours, max_tokens=1_500, **options)
        _, rules = split_preset(preset)
        adapter = LangMemSummarizeMessages(1_500, summarizer=theirs, **options)
        cml.replay(conversation, preset, counter=LengthCounter())
        cml.replay(conversation, Preset(adapter, rules), counter=LengthCounter())
        for mine, other in zip(ours.requests, theirs.requests, strict=True):
            *shown, question = texts(other)
            assert (mine.previous or "Create a summary of the conversation above:") in question
            # The oldest that it is shown may have lost its beginning.
            assert texts(mine)[1:] == shown[1:]
            assert texts(mine)[0].endswith(shown[0])
            compared += 1
            continued += mine.previous is not None
    assert compared > 20
    assert continued > 5


def texts(request):
    return [message.text for message in request.messages if message.text]


def test_results_out_of_order_make_it_fail_from_then_on():
    calls = [ToolCall("a", "look", "{}"), ToolCall("b", "look", "{}")]
    conversation = Conversation(
        "parallel",
        (
            user("look at both, please, " * 20),
            assistant(tool_calls=calls),
            tool_output("b", "second " * 9),
            tool_output("a", "first " * 9),
            assistant("done"),
            user("thanks"),
            assistant("welcome"),
        ),
    )
    adapter = LangMemSummarizeMessages(
        170, max_tokens_before_summary=140, max_summary_tokens=5, summarizer=SHORT
    )
    run = cml.replay(conversation, adapter, counter=LengthCounter())
    failed = [e.reason for e in run.trace.events if e.kind == "policy_failed"]
    assert failed
    assert all("has already been summarized" in reason for reason in failed)
