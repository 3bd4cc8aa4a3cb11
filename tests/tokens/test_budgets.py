"""Budgets by hand."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import BudgetError, UnknownModelError
from chatmem_lab.tokens import Model, budget


def test_what_the_reply_leaves():
    assert budget("gpt-4o", reply=16_000) == 128_000 - 16_000
    assert budget("gpt-5", reply=0) == 400_000


def test_b022_nothing_left():
    full = Model(name="m", encoding="o200k_base", context_window=131_072)
    with pytest.raises(BudgetError, match=r"131,072 - 131,072 = 0"):
        budget(full, reply=131_072)
    with pytest.raises(BudgetError, match=r"8,192 - 8,192 = 0"):
        budget("gpt-4", reply=8_192)


def test_replies_that_no_model_gives():
    with pytest.raises(BudgetError, match="at most 16,384 tokens, not 20,000"):
        budget("gpt-4o", reply=20_000)
    for reply in (-1, True, 2.5):
        with pytest.raises(BudgetError, match="at least 0"):
            budget("gpt-4o", reply=reply)


def test_a_window_that_is_not_known():
    with pytest.raises(UnknownModelError, match="context window of 'm'"):
        budget(Model(name="m", encoding="o200k_base"), reply=10)
