import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmem_lab.summarizers.cutting import cut


@pytest.mark.parametrize(
    ("text", "limit", "head"),
    [
        ("order A-117 is late", 19, "order A-117 is late"),
        ("order A-117 is late", 18, "order A-117 is…"),
        ("order A-117 is late", 14, "order A-117…"),
        ("order A-117 is late", 11, "order…"),
        ("order A-117 is late", 6, "order…"),
        ("order A-117 is late", 5, "orde…"),
        ("order", 1, "…"),
        ("order", 0, ""),
        ("", 0, ""),
        ("order… A-117 is late", 9, "order…"),
        ("x" * 100, 10, "x" * 9 + "…"),
        ("word " + "x" * 100, 60, "word " + "x" * 54 + "…"),
    ],
)
def test_between_words_where_one_ends_nearby(text, limit, head):
    assert cut(text, limit) == head


def test_scripts_without_spaces_are_cut_anywhere_but_in_a_number():
    assert cut("费用一共是一千二百元", 6) == "费用一共是…"
    assert cut("费用1200元，明天", 5) == "费用…"
    assert cut("費用は明日お支払いください", 8) == "費用は明日お支…"


@pytest.mark.parametrize(
    ("text", "limit", "head"),
    [
        ("a" + "e\u0301" * 9, 5, "ae\u0301…"),
        ("ab👍🏽cd", 4, "ab…"),
        ("ab👩\u200d👩\u200d👧cd", 5, "ab…"),
        ("🇩🇪🇫🇷🇮🇹", 4, "🇩🇪…"),
        ("❤\ufe0f❤\ufe0f", 2, "…"),
        ("a\ud83d\ude00b", 3, "a…"),
        ("한\u1100\u1161\u11a8국x", 2, "한…"),
    ],
)
def test_no_character_is_torn(text, limit, head):
    assert cut(text, limit) == head


def test_marks_without_end_do_not_stop_it():
    text = "e" + "\u0301" * 10_000
    assert cut(text, 100) == text[:99] + "…"
    assert cut(text, 20) == "…"


@given(st.text(), st.integers(0, 40))
def test_it_is_a_head_within_the_limit(text, limit):
    head = cut(text, limit)
    assert len(head) <= limit or head == text
    if head != text:
        assert text.startswith(head[:-1])
        after = text[len(head) - 1 :]
        if limit:
            assert after
            assert head == "…" or unicodedata.category(after[0])[0] != "M"
