from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from chatmem_lab.metrics.prefix import prefix_spans


def spans(*rows):
    return pd.DataFrame(
        [dict(zip(("first_request", "last_request", "tokens", "order", "end"), r)) for r in rows]
    )


def requests(*prefix, schemas=0):
    return pd.DataFrame({"prefix_tokens": prefix, "tool_schema_tokens": schemas})


def pieces(table):
    return table[["first_request", "last_request", "sent", "end"]].values.tolist()


def test_an_unbroken_prefix_is_one_piece():
    found = prefix_spans(spans((0, 3, 10, 0.0, ""), (1, 3, 5, 1.0, "")), requests(0, 10, 15, 15))
    assert pieces(found) == [
        [0, 0, "entered", ""],
        [1, 3, "cached", ""],
        [1, 1, "entered", ""],
        [2, 3, "cached", ""],
    ]


def test_what_stands_behind_an_eviction_is_paid_again():
    table = spans((0, 2, 10, 0.0, ""), (0, 0, 20, 1.0, "evict"), (0, 2, 30, 2.0, ""))
    assert pieces(prefix_spans(table, requests(0, 10, 40)))[3:] == [
        [0, 0, "entered", ""],
        [1, 1, "again", ""],
        [2, 2, "cached", ""],
    ]


def test_tool_schemas_come_first():
    table = spans((0, 1, 10, 0.0, ""), (0, 1, 5, 1.0, ""))
    found = prefix_spans(table, requests(0, 110, schemas=100))
    assert found.loc[found["first_request"] == 1, "sent"].tolist() == ["cached", "again"]


def test_spans_end_with_the_last_request():
    table = spans((0, 2, 10, 0.0, ""), (2, 2, 5, 1.0, ""))
    assert pieces(prefix_spans(table, requests(0, 10))) == [
        [0, 0, "entered", ""],
        [1, 1, "cached", ""],
    ]


def test_the_end_stands_on_the_last_piece():
    table = spans(
        (0, 2, 10, 0.0, "fold"),
    )
    assert pieces(prefix_spans(table, requests(0, 10, 10, 10))) == [
        [0, 0, "entered", ""],
        [1, 2, "cached", "fold"],
    ]


def test_nothing():
    empty = spans((0, 0, 1, 0.0, "")).iloc[:0]
    assert prefix_spans(empty, requests()).empty


@pytest.mark.parametrize("seed", range(20))
def test_every_cell_equals_a_recount(seed):
    rng = np.random.default_rng(seed)
    n = 12
    rows = []
    for order in range(15):
        first = int(rng.integers(0, n))
        rows.append(
            (first, int(rng.integers(first, n)), int(rng.integers(1, 9)), float(order), "")
        )
    table = spans(*rows)
    prefix = rng.integers(0, 60, n)
    prefix[0] = 0
    found = prefix_spans(table.assign(row=range(15)), requests(*prefix))
    drawn = {
        (row, request): sent
        for row, first, last, sent in found[["row", "first_request", "last_request", "sent"]]
        .to_numpy()
        .tolist()
        for request in range(first, last + 1)
    }
    wanted = {}
    for request in range(n):
        total = 0
        for row, (first, last, tokens, *_) in enumerate(rows):
            if first <= request <= last:
                total += tokens
                inside = total <= prefix[request]
                kept = "cached" if inside else "again"
                wanted[row, request] = "entered" if request == first else kept
    assert drawn == wanted
