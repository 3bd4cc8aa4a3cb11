"""Budgets by hand."""

from __future__ import annotations

import numpy
import pytest

from chatmem_lab.errors import BudgetError, UnknownModelError
from chatmem_lab.tokens import Model, budget, known_models


def test_what_the_reply_leaves():
    assert budget("gpt-4o", reply=16_000) == 128_000 - 16_000
    assert budget("gpt-4o", reply=numpy.int64(8_000)) == 120_000
    assert budget("gpt-4.1", reply=0) == 1_047_576
    assert budget(Model(name="m", encoding="o200k_base", context_window=10), reply=9) == 1


def test_input_that_is_limited_apart():
    """gpt-5: "Input tokens exceed the configured limit of 272000 tokens"."""
    assert budget("gpt-5", reply=0) == 272_000
    assert budget("gpt-5", reply=128_000) == 400_000 - 128_000
    assert budget("gpt-5.5", reply=1_000) == 922_000
    narrow = Model(name="m", encoding="o200k_base", context_window=100, max_input_tokens=60)
    assert [budget(narrow, reply=reply) for reply in (10, 40, 41)] == [60, 60, 59]


def test_b022_nothing_left():
    full = Model(name="m", encoding="o200k_base", context_window=131_072)
    with pytest.raises(BudgetError, match=r"131,072 - 131,072 = 0"):
        budget(full, reply=131_072)
    for model in known_models():
        if model.context_window is None:
            continue
        for reply in (model.context_window, model.context_window + 1):
            with pytest.raises(BudgetError, match=f"{model.context_window:,} - {reply:,} = "):
                budget(model, reply=reply)


def test_replies_that_no_model_gives():
    with pytest.raises(BudgetError, match="at most 16,384 tokens, not 20,000") as caught:
        budget("gpt-4o", reply=20_000)
    assert "128,000 - 20,000 = 108,000" in str(caught.value)
    for reply in (-1, True, 2.5, None, "8000"):
        with pytest.raises(BudgetError, match="at least 0"):
            budget("gpt-4o", reply=reply)


def test_a_window_that_is_not_known():
    with pytest.raises(UnknownModelError, match="context window of 'm'"):
        budget(Model(name="m", encoding="o200k_base"), reply=10)
