"""What needs no framework: the recipe, and the error where it is missing."""

from __future__ import annotations

import importlib.util

import pytest

from chatmem_lab.adapters import LangMemSummarizeMessages
from chatmem_lab.errors import PolicyError
from chatmem_lab.summarizers import Truncate


def test_its_recipe_builds_it_again():
    adapter = LangMemSummarizeMessages(
        900, max_tokens_before_summary=2_000, token_counter="replay", summarizer=Truncate(50)
    )
    assert repr(adapter) == (
        "LangMemSummarizeMessages(900, max_tokens_before_summary=2_000, "
        "token_counter='replay', summarizer=Truncate(50))"
    )


def test_a_counter_that_there_is_not_is_named():
    with pytest.raises(PolicyError, match="token_counter must be approximate or replay"):
        LangMemSummarizeMessages(900, token_counter="exact")


@pytest.mark.skipif(
    importlib.util.find_spec("langmem") is not None, reason="langmem is installed here"
)
def test_without_the_framework_the_error_says_how_to_get_it():
    with pytest.raises(PolicyError, match=r'langmem.*pip install "chatmem-lab\[langmem\]"'):
        LangMemSummarizeMessages(900).begin(None)
