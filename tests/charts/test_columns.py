from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from chatmem_lab.charts import plot_summary_quality, plot_tokens, plot_window_map
from chatmem_lab.charts.columns import frame_of, one_conversation
from chatmem_lab.errors import ChatMemLabError, ColumnError


def test_a_frame_or_an_object_with_it():
    frame = pd.DataFrame({"request": [0]})
    assert frame_of(frame, "requests", ["request"]) is frame
    assert frame_of(SimpleNamespace(requests=frame), "requests", ["request"]) is frame


@pytest.mark.parametrize("chart", [plot_tokens, plot_window_map, plot_summary_quality])
def test_missing_columns_are_named_and_those_that_are_there(chart):
    with pytest.raises(ColumnError) as caught:
        chart(pd.DataFrame({"request": [0], "nonsense": [1]}))
    message = str(caught.value)
    assert "there are: request, nonsense" in message
    assert " are missing" in message
    assert isinstance(caught.value, ValueError | ChatMemLabError)


@pytest.mark.parametrize("chart", [plot_tokens, plot_window_map, plot_summary_quality])
def test_something_else_altogether(chart):
    with pytest.raises(ColumnError, match="got int"):
        chart(3)


def test_one_missing_column():
    with pytest.raises(ColumnError, match="with the columns a, b and c; b is missing"):
        frame_of(pd.DataFrame({"a": [], "c": []}), "requests", ["a", "b", "c"])


def test_several_conversations_are_refused():
    frame = pd.DataFrame({"conversation": ["a", "b"]})
    with pytest.raises(ColumnError, match=r"holds 2: choose one, as in .*== 'a'"):
        one_conversation(frame, "plot_tokens")
    assert one_conversation(frame.iloc[:1], "plot_tokens") == "a"
    assert one_conversation(frame.iloc[:0], "plot_tokens") == ""


def test_several_policies_are_refused():
    frame = pd.DataFrame({"conversation": ["a", "a"], "policy": ["p", "q"]})
    with pytest.raises(ColumnError, match=r"one policy; the table holds 2: .*== 'p'"):
        one_conversation(frame, "plot_tokens")
