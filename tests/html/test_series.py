import pandas as pd

from chatmem_lab.html.series import LAYERS, binned, read_series

REQUESTS = pd.DataFrame(
    {
        "system_tokens": [10, 10, 10, 10, 10],
        "user_tokens": [5, 5, 7, 7, 7],
        "assistant_tokens": [0, 20, 60, 8, 8],
        "tool_call_tokens": [0, 12, 12, 0, 8],
        "tool_result_tokens": [0, 30, 30, 0, 0],
        "made_tokens": [0, 0, 0, 15, 15],
        "tool_schema_tokens": [4] * 5,
        "overhead_tokens": [3] * 5,
        "input_tokens": [22, 72, 114, 47, 47],
        "evicted_tokens": [0, 0, 0, 82, 6],
        "evicted_messages": [0, 0, 0, 3, 1],
        "prefix_tokens": [0, 22, 72, 14, 40],
        "budget": pd.array([None, 100, 100, 100, 100], dtype="Int64"),
        "over_budget": [False, False, True, False, False],
    }
)


def columns():
    return {name: REQUESTS[name].tolist() for name in REQUESTS}


def test_the_layers_add_up_to_the_input():
    series = read_series(columns())
    assert series.tokens == [22, 72, 114, 47, 47]
    assert list(series.layers) == list(LAYERS)
    assert series.layers["assistant"] == [0, 8, 48, 8, 0]
    assert series.budget == [None, 100, 100, 100, 100]


def test_a_bin_keeps_the_peak_and_sums_what_left():
    steps = binned(read_series(columns()), 2)
    assert steps.size == 3
    assert steps.tokens == [114, 47]
    assert steps.layers["assistant"] == [48, 8]
    assert steps.evicted == [0, 88]
    assert steps.evicted_messages == [0, 4]
    assert steps.over == [1, 0]


def test_the_share_of_a_bin_is_weighted_by_tokens():
    steps = binned(read_series(columns()), 2)
    # (0 + 22 + 72) of (22 + 72 + 114), (14 + 40) of (47 + 47).
    assert steps.shares() == [94 / 208, 54 / 94]


def test_the_step_of_a_request():
    steps = binned(read_series(columns()), 2)
    assert [steps.step_of(request) for request in (0, 2, 3, 4, 5)] == [0, 0, 1, 1, 1]


def test_few_requests_are_not_binned():
    series = read_series(columns())
    assert binned(series, 5) is series


def test_no_columns_are_no_requests():
    assert read_series({}).requests == 0
