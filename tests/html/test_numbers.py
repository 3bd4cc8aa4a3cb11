import itertools

import numpy as np
import pandas as pd
import pytest

from chatmem_lab.html.numbers import (
    axis_text,
    counted,
    exact,
    known,
    nice_ticks,
    share_text,
    short,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (9_999, "9,999"), (10_000, "10.0k"), (59_600, "59.6k"), (-1_200, "−1,200")],
)
def test_a_subject_is_exact_to_9999(value, text):
    assert exact(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (999, "999"),
        (1_000, "1.0k"),
        (99_949, "99.9k"),
        (99_950, "100k"),
        (796_400, "796k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_234_567, "1.2M"),
        (2_000_000_000_000, "2,000G"),
        (-4_100, "−4.1k"),
    ],
)
def test_a_number_beside_others_has_at_most_four_signs(value, text):
    assert short(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1e-9, "<1 %"),
        (0.64, "64 %"),
        (0.99, "99 %"),
        (0.996, "99.6 %"),
        (0.9999999, "99.9 %"),
        (1.0, "100 %"),
        (30.0, "3,000 %"),
        (None, "–"),
    ],
)
def test_a_share_is_whole_only_if_it_is(share, text):
    assert share_text(share) == text


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("exact", "7"),
        ("estimate", "≈ 7"),
        ("lower_bound", "≥ 7"),
        ("upper_bound", "≤ 7"),
        ("unknown", "unknown"),
        ("something new", "unknown"),
    ],
)
def test_a_count_that_is_not_exact_says_so(kind, text):
    assert counted("7", kind) == text


@pytest.mark.parametrize("nothing", [None, float("nan"), float("inf"), pd.NA, np.nan, pd.NaT, "7"])
def test_no_number_is_none(nothing):
    assert known(nothing) is None


@pytest.mark.parametrize("value", [7, 7.0, np.int64(7), np.float32(7), True + 6])
def test_numbers_of_all_makes_are_known(value):
    assert known(value) == 7.0


@pytest.mark.parametrize("top", [1, 3, 9, 10, 99, 3_733, 80_000, 1_234_567])
def test_ticks_are_round_few_and_within(top):
    ticks = nice_ticks(top)
    assert ticks[0] == 0
    assert ticks[-1] <= top
    assert 2 <= len(ticks) <= 6
    assert all(len(axis_text(tick)) <= 5 for tick in ticks)
    steps = {round(b - a, 6) for a, b in itertools.pairwise(ticks)}
    assert len(steps) == 1
    assert str(steps.pop())[0] in "125"
