"""`requests_table` against a conversation whose every figure can be done by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pandas as pd

from chatmem_lab.messages import Usage, assistant, system, tool_output, user
from chatmem_lab.metrics.requests import requests_table
from chatmem_lab.policies import MessageWindow, TokenWindow
from replaying import calls, trace_of

WHEN = datetime(2026, 5, 1, 12, tzinfo=UTC)

#: Tokens under `LengthCounter`: 1 a message and 1 a character.
MESSAGES = [
    system("SSSS"),  # 5
    user("uu"),  # 3
    msgspec.structs.replace(
        calls("c1"), usage=Usage(output_tokens=9), model="gpt-4o", created_at=WHEN
    ),  # 7: the name `read`, the arguments `{}`
    tool_output("c1", "rrrrrr"),  # 7
    assistant("aaa"),  # 4
    user("u"),  # 2
    assistant("done"),  # 5
]


def test_every_column_of_three_requests():
    table = requests_table(trace_of(MESSAGES, MessageWindow(2)))
    expected = {
        "request": [0, 1, 2],
        "position": [2, 4, 6],
        # 3 beside the messages; the call's unit leaves when the second reply is there
        "input_tokens": [5 + 3 + 3, 5 + 7 + 7 + 3, 5 + 4 + 2 + 3],
        "system_tokens": [5, 5, 5],
        "user_tokens": [3, 0, 2],
        "assistant_tokens": [0, 7, 4],
        "tool_result_tokens": [0, 7, 0],
        "made_tokens": [0, 0, 0],
        "tool_schema_tokens": [0, 0, 0],
        "overhead_tokens": [3, 3, 3],
        "tool_call_tokens": [0, 7, 0],
        "messages": [2, 3, 3],
        "units": [2, 2, 3],
        "pinned_tokens": [5 + 3, 5 + 14, 5 + 2],
        "evicted_messages": [0, 1, 2],
        "evicted_tokens": [0, 3, 14],
        "absent_messages": [0, 1, 3],
        # only the system message is where it was
        "prefix_tokens": [0, 5, 5],
        "output_tokens": [9, 4, 5],
        "output_kind": ["recorded", "counted", "counted"],
        "over_budget": [False, False, False],
        "faults": [0, 0, 0],
        # a tool was called, and no schema is recorded
        "count_kind": ["lower_bound"] * 3,
    }
    assert table[list(expected)].to_dict("list") == expected
    assert table["budget"].isna().all()
    assert table["requested_at"].tolist() == [pd.Timestamp(WHEN), pd.NaT, pd.NaT]
    assert table["model"].fillna("none").tolist() == ["gpt-4o", "none", "none"]


def test_budget_and_mark():
    table = requests_table(trace_of(MESSAGES, TokenWindow(21)))
    assert table["budget"].tolist() == [21, 21, 21]
    assert table["input_tokens"].tolist() == [11, 22, 14]
    assert table["over_budget"].tolist() == [False, True, False]


def test_many_traces_are_one_table():
    one = trace_of(MESSAGES, MessageWindow(2))
    table = requests_table([one, one])
    assert table["request"].tolist() == [0, 1, 2, 0, 1, 2]
    assert len(requests_table([])) == 0
