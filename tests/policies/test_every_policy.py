"""Every exported policy and preset is found, not listed, and held to its contract."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product

import pytest

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import (
    Conversation,
    ToolCall,
    assistant,
    developer,
    system,
    tool_output,
    user,
)
from chatmem_lab.policies import Policy, chain, split_preset
from chatmem_lab.policies.presets.approximate import __all__ as APPROXIMATE
from chatmem_lab.policies.registry import policies_by_name, presets_by_name
from chatmem_lab.testing.policies import check_policy, check_replay
from chatmem_lab.window import Revision
from recipes import NAMES, small


def test_the_policies_of_this_version_are_found():
    assert {"keep-all", "message-window", "token-window", "turn-window"} <= set(NAMES)
    assert {"clear-tool-results", "summarize"} <= set(NAMES)
    assert set(presets_by_name()) == {
        *(name.replace("_", "-") for name in APPROXIMATE),
        "agent-framework-context-window",
        "agent-framework-selective-tool-call",
        "agent-framework-sliding-window",
        "agent-framework-summarization",
        "agent-framework-token-budget",
        "agent-framework-tool-result",
        "agent-framework-truncation",
        "ai4j-agent-unbounded",
        "ai4j-agent-window",
        "ai4j-context-projection",
        "ai4j-message-window",
        "ai4j-summary",
        "ai4j-tool-result-stub",
        "ai4j-turn-compaction",
        "ai4j-unbounded",
        "autogen-buffered",
        "autogen-head-and-tail",
        "autogen-token-limited",
        "autogen-unbounded",
        "book-message-window",
        "book-token-window",
        "langchain-context-editing",
        "langchain-summarization",
        "langchain-trim-messages",
        "langchain4j-message-window",
        "langchain4j-token-window",
        "langmem-summarize-messages",
        "llama-index-chat-memory-buffer",
        "llama-index-chat-summary-memory-buffer",
        "llama-index-memory",
        "openai-agents-compaction",
        "openai-agents-session-limit",
        "openai-agents-tool-output-trimmer",
        "semantic-kernel-summarization",
        "semantic-kernel-truncation",
        "pydantic-ai-clamp-oversized",
        "pydantic-ai-clear-tool-results",
        "pydantic-ai-deduplicate-file-reads",
        "pydantic-ai-sliding-window",
        "spring-ai-message-window",
        "strands-sliding-window",
        "strands-summarizing",
        "summarizing-token-window",
    }


@pytest.mark.parametrize("name", NAMES)
def test_holds_its_contract(name):
    check_policy(small(name), examples=100)


def fixed_conversations():
    call = [ToolCall("c1", "look", '{"q": 1}')]
    agent = [
        system("Rules. " * 5),
        user("start"),
        *(
            message
            for i in range(6)
            for message in (assistant(f"step {i}", tool_calls=call), tool_output("c1", "r" * 40))
        ),
        assistant("done"),
    ]
    chat = [m for i in range(15) for m in (user(f"question {i}"), assistant(f"answer {i}"))]
    parallel = [
        user("two"),
        assistant(tool_calls=[ToolCall("a", "f"), ToolCall("b", "f")]),
        tool_output("b", "2" * 200),
        tool_output("a", "1"),
        assistant("both"),
        user("again"),
        assistant("yes"),
    ]
    broken = [
        tool_output("zz", "nobody's"),
        assistant(tool_calls=call),
        user("never mind"),
        developer("be kind"),
        tool_output("c1", "late"),
        assistant(""),
        user("x" * 500),
        assistant("ok"),
    ]
    replaced = [system("A"), user("1"), assistant("2"), system("B"), user("3"), assistant("4")]
    return [
        Conversation(name, tuple(messages))
        for name, messages in (
            ("agent", agent),
            ("chat", chat),
            ("parallel", parallel),
            ("broken", broken),
            ("replaced", replaced),
        )
    ]


FIXED = fixed_conversations()
CHAINABLE = [
    name for name in sorted(policies_by_name()) if split_preset(small(name))[0].segments == "units"
]
PAIRS = list(product(CHAINABLE, CHAINABLE))


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_every_pair_on_fixed_conversations(first, second):
    check_policy(chain(small(first), small(second)), conversations=FIXED)


@pytest.mark.parametrize(("first", "second"), random.Random(0).choices(PAIRS, k=30))
def test_seeded_pairs_on_generated_conversations(first, second):
    check_policy(chain(small(first), small(second)), examples=50)


@dataclass(frozen=True)
class DropsAll(Policy):
    def revise(self, window):
        return Revision(evict=tuple(window.units))


@dataclass(frozen=True)
class Moody(Policy):
    def revise(self, window):
        MOODS.append(None)
        return Revision(evict=tuple(window.forwards())) if len(MOODS) % 3 else Revision()


@dataclass(frozen=True)
class Unmarked(Policy):
    """Claims a budget and does nothing for it."""

    @property
    def budget(self):
        return 5

    def revise(self, window):
        return Revision()


@dataclass(frozen=True)
class Grows(Policy):
    def revise(self, window):
        longer = window.newest.slots[0].message.with_text("x" * 999)
        return Revision(replace={window.newest.slots[0]: longer})


MOODS = []


def test_a_policy_that_breaks_its_contract_is_caught():
    with pytest.raises(PolicyError, match="which is pinned"):
        check_policy(DropsAll(), conversations=FIXED)
    with pytest.raises(AssertionError, match="not the same twice"):
        check_policy(Moody(), conversations=FIXED)
    with pytest.raises(AssertionError, match="over a budget of 5, not marked"):
        check_policy(Unmarked(), conversations=FIXED)


def test_a_replacement_that_is_not_smaller_is_skipped():
    for conversation in FIXED[:3]:
        assert check_replay(conversation, Grows()).events == []


def test_a_policy_that_is_no_dataclass_still_has_a_name():
    class Plain(Policy):
        def revise(self, window):
            return Revision()

    assert repr(Plain()) == "Plain()"
    with pytest.raises(NotImplementedError, match="needs a method revise"):
        Policy().revise(None)
