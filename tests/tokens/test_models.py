"""Names become models, or errors that name the way on."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import UnknownModelError
from chatmem_lab.tokens import Model, find_model, known_models, register_model


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gpt-5", "gpt-5"),
        ("openai/gpt-5", "gpt-5"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("ft:gpt-4o-mini-2024-07-18:acme::abc", "gpt-4o-mini"),
        ("ft:gpt-3.5-turbo:acme", "gpt-3.5-turbo"),
        ("gpt-3.5-turbo-0125", "gpt-3.5-turbo"),
        ("o1-preview", "o1"),
        (" gpt-4o ", "gpt-4o"),
        ("gpt-oss-120b", "gpt-oss-120b"),
    ],
)
def test_names_that_mean_a_model(name, model):
    assert find_model(name).name == model


@pytest.mark.parametrize("name", ["gpt-4o-imaginary", "gpt-6-sol", "anthropic/claude", "", "/"])
def test_names_that_mean_none(name):
    with pytest.raises(UnknownModelError):
        find_model(name)


def test_the_nearest_are_offered():
    with pytest.raises(UnknownModelError, match="nearest are gpt-5-mini"):
        find_model("gpt5-mini")


def test_the_table_holds_together():
    for model in known_models():
        assert model.encoding in {"o200k_base", "cl100k_base", "o200k_harmony"}
        if model.context_window and model.max_output_tokens:
            assert model.max_output_tokens <= model.context_window


def test_a_model_of_ones_own():
    register_model(Model(name="ours-1", encoding="o200k_base", context_window=9_000))
    assert find_model("ours-1").context_window == 9_000
