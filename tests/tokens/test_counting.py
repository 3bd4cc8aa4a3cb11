"""Kinds of counts."""

from __future__ import annotations

from itertools import permutations

from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.tokens import COUNT_KINDS, TokenCounter, counter, weakest


def test_a_sum_takes_the_weakest():
    assert weakest([]) == "exact"
    for first, second in permutations(COUNT_KINDS, 2):
        kind = weakest([first, second])
        if {first, second} == {"lower_bound", "upper_bound"}:
            assert kind == "estimate"
        else:
            assert kind == max(first, second, key=COUNT_KINDS.index)


def test_counters_have_what_the_protocol_names():
    assert isinstance(counter("gpt-5"), TokenCounter)
    assert isinstance(LengthCounter(), TokenCounter)
