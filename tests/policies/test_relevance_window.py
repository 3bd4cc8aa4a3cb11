"""`RelevanceWindow` and `Recall` by hand, and the index behind both."""

from __future__ import annotations

import math

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import assistant, system, user
from chatmem_lab.policies import (
    ClearToolResults,
    MessageWindow,
    Recall,
    RelevanceWindow,
    Summarize,
    TokenWindow,
)
from chatmem_lab.policies.bm25 import Bm25
from chatmem_lab.summarizers import Truncate
from chatmem_lab.testing import check_policy
from replaying import trace_of

TALK = [
    system("S"),
    user("my parcel number is K7"),
    assistant("noted"),
    user("forecast for today"),
    assistant("sunny"),
    user("where is my parcel"),
    assistant("here"),
]


def test_bm25_by_hand():
    index = Bm25()
    index.add("a", "red fox")
    index.add("b", "red red hen and cock")
    # Two texts, 2 and 5 words long, 3.5 on average; "red" is in both, "hen" in one.
    both, one = math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5)
    a = 1.5 * (1 - 0.75 + 0.75 * 2 / 3.5)
    b = 1.5 * (1 - 0.75 + 0.75 * 5 / 3.5)
    assert index.scores("Red hen?") == pytest.approx(
        {"a": both * 2.5 / (1 + a), "b": both * 2 * 2.5 / (2 + b) + one * 2.5 / (1 + b)}
    )
    index.remove("b", "red red hen and cock")
    assert list(index.scores("red hen")) == ["a"]


def test_scripts_without_spaces_are_searched_by_pairs_of_signs():
    index = Bm25()
    index.add(1, "我的退款申请编号是 A7")
    index.add(2, "今天天气很好")
    assert list(index.scores("退款怎么样了")) == [1]


def test_what_has_least_to_do_with_the_question_leaves_first():
    tokens = trace_of(TALK[:-1], cml.KeepAll()).window(-1).tokens
    # One token too many: of those that share no word (2, 4) the oldest leaves.
    trace = trace_of(TALK, RelevanceWindow(tokens - 1, keep_newest=1))
    assert [s.position for s in trace.window(2).slots] == [0, 1, 3, 4, 5]


def test_what_was_evicted_comes_back_while_it_is_relevant():
    trace = trace_of(TALK, Recall(MessageWindow(2), 1))
    shown = [[s.position for s in trace.window(r).slots] for r in range(3)]
    # At the third request the window of two is [4, 5]; 1 shares "is", "my" and "parcel" with it.
    assert shown == [[0, 1], [0, 2, 3], [0, 1, 4, 5]]
    assert [(e.kind, e.units) for e in trace.events if e.kind == "return"] == [("return", ((1,),))]


def test_what_comes_back_fits_into_the_budget():
    long = [system("S"), user("parcel " * 30), assistant("ok"), *TALK[3:]]
    trace = trace_of(long, Recall(TokenWindow(80), 3))
    assert trace.input_tokens.max() <= 80 or trace.over_budget.any()
    assert 1 not in [s.position for s in trace.window(2).slots]
    wide = trace_of(long, Recall(TokenWindow(80), 3, max_tokens=400))
    assert 1 in [s.position for s in wide.window(2).slots]


def test_what_folds_is_refused_by_name():
    with pytest.raises(PolicyError, match="which folds"):
        Recall(Summarize(Truncate(20)), 2)
    with pytest.raises(PolicyError, match="takes one policy"):
        Recall(ClearToolResults(3) | MessageWindow(4), 2)
    with pytest.raises(PolicyError, match="k must be at least 0"):
        Recall(MessageWindow(4), -1)


def test_they_hold_their_contracts():
    check_policy(Recall(TokenWindow(90), 2), examples=60)
    check_policy(Recall(MessageWindow(3), 2, max_tokens=200), examples=60)
    check_policy(RelevanceWindow(90, keep_newest=2), examples=60)
    check_policy(ClearToolResults(1) | RelevanceWindow(90, keep_newest=2), examples=40)


def test_on_a_recorded_run_what_comes_back_shares_words_with_the_question():
    conversation = cml.datasets.load("support")[0]
    inner, outer = TokenWindow(1_500), Recall(TokenWindow(1_500), 3, max_tokens=2_500)
    plain = cml.replay(conversation, inner, model="gpt-4o")
    run = cml.replay(conversation, outer, model="gpt-4o")
    came_back = 0
    for request, position in enumerate(conversation.requests):
        before = {s.position for s in plain.window(request).slots}
        after = {s.position for s in run.window(request).slots}
        assert before <= after
        asked = [m.text for m in conversation.messages[:position] if m.role == "user"][-1]
        words = set(asked.lower().replace("'", " ").replace(",", " ").split())
        returned = [u for u in conversation.units if set(u) & (after - before)]
        assert len(returned) <= 3
        for unit in returned:
            said = " ".join(
                m.text + " ".join(c.name + c.arguments for c in m.tool_calls)
                for m in conversation.messages[unit[0] : unit[-1] + 1]
            ).lower()
            assert any(word.strip('.?!-–“”"') in said for word in words)
        came_back += len(returned)
    assert came_back > 10
