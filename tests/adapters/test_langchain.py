"""What needs no framework: raw arguments, kept instructions, the error where it is missing."""

from __future__ import annotations

import importlib.util

import pytest

from chatmem_lab.adapters import LangChainMiddleware, LangChainTrimMessages
from chatmem_lab.adapters.langchain_runtime import _raw, _with_instructions
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import ToolCall, assistant, developer, system, user

LOOK, READ = ToolCall("c1", "look", '{"a":1}'), ToolCall("c2", "read", '{"b":2}')


def test_calls_that_did_not_change_keep_their_arguments_byte_for_byte():
    given = assistant(tool_calls=[LOOK, READ])
    read = assistant(tool_calls=[ToolCall("c1", "look", '{"a": 1}'), ToolCall("c2", "read", "{}")])
    assert _raw([given], 0, read).tool_calls == (LOOK, ToolCall("c2", "read", "{}"))
    assert _raw([given], None, read) is read


def test_instructions_stand_where_they_stood_and_what_is_new_behind_the_first():
    messages = [system("S"), user("q0"), developer("D"), user("q1")]
    new = user("summary")
    merged = _with_instructions(messages, [0, 2], [(None, new), (3, messages[3])], 1)
    assert merged == [(0, messages[0]), (None, new), (2, messages[2]), (3, messages[3])]


def test_middleware_is_made_by_a_function():
    with pytest.raises(PolicyError, match="LangChainMiddleware needs a function, not 3"):
        LangChainMiddleware(3)


@pytest.mark.skipif(
    importlib.util.find_spec("langchain_core") is not None, reason="langchain is installed here"
)
def test_without_the_framework_the_error_says_how_to_get_it():
    with pytest.raises(PolicyError, match=r'pip install "chatmem-lab\[langchain\]"'):
        LangChainTrimMessages(3).begin(None)
