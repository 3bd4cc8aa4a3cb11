"""`scores_table` and `validity_table` by hand."""

from __future__ import annotations

import pandas as pd

from chatmem_lab.messages import assistant, tool_output, user
from chatmem_lab.metrics.scores import scores_table, validity_table
from chatmem_lab.policies import ClearToolResults, KeepAll, MessageWindow, policy_from
from replaying import calls, chat, trace_of


def test_sums_over_the_requests_of_a_conversation():
    # two tokens a message and three a request: windows of 2 and 4, then of 2 and 3 messages
    traces = {
        label: [trace_of(chat("suaua"), policy)]
        for label, policy in {"all": KeepAll(), "two": MessageWindow(2)}.items()
    }
    table = scores_table(traces).set_index("policy")
    assert table["input_tokens"].tolist() == [7 + 11, 7 + 9]
    assert table["peak_tokens"].tolist() == [11, 9]
    assert table["prefix_tokens"].tolist() == [4, 2]
    assert table["prefix_share"].tolist() == [4 / 18, 2 / 16]
    assert table["evicted_messages"].tolist() == [0, 1]
    assert table["uncached_tokens"].tolist() == [18 - 4, 16 - 2]
    assert table["cleared_messages"].tolist() == [0, 0]
    assert table["output_tokens"].tolist() == [4, 4]
    assert table["requests"].tolist() == [2, 2]
    assert table["retention"].isna().all()


def test_a_conversation_without_requests_has_no_shares():
    table = scores_table({"all": [trace_of(chat("u"), KeepAll())]})
    assert table["requests"].tolist() == [0]
    assert table["input_tokens"].tolist() == [0]
    assert table.loc[0, "prefix_share"] is pd.NA


def test_faults_by_kind():
    messages = [user("q"), calls("c1"), tool_output("c1", "r"), assistant("a"), assistant("")]
    messages += [assistant("end")]
    traces = {
        "whole": [trace_of(messages, KeepAll())],
        "torn": [trace_of(messages, policy_from(lambda m: m[-1:], repair=False))],
    }
    table = validity_table(traces)
    assert table.loc["whole"].to_dict() == {
        "orphan_result": 0,
        "unanswered_call": 0,
        "blank_message": 1,
        "empty_window": 0,
        "lost_system": 0,
        "requests_with_faults": 1,
        "over_budget": 0,
        "policy_failed": 0,
        "summarize_failed": 0,
        "requests": 4,
    }
    assert table.loc["torn", "orphan_result"] == 1


def test_cleared_messages_are_those_that_a_request_saw():
    messages = [user("q")]
    for _ in range(3):
        messages += [calls("c1"), tool_output("c1", "r" * 30)]
    policy = ClearToolResults(1, placeholder="-")
    table = scores_table({"clear": [trace_of([*messages, assistant("end")], policy)]})
    # the first result before the third call, the second before the last reply
    assert table["cleared_messages"].tolist() == [2]
    table = scores_table({"clear": [trace_of(messages, policy)]})
    assert table["cleared_messages"].tolist() == [1]
