"""What needs no framework: wrong parameters, and the error where it is missing."""

from __future__ import annotations

import importlib.util

import pytest

from chatmem_lab.adapters import (
    AgentFrameworkSlidingWindow,
    AgentFrameworkStrategy,
    AgentFrameworkTokenBudget,
    AgentFrameworkToolResult,
)
from chatmem_lab.errors import PolicyError


def test_wrong_parameters_are_named():
    with pytest.raises(PolicyError, match="keep_last_groups must be at least 1, not 0"):
        AgentFrameworkSlidingWindow(0)
    with pytest.raises(PolicyError, match="AgentFrameworkStrategy needs a function, not 3"):
        AgentFrameworkStrategy(3)
    with pytest.raises(PolicyError, match="tokenizer must be characters or replay, not 'words'"):
        AgentFrameworkTokenBudget(100, strategies=(), tokenizer="words")


def test_a_budget_is_composed_of_this_modules_adapters():
    composed = AgentFrameworkTokenBudget(100, strategies=[AgentFrameworkToolResult(2)])
    assert composed.strategies == (AgentFrameworkToolResult(2),)
    with pytest.raises(PolicyError, match="strategies are AgentFramework… adapters, not 3"):
        AgentFrameworkTokenBudget(100, strategies=(3,))


@pytest.mark.skipif(
    importlib.util.find_spec("agent_framework") is not None,
    reason="Microsoft Agent Framework is installed here",
)
def test_without_the_framework_the_error_says_how_to_get_it():
    with pytest.raises(PolicyError, match=r'pip install "chatmem-lab\[agent-framework\]"'):
        AgentFrameworkSlidingWindow(3).begin(None)
