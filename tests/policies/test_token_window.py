"""`TokenWindow` by hand."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import assistant, system, tool_output, user
from chatmem_lab.policies import TokenWindow
from chatmem_lab.tokens import counter
from replaying import calls, chat, kept, trace_of
from seed_cases import bug_cases, case_messages

BUGS = bug_cases()


def test_b013_a_budget_that_is_just_enough_and_one_token_less():
    messages = case_messages(BUGS["B013"]["input"]["messages"])
    gpt_4o = counter("gpt-4o")
    for budget, start_on_user, expected, tokens in [
        (47, True, [0, 1, 2, 3, 4, 5], 47),
        (46, True, [0, 3, 4, 5], 36),
        (46, False, [0, 2, 3, 4, 5], 42),
    ]:
        policy = TokenWindow(budget, start_on_user=start_on_user)
        assert kept(messages, policy, gpt_4o) == expected
        assert trace_of(messages, policy, gpt_4o).window(-1).tokens == tokens


def test_b019_over_budget_is_marked_with_the_parts_of_the_sum():
    messages = [system("Be brief."), user("a" * 8000), assistant("ok")]
    trace = trace_of(messages, TokenWindow(100), counter("gpt-4o"))
    assert trace.window(0).messages == tuple(messages[:2])
    assert trace.input_tokens.tolist() == [1014]
    assert trace.over_budget.tolist() == [True]
    over = [event for event in trace.events if event.kind == "over_budget"]
    assert len(over) == 1
    for part in ("1,014", "100", "system 7", "newest unit 1,004", "reply priming 3"):
        assert part in over[0].reason


def test_tokens_by_hand():
    """Each message costs 2 (1 and one character), a request 3."""
    messages = chat("suaua")
    assert kept(messages, TokenWindow(13)) == [0, 1, 2, 3, 4]
    assert kept(messages, TokenWindow(12)) == [0, 2, 3, 4]
    assert kept(messages, TokenWindow(7)) == [0, 4]
    assert kept(messages, TokenWindow(1)) == [0, 4]


def test_low_water_mark():
    trace = trace_of(chat("u" * 8), TokenWindow(13, low=7))
    cuts = [(e.position, e.tokens_before, e.tokens_after) for e in trace.events]
    # 5 messages are 3 + 5 × 2 = 13; the sixth is over; 7 leaves 2 messages
    assert cuts == [(5, 15, 7)]
    assert trace.window(-1).tokens == 11


def test_an_open_call_is_not_asked_about():
    messages = [user("q" * 20), calls("a", "b"), tool_output("a", "r" * 30)]
    assert kept(messages, TokenWindow(40)) == [0, 1, 2]
    assert kept([*messages, tool_output("b", "x")], TokenWindow(40)) == [1, 2, 3]


def test_bounds():
    with pytest.raises(PolicyError, match="max_tokens must be at least 1, not 0"):
        TokenWindow(0)
    with pytest.raises(PolicyError, match="low must be at most max_tokens, 10, not 11"):
        TokenWindow(10, low=11)
    assert repr(TokenWindow(8_000, low=6_000, pin_user=True)) == (
        "TokenWindow(8_000, pin_user=True, low=6_000)"
    )


def test_room_is_kept_for_the_reply():
    messages = chat("suauaua")
    assert kept(messages, TokenWindow(60, reserve=20)) == kept(messages, TokenWindow(40))
    assert TokenWindow(60, reserve=20).budget == 40


def test_b022_a_reserve_as_large_as_the_window_is_refused_with_the_sum():
    with pytest.raises(PolicyError, match="input budget = 131072 - 131072 = 0"):
        TokenWindow(131_072, reserve=131_072)
    with pytest.raises(PolicyError, match="max_tokens less reserve, 40, not 41"):
        TokenWindow(60, reserve=20, low=41)
