"""Policies from text: the recipes of the command line."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies import (
    ClearToolResults,
    KeepAll,
    Messages,
    MessageWindow,
    Summarize,
    Tokens,
    TokenWindow,
    presets,
)
from chatmem_lab.policies.registry import parse_policy
from chatmem_lab.summarizers import Truncate


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("keep-all", KeepAll()),
        ("token-window:4000", TokenWindow(4_000)),
        ("token-window:max_tokens=4_000", TokenWindow(4_000)),
        (" token_window : 4000 , low = 3000 ", TokenWindow(4_000, low=3_000)),
        ("token-window:4000,low=none", TokenWindow(4_000)),
        ("message-window:20,start-on-user=yes", MessageWindow(20, start_on_user=True)),
        (
            "clear-tool-results:3,exclude=think+plan",
            ClearToolResults(3, exclude=("think", "plan")),
        ),
        (
            "clear-tool-results:3|token-window:8000",
            ClearToolResults(3) | TokenWindow(8_000),
        ),
        (
            "summarize:truncate:100,trigger=tokens:500,keep=messages:4",
            Summarize(Truncate(100), trigger=Tokens(500), keep=Messages(4)),
        ),
        ("ai4j-message-window:8", presets.ai4j_message_window(8)),
        (
            "langchain4j-token-window:500,keep_system_first=true",
            presets.langchain4j_token_window(500, keep_system_first=True),
        ),
    ],
)
def test_text_becomes_a_policy(text, policy):
    assert parse_policy(text) == policy
    assert repr(parse_policy(text)) == repr(policy)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tokens-window:4000", "Did you mean token-window?"),
        ("", "there is no policy ''"),
        ("token-window", "token-window needs a value for max_tokens: write token-window:VALUE"),
        ("token-window:0", "max_tokens must be at least 1, not 0"),
        ("token-window:lots", "max_tokens must be a number, at least 1, not 'lots'"),
        ("token-window:4000,3000", "only the first value goes without a name, not '3000'"),
        ("token-window:4000,size=3", "has no parameter 'size': there are max_tokens"),
        ("message-window:20,pin_user=maybe", "pin_user must be true or false, not 'maybe'"),
        ("summarize:trigger=20", "an amount such as messages:20"),
        ("summarize:gpt", "summarizer must be truncate"),
        ("ai4j-message-window:8|keep-all", "it stands alone"),
        ("keep-all|", "there is no policy ''"),
    ],
)
def test_text_that_is_no_policy(text, words):
    with pytest.raises(PolicyError) as raised:
        parse_policy(text)
    assert words in str(raised.value)
