"""What needs no framework: the error where it is missing, and the recipes."""

from __future__ import annotations

import importlib.util

import pytest

from chatmem_lab.adapters import (
    SemanticKernelReducer,
    SemanticKernelSummarization,
    SemanticKernelTruncation,
)
from chatmem_lab.errors import PolicyError


def test_a_reducer_is_made_by_a_function():
    with pytest.raises(PolicyError, match="needs a function, not 3"):
        SemanticKernelReducer(3)


def test_the_numbers_have_bounds():
    with pytest.raises(PolicyError, match="target_count"):
        SemanticKernelTruncation(0)
    with pytest.raises(PolicyError, match="threshold_count"):
        SemanticKernelSummarization(5, threshold_count=-1)


@pytest.mark.skipif(
    importlib.util.find_spec("semantic_kernel") is not None, reason="it is installed here"
)
def test_without_the_framework_the_error_says_how_to_get_it():
    wanted = r'semantic-kernel.*pip install "chatmem-lab\[semantic-kernel\]"'
    with pytest.raises(PolicyError, match=wanted):
        SemanticKernelTruncation(5).begin(None)
