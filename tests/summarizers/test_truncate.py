import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import ToolCall, assistant, tool_output, user
from chatmem_lab.summarizers import SummaryRequest, Truncate
from chatmem_lab.testing import check_summarizer


def text_of(messages, limit, **asked):
    return Truncate(limit).summarize(SummaryRequest(messages=tuple(messages), **asked)).text


def test_what_fits_stays_whole():
    messages = [
        user("Where is\n my  order?"),
        assistant("Let me see.", tool_calls=[ToolCall("c1", "find", '{"id": "A-117"}')]),
        tool_output("c1", "shipped"),
    ]
    whole = (
        "Ann ordered a lamp.\nuser: Where is my order?\n"
        'assistant: Let me see. find({"id": "A-117"})\ntool: shipped'
    )
    assert text_of(messages, 500, previous=" Ann ordered a lamp.\n") == whole
    assert text_of(messages, len(whole), previous="Ann ordered a lamp.") == whole


def test_heads_in_proportion():
    # 66 and 126 characters with their labels; of 100 one is for the line break, 24 are for
    # each, and of the other 51, 42 and 102 parts of 144 go to them: 24 + 14 and 24 + 36.
    heads = text_of([user("a" * 60), user("b" * 120)], 100)
    assert heads == f"user: {'a' * 31}…\nuser: {'b' * 53}…"


def test_the_earlier_summary_comes_first_and_counts_as_a_message():
    heads = text_of([user("b" * 94)], 61, previous="a" * 100)
    # 60 are left beside the line break: 30 for each
    assert heads == f"{'a' * 29}…\nuser: {'b' * 23}…"


def test_of_many_messages_the_first_and_the_longest_are_kept():
    messages = [user("first"), *[user("short")] * 50, user("l" * 80), *[user("short")] * 50]
    # (74 + 1) // 25 = 3 heads: the first, the longest, and the first of the short ones
    assert text_of(messages, 74) == f"user: first\nuser: short\nuser: {'l' * 43}…"


def test_nothing_to_say_is_a_failure():
    assert text_of([], 100) is None
    assert text_of([user(" "), user(images=["https://example.org/a.png"])], 100) is None
    assert text_of([user("something long")], 1) is None


def test_a_limit_in_tokens_is_kept_in_bytes():
    assert text_of([user("hello there, all of you")], 500, max_tokens=16) == "user: hello…"
    chinese = text_of([user("费用一共是一千二百元" * 20)], 500, max_tokens=64)
    assert 40 < len(chinese.encode()) <= 64
    assert text_of([user("费用")], 500, max_tokens=1) is None


def test_it_has_no_tokens_to_charge():
    summary = Truncate().summarize(SummaryRequest(messages=(user("hi"),)))
    assert (summary.covered, summary.usage, summary.model) == (None, None, None)


def test_it_is_a_value():
    assert Truncate(2_000) == Truncate()
    assert len({Truncate(), Truncate(2_000), Truncate(5)}) == 2
    assert pickle.loads(pickle.dumps(Truncate(7))) == Truncate(7)
    assert repr(Truncate()) == "Truncate(2_000)"
    assert eval(repr(Truncate(12_345))) == Truncate(12_345)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "80", None])
def test_the_bounds(wrong):
    with pytest.raises(PolicyError, match="max_chars must be a whole number, at least 1, not"):
        Truncate(wrong)


@pytest.mark.parametrize("limit", [1, 25, 100, 2_000, sys.maxsize])
def test_the_contract(limit):
    if limit >= 25:
        check_summarizer(Truncate(limit))
    else:
        with pytest.raises(AssertionError, match="an ordinary conversation: says nothing"):
            check_summarizer(Truncate(limit))


WORDS = st.text(max_size=60) | st.sampled_from(
    ["费用1200元", "👩‍👩‍👧‍👦", "e\u0301" * 20, "\ud83d", "a b " * 40]
)


@given(
    st.lists(WORDS.map(user) | WORDS.map(assistant), max_size=30),
    st.integers(1, 300),
    st.none() | WORDS,
    st.none() | st.integers(1, 200),
)
def test_it_is_never_longer_than_its_limits(messages, limit, previous, max_tokens):
    asked = {"previous": previous, "max_tokens": max_tokens}
    text = text_of(messages, limit, **asked)
    assert text == text_of(messages, limit, **asked)
    if text is not None:
        assert text.strip()
        assert len(text) <= limit
        assert max_tokens is None or len(text.encode("utf-8", "surrogatepass")) <= max_tokens
