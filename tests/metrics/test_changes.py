from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatmem_lab.messages import (
    Conversation,
    Message,
    ToolCall,
    assistant,
    system,
    tool_output,
    user,
)
from chatmem_lab.metrics.changes import changes_at, removal_requests
from chatmem_lab.policies import (
    ClearToolResults,
    KeepAll,
    Messages,
    MessageWindow,
    Summarize,
    TokenWindow,
    policy_from,
)
from chatmem_lab.study import replay
from chatmem_lab.summarizers import Summary
from chatmem_lab.testing.length_counter import LengthCounter


class Short:
    """Summarizes everything as one word."""

    def __repr__(self):
        return "Short()"

    def summarize(self, request):
        return Summary(text="so")


class Fails:
    def __repr__(self):
        return "Fails()"

    def summarize(self, request):
        raise RuntimeError("no summary today")


def run_of(messages, policy):
    return replay(Conversation("c", tuple(messages)), policy, counter=LengthCounter())


def told(run, request):
    table = changes_at(run, request)
    columns = ["change", "position", "tokens_before", "tokens_after"]
    rows = table[columns].astype(object).where(table[columns].notna(), None)
    return [tuple(row) for row in rows.to_numpy().tolist()]


CHAT = [user("one"), assistant("two"), user("three"), assistant("four"), user("five")]
AGENT = [
    system("Be brief."),
    user("go"),
    assistant(tool_calls=[ToolCall("1", "f", "{}")]),
    tool_output("1", "a long result"),
    assistant(tool_calls=[ToolCall("2", "f", "{}")]),
    tool_output("2", "a longer result"),
    assistant("done"),
    user("more"),
    assistant("ok"),
]


def test_the_first_request_shows_what_entered():
    run = run_of(CHAT, KeepAll())
    assert told(run, 0) == [("entered", 0, 0, 4)]
    assert changes_at(run, 0)["kind"].tolist() == ["user"]


def test_what_was_evicted_and_why():
    run = run_of(CHAT, MessageWindow(2))
    assert told(run, 1) == [
        ("entered", 1, 0, 4),
        ("entered", 2, 0, 6),
        ("evicted", 0, 4, 0),
    ]
    assert changes_at(run, 1)["reason"].tolist() == ["", "", "over 2 messages"]


def test_what_was_cleared_stays_with_fewer_tokens():
    run = run_of(AGENT, ClearToolResults(keep=1, placeholder="-"))
    assert told(run, 2) == [
        ("cleared", 3, 14, 2),
        ("entered", 4, 0, 4),
        ("entered", 5, 0, 16),
    ]
    assert changes_at(run, 2)["reason"][0]


def test_a_fold_leaves_a_made_message():
    run = run_of(CHAT[:4], Summarize(Short(), trigger=Messages(2), keep=Messages(1), prefix=""))
    # The third message makes it three: the two oldest are folded. "so" and 1 for the message.
    assert told(run, 1) == [
        ("made", None, 0, 3),
        ("entered", 2, 0, 6),
        ("folded", 0, 4, 0),
        ("folded", 1, 0, 0),  # it came and went between the two requests
    ]
    table = changes_at(run, 1)
    assert table["kind"].tolist() == ["made", "user", "user", "assistant"]
    assert table["reason"][0] == table["reason"][2] != ""


def test_a_failed_summary_is_told_and_changes_nothing():
    run = run_of(CHAT[:4], Summarize(Fails(), trigger=Messages(2), keep=Messages(1)))
    table = changes_at(run, 1)
    assert table["change"].tolist() == ["entered", "entered", "summarize failed"]
    assert "no summary today" in table["reason"].iloc[-1]
    assert table[["slot", "position", "tokens_before"]].iloc[-1].isna().all()


def test_over_budget_is_told():
    run = run_of([system("a very long system message"), *CHAT], TokenWindow(10))
    table = changes_at(run, 0)
    assert "over budget" in table["change"].tolist()


def test_a_message_that_returns():
    texts = policy_from(
        lambda messages: messages[-1:] if len(messages) % 4 else messages, sees="history"
    )
    run = run_of([*CHAT, assistant("six"), user("seven"), assistant("eight")], texts)
    changes = [c for r in range(len(run.requests)) for c in changes_at(run, r)["change"]]
    assert "evicted" in changes
    history = policy_from(
        lambda messages: messages if len(messages) == 5 else messages[-1:], sees="history"
    )
    run = run_of([*CHAT, assistant("six")], history)
    assert ("returned", 0, 0, 4) in told(run, 2)


def test_what_was_cleared_and_evicted_at_once_left_with_its_old_tokens():
    spans = pd.DataFrame(
        {
            "slot": [0, 1], "position": pd.array([0, 1], "Int64"),
            "kind": ["tool result", "user"], "state": "kept", "first_request": [0, 1],
            "last_request": [0, 2], "tokens": [50, 5], "end": ["clear", ""],
        }
    )  # fmt: skip
    events = pd.DataFrame(
        {
            "request": [1, 1], "kind": ["clear", "evict"], "units": [((0,),), ((0,),)],
            "reason": ["old result", "over budget"],
        }
    )  # fmt: skip
    run = SimpleNamespace(map=spans, events=events, requests=pd.DataFrame({"request": [0, 1]}))
    assert told(run, 1) == [("entered", 1, 0, 5), ("evicted", 0, 50, 0)]
    assert changes_at(run, 1)["reason"].tolist() == ["", "over budget"]


def test_nothing_changed():
    run = run_of([user("one"), assistant("two"), assistant("three")], MessageWindow(1))
    spans = run.map
    assert told(run, 1) == [("entered", 1, 0, 4), ("evicted", 0, 4, 0)]
    quiet = SimpleNamespace(map=spans.iloc[:0], events=run.events.iloc[:0], requests=run.requests)
    table = changes_at(quiet, 1)
    assert table.empty
    assert table["tokens_after"].sum() == 0


@pytest.mark.parametrize("request_", [-1, 2, 99])
def test_a_request_that_is_not_there(request_):
    with pytest.raises(IndexError, match=f"no request {request_}: there are 2"):
        changes_at(run_of(CHAT, KeepAll()), request_)


def test_requests_before_which_something_left():
    run = run_of([*CHAT, assistant("six"), user("seven"), assistant("eight")], MessageWindow(3))
    left = run.requests.loc[run.requests["evicted_messages"] > 0, "request"]
    assert removal_requests(run) == left.tolist() == [2, 3]
    assert removal_requests(run_of(CHAT, KeepAll())) == []
    assert removal_requests(run_of(AGENT, ClearToolResults(keep=1))) == [2]


@st.composite
def conversations(draw):
    messages: list[Message] = [system("system")] if draw(st.booleans()) else []
    for number in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(["user", "assistant", "call"]))
        text = "x" * draw(st.integers(0, 40))
        if kind == "call":
            messages.append(assistant(tool_calls=[ToolCall(f"c{number}", "f", "{}")]))
            messages.append(tool_output(f"c{number}", text))
        else:
            messages.append(user(text or "u") if kind == "user" else assistant(text or "a"))
    return messages


POLICIES = [
    KeepAll(),
    MessageWindow(3),
    TokenWindow(60),
    TokenWindow(90, low=30),
    ClearToolResults(keep=1, placeholder="-"),
    ClearToolResults(keep=1, placeholder="-") | MessageWindow(4),
    Summarize(Short(), trigger=Messages(3), keep=Messages(2), prefix=""),
    policy_from(lambda messages: messages[-2:], sees="history"),
]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@given(messages=conversations())
@settings(max_examples=40, deadline=None)
def test_changes_add_up_to_the_tokens_of_each_request(policy, messages):
    run = run_of(messages, policy)
    before = 3  # what a request costs beside its messages
    for request, row in enumerate(run.requests.itertuples()):
        table = changes_at(run, request)
        gained = int(table["tokens_after"].sum() - table["tokens_before"].sum())
        assert gained == row.input_tokens - before
        before = row.input_tokens
        left = table["change"].isin(["evicted", "folded"]) & table["position"].notna()
        assert left.sum() == row.evicted_messages
