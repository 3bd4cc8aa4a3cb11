"""What needs no framework: where instructions stand, and the error where it is missing."""

from __future__ import annotations

import importlib.util

import pytest

from chatmem_lab.adapters import (
    PydanticAICapability,
    PydanticAIHistoryProcessor,
    PydanticAISlidingWindow,
)
from chatmem_lab.adapters.exchange import with_instructions
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import assistant, system, user


def test_instructions_keep_their_place_and_what_is_new_its():
    messages = [system("S"), user("q0"), system("T"), assistant("a0"), user("q1")]
    new = user("new")
    answers = [(None, new), (3, messages[3]), (4, messages[4])]
    assert with_instructions(messages, answers) == [
        (None, new),
        (0, messages[0]),
        (2, messages[2]),
        (3, messages[3]),
        (4, messages[4]),
    ]
    assert [at for at, _ in with_instructions(messages, [])] == [0, 2]


def test_wrong_parameters_are_named():
    with pytest.raises(PolicyError, match="max_messages must be at least 1, not 0"):
        PydanticAISlidingWindow(0)
    for cls in (PydanticAICapability, PydanticAIHistoryProcessor):
        with pytest.raises(PolicyError, match=f"{cls.__name__} needs a function, not 3"):
            cls(3)


@pytest.mark.skipif(
    importlib.util.find_spec("pydantic_ai") is not None, reason="Pydantic AI is installed here"
)
def test_without_the_framework_the_error_says_how_to_get_it():
    with pytest.raises(PolicyError, match=r'pip install "chatmem-lab\[pydantic-ai\]"'):
        PydanticAISlidingWindow(3).begin(None)
