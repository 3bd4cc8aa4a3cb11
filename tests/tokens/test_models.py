"""Names become models, or errors that name the way on."""

from __future__ import annotations

import pickle

import pytest
import tiktoken.model

from chatmem_lab.errors import UnknownModelError
from chatmem_lab.tokens import Model, budget, counter, find_model, known_models, register_model
from chatmem_lab.tokens import models as table


@pytest.fixture
def own_table(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(table, "_known", dict(table._known))


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gpt-5", "gpt-5"),
        ("openai/gpt-5", "gpt-5"),
        ("openai:gpt-5", "gpt-5"),
        ("openai-responses:gpt-5", "gpt-5"),
        ("azure/gpt-4o", "gpt-4o"),
        ("openrouter/openai/gpt-4.1-mini", "gpt-4.1-mini"),
        ("together_ai/openai/gpt-oss-20b", "gpt-oss-20b"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai/gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("ft:gpt-4o:org::id", "gpt-4o"),
        ("ft:gpt-4o-mini-2024-07-18:acme::abc", "gpt-4o-mini"),
        ("ft:gpt-3.5-turbo:acme", "gpt-3.5-turbo"),
        ("gpt-4o-mini-2024-07-18.ft-0123abc", "gpt-4o-mini"),
        ("gpt-3.5-turbo-0125", "gpt-3.5-turbo-0125"),
        ("o1-preview-2024-09-12", "o1-preview"),
        ("gpt-4-turbo-2024-04-09", "gpt-4-turbo"),
        (" gpt-4o\n", "gpt-4o"),
        ("GPT-4o", "gpt-4o"),
        ("gpt-oss-120b", "gpt-oss-120b"),
    ],
)
def test_names_that_mean_a_model(name, model):
    assert find_model(name).name == model


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4o-imaginary",
        "gpt-4o-latest",
        "gpt-4o-preview",
        "gpt-4o-2024-13-41",
        "gpt-4o-0806",
        "gpt-3.5-turbo-0301",
        "gpt-4-5",
        "gpt-6-sol",
        "gpt",
        "deepseek-chat",
        "claude-sonnet-4-5",
        "anthropic/gpt-4o",
        "gemini-2.5-pro",
        "azure/my-deployment",
        "ft:my-model:acme",
        "",
        "/",
        "openai/",
        "ft:",
    ],
)
def test_names_that_mean_none(name):
    for ask in (find_model, counter, lambda name: budget(name, reply=1)):
        with pytest.raises(UnknownModelError, match=r"estimate=True") as caught:
            ask(name)
        assert repr(name) in str(caught.value)


def test_snapshots_that_are_models_of_their_own():
    """Their windows are not those of the name that they begin with."""
    assert find_model("gpt-4-0125-preview").context_window == 128_000
    assert find_model("gpt-4").context_window == 8_192
    assert find_model("o1-preview").context_window == 128_000
    assert find_model("o1").context_window == 200_000
    assert find_model("gpt-4o-2024-05-13").max_output_tokens == 4_096
    assert find_model("gpt-5-chat-latest").context_window == 128_000


def test_b053_the_nearest_are_offered():
    with pytest.raises(UnknownModelError, match=r"nearest are gpt-5-mini, "):
        find_model("openai/gpt5-mini")
    with pytest.raises(UnknownModelError) as caught:
        find_model("azure/my-deployment")
    names = str(caught.value).split("nearest are ")[1].split(". ")[0].split(", ")
    assert len(names) == 3
    assert {model.name for model in known_models()} >= set(names)


def test_hostile_names_end():
    for name in ("openai/" * 100_000, "a/" * 200_000, "ft:" * 200_000, "-2024-01-01" * 50_000):
        with pytest.raises(UnknownModelError) as caught:
            find_model(name)
        assert len(str(caught.value)) < 1_000


def test_a_model_is_a_name():
    with pytest.raises(TypeError, match="not NoneType"):
        find_model(None)
    with pytest.raises(TypeError, match="not int"):
        counter(5, estimate=True)


def test_the_table_holds_together():
    names = [model.name for model in known_models()]
    assert len(names) == len(set(names)) > 60
    for model in known_models():
        assert model.family
        if model.context_window and model.max_output_tokens:
            assert model.max_output_tokens <= model.context_window
        if model.max_input_tokens:
            assert model.max_input_tokens < model.context_window
        if model.image_tokens:
            assert 0 < model.low_image_tokens <= model.image_tokens


def test_encodings_are_tiktokens():
    for model in known_models():
        if model.name in ("gpt-4.5-preview", "codex-mini-latest", "gpt-3.5-turbo-instruct"):
            continue
        assert model.encoding == tiktoken.model.encoding_name_for_model(model.name)
    assert find_model("gpt-3.5-turbo-instruct").encoding == "cl100k_base"


@pytest.mark.usefixtures("own_table")
def test_a_model_of_ones_own():
    own = Model(name="azure/our-gpt", encoding="o200k_base", context_window=9_000)
    with pytest.raises(UnknownModelError):
        counter("azure/our-gpt")
    register_model(own)
    assert find_model("azure/our-gpt") is own
    assert budget("azure/our-gpt", reply=1_000) == 8_000
    assert counter("azure/our-gpt").name == "azure/our-gpt (o200k_base)"
    assert own in known_models()
    register_model(Model(name="gpt-4o", encoding="o200k_base", context_window=64_000))
    assert budget("openai/gpt-4o", reply=1_000) == 63_000
    assert pickle.loads(pickle.dumps(own)) == own
