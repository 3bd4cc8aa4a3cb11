"""What needs no framework: results of one answer together, and the error where it is missing."""

from __future__ import annotations

import importlib.util

import pytest

from chatmem_lab.adapters import AutoGenBuffered, AutoGenContext
from chatmem_lab.adapters.exchange import grouped_results
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import assistant, system, tool_output, user
from replaying import calls


def test_results_of_one_answer_are_one_message():
    messages = [
        system("S"),
        tool_output("z", "nobody's"),
        user("q"),
        calls("a", "b"),
        tool_output("a", "1"),
        tool_output("b", "2"),
        assistant("done"),
    ]
    assert grouped_results(messages) == [(1,), (2,), (3,), (4, 5), (6,)]


def test_wrong_parameters_are_named():
    with pytest.raises(PolicyError, match="buffer_size must be at least 1, not 0"):
        AutoGenBuffered(0)
    with pytest.raises(PolicyError, match="needs a function"):
        AutoGenContext(3)


@pytest.mark.skipif(
    importlib.util.find_spec("autogen_core") is not None, reason="autogen is installed here"
)
def test_without_the_framework_the_error_says_how_to_get_it():
    with pytest.raises(PolicyError, match=r'autogen-core.*pip install "chatmem-lab\[autogen\]"'):
        AutoGenBuffered(3).begin(None)
