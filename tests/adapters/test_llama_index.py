"""What needs no framework: what is put into a memory when, and the error where it is missing."""

from __future__ import annotations

import importlib.util

import pytest

from chatmem_lab.adapters import LlamaIndexBaseMemory, LlamaIndexChatMemoryBuffer
from chatmem_lab.adapters.llama_index import _as_fact, _with_those_that_stay
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import ToolCall, assistant, system, tool_output, user
from chatmem_lab.policies.presets.llama_index import remembered

CALL = assistant(tool_calls=[ToolCall("c1", "look", "{}")])
RUN = [user("q"), CALL, tool_output("c1", "r"), assistant("a"), user("q2"), CALL]


def test_a_run_is_added_when_it_has_ended():
    assert list(remembered(RUN, scratchpad=True)) == [[RUN[0]], RUN[1:4], [RUN[4]]]


def test_a_run_that_never_ended_is_added_before_the_next_question():
    assert list(remembered([*RUN, user("q3")], scratchpad=True))[-2:] == [[CALL], [user("q3")]]


def test_without_a_scratchpad_each_message_is_an_addition():
    assert list(remembered(RUN, scratchpad=False)) == [[message] for message in RUN]


def test_a_new_message_comes_just_before_the_next_that_is_none():
    stay = [(0, system("S")), (3, system("T"))]
    new, kept, last = (None, system("new")), (2, user("q")), (4, assistant("a"))
    merged = _with_those_that_stay(list(stay), [new, kept, last])
    assert merged == [stay[0], new, kept, stay[1], last]
    assert _with_those_that_stay(list(stay), [new]) == [*stay, new]


def test_an_answer_without_tags_is_one_fact():
    assert _as_fact("it rains") == "<fact>it rains</fact>"
    assert _as_fact("<fact>a</fact><fact>b</fact>") == "<fact>a</fact><fact>b</fact>"


def test_wrong_arguments_are_named():
    with pytest.raises(PolicyError, match="needs a function, not 3"):
        LlamaIndexBaseMemory(3)
    with pytest.raises(PolicyError, match="sees_what must be window or history, not 'all'"):
        LlamaIndexBaseMemory(dict, sees_what="all")


@pytest.mark.skipif(
    importlib.util.find_spec("llama_index") is not None, reason="it is installed here"
)
def test_without_the_framework_the_error_says_how_to_get_it():
    wanted = r'llama-index-core.*pip install "chatmem-lab\[llama-index\]"'
    with pytest.raises(PolicyError, match=wanted):
        LlamaIndexChatMemoryBuffer().begin(None)
