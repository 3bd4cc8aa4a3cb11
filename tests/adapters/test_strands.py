"""What needs no framework: the form of Strands' messages, and the error where it is missing."""

from __future__ import annotations

import importlib.util

import pytest

from chatmem_lab.adapters import StrandsManager, StrandsSlidingWindow
from chatmem_lab.adapters.strands import _ours, _theirs
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import ToolCall, assistant, tool_output, user


def test_all_results_of_one_answer_are_one_message():
    results = [tool_output("c1", "21 °C"), tool_output("c2", "no such city", is_error=True)]
    theirs = _theirs(results)
    assert theirs == {
        "role": "user",
        "content": [
            {
                "toolResult": {
                    "toolUseId": "c1",
                    "status": "success",
                    "content": [{"text": "21 °C"}],
                }
            },
            {
                "toolResult": {
                    "toolUseId": "c2",
                    "status": "error",
                    "content": [{"text": "no such city"}],
                }
            },
        ],
    }
    assert _ours(theirs) == results


@pytest.mark.parametrize(
    "message",
    [
        user("hi"),
        assistant("Hello!"),
        assistant("I look.", tool_calls=[ToolCall("c1", "look", '{"at": "sky"}')]),
        assistant(tool_calls=[ToolCall("c1", "a", "{}"), ToolCall("c2", "b", "{}")]),
    ],
)
def test_a_message_reads_back_as_it_was(message):
    assert _ours(_theirs([message])) == [message]


def test_broken_arguments_reach_it_as_text():
    broken = assistant(tool_calls=[ToolCall("c1", "look", '{"at": ')])
    use = _theirs([broken])["content"][0]["toolUse"]
    assert use["input"] == {"arguments": '{"at": '}


def test_a_manager_is_made_by_a_function():
    with pytest.raises(PolicyError, match="needs a function, not 3"):
        StrandsManager(3)


@pytest.mark.skipif(
    importlib.util.find_spec("strands") is not None, reason="strands is installed here"
)
def test_without_the_framework_the_error_says_how_to_get_it():
    with pytest.raises(PolicyError, match=r'strands-agents.*pip install "chatmem-lab\[strands\]"'):
        StrandsSlidingWindow().begin(None)
