"""Approximate presets: what each is put together from, written out a second time."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.policies import presets
from chatmem_lab.policies.presets import approximate

SHORT = cml.Truncate(500)

#: Small enough that each acts on the recorded conversation, and what it should be.
PARTS = {
    "aider_chat_history": (
        {"summarizer": SHORT, "context_tokens": 48_000},
        cml.Summarize(SHORT, trigger=cml.Tokens(3_000), keep=cml.Tokens(1_500), role="user"),
    ),
    "anthropic_compaction": (
        {"summarizer": SHORT, "trigger": 8_000},
        cml.Summarize(SHORT, trigger=cml.Tokens(8_000), keep=cml.Tokens(0)),
    ),
    "anthropic_context_editing": (
        {"trigger": 8_000, "clear_at_least": 500, "exclude_tools": ("search",)},
        cml.DropReasoning()
        | cml.ClearToolResults(
            3, trigger=cml.Tokens(8_000), at_least=cml.Tokens(500), exclude=("search",)
        ),
    ),
    "cline_compaction": (
        {"summarizer": SHORT, "context_tokens": 10_000},
        cml.Summarize(SHORT, trigger=cml.Tokens(8_100), keep=cml.Tokens(4_050), max_tokens=4_096),
    ),
    "codex_compaction": (
        {"summarizer": SHORT, "context_tokens": 10_000, "user_tokens": 600},
        cml.UserMessagesAndSummary(SHORT, trigger=cml.Tokens(9_000), user_tokens=600),
    ),
    "gemini_cli_compression": (
        {"summarizer": SHORT, "context_tokens": 20_000},
        cml.Summarize(SHORT, trigger=cml.Tokens(10_000), keep=cml.Tokens(3_000), role="user"),
    ),
    "google_adk_compaction": (
        {"summarizer": SHORT, "compaction_interval": 2, "overlap_size": 1},
        cml.AppendSegments(SHORT, segment=cml.Turns(2), keep=cml.Turns(1)),
    ),
    "google_adk_context_filter": ({"num_invocations_to_keep": 2}, cml.TurnWindow(2)),
    "haystack_sliding_window": (
        {"context_tokens": 10_000},
        cml.TokenWindow(7_000, low=4_000, pin_user=True),
    ),
    "haystack_summarization": (
        {"summarizer": SHORT, "context_tokens": 10_000},
        cml.Summarize(SHORT, trigger=cml.Tokens(7_000), keep=cml.Tokens(4_000)),
    ),
    "letta_sliding_window": (
        {"summarizer": SHORT, "context_tokens": 10_000},
        cml.Summarize(SHORT, trigger=cml.Tokens(10_000), keep=cml.Tokens(7_000)),
    ),
    "openhands_amortized_forgetting": (
        {"max_size": 40, "keep_first": 1},
        cml.HeadAndTail(1, tail=39, low=19),
    ),
    "openhands_observation_masking": (
        {"attention_window": 6},
        cml.MaskObservations(6, keep_first=False),
    ),
    "openhands_recent_events": ({"max_events": 30}, cml.HeadAndTail(1, tail=29)),
    "openhands_summarizing": (
        {"summarizer": SHORT, "max_size": 40},
        cml.Halve(SHORT, max_messages=40, keep_first=2),
    ),
    "swe_agent_last_observations": (
        {"n": 4, "polling": 3},
        cml.MaskObservations(4, batch=3),
    ),
}


@pytest.mark.parametrize("name", approximate.__all__)
def test_on_a_recorded_run_it_is_the_sum_of_its_parts(name):
    given, parts = PARTS[name]
    conversation = cml.datasets.load("coding")[0]
    run = cml.replay(conversation, getattr(presets, name)(**given), model="gpt-4o")
    other = cml.replay(conversation, parts, model="gpt-4o")
    for request in range(len(run.requests)):
        assert run.window(request).messages == other.window(request).messages
    assert [e.kind for e in run.trace.events if e.kind != "over_budget"]


@pytest.mark.parametrize("name", approximate.__all__)
def test_its_docstring_says_what_it_was_made_from(name):
    document = getattr(presets, name).__doc__
    assert "Approximate: " in document
    assert "2026-12-01" in document


def test_defaults_are_those_of_the_systems():
    assert repr(presets.anthropic_context_editing().policy) == (
        "DropReasoning(Turns(1)) | ClearToolResults(3, trigger=Tokens(100_000))"
    )
    assert presets.openhands_summarizing(SHORT).policy.max_messages == 240
    assert presets.aider_chat_history(SHORT).policy.trigger == cml.Tokens(8_000)
    assert presets.aider_chat_history(SHORT, context_tokens=16).policy.trigger == cml.Tokens(1_024)
    assert presets.gemini_cli_compression(SHORT).policy.trigger == cml.Tokens(524_288)
    assert presets.swe_agent_last_observations().policy == cml.MaskObservations(5)


def test_a_context_window_is_a_number():
    with pytest.raises(PolicyError, match="context_tokens must be a whole number, at least 16"):
        presets.haystack_sliding_window(3)
