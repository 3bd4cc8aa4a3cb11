from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from chatmem_lab.charts import spans
from chatmem_lab.charts.style import new_axes, theme


def test_lanes_never_overlap_and_are_as_few_as_can_be():
    made = pd.DataFrame({"first_request": [0, 2, 4, 3], "last_request": [3, 5, 9, 3]})
    placed, lanes = spans.lanes_of(made, 8)
    assert lanes == 3  # request 3 shows three of them
    for a, b in combinations(placed.to_dict("records"), 2):
        if a["lane"] == b["lane"]:
            assert a["last_request"] < b["first_request"] or b["last_request"] < a["first_request"]


def test_no_lanes():
    assert spans.lanes_of(pd.DataFrame({"first_request": [], "last_request": []}), 8)[1] == 0


@pytest.mark.parametrize("dark", [False, True])
def test_every_shade_is_its_own(dark):
    colours = theme(dark)
    shades = [spans.shade(k, s, colours) for k in colours.fill for s in (True, False)]
    assert len(set(shades)) == len(shades)


def test_bins_count_what_is_there():
    # Two messages a bin; message 0 in requests 0-3, message 1 in 0-1: whole, then half.
    frame = pd.DataFrame(
        {"position": [0, 1, 3], "first_request": [0, 0, 1], "last_request": [3, 1, 1],
         "sent": "cached"}
    )  # fmt: skip
    ax = new_axes(3)
    spans.add_bins(ax, frame, 4, 2, theme())
    drawn = {
        c.get_label(): [
            (*p.vertices[:, 0][[0, 1]].tolist(), *p.vertices[:, 1][[0, 2]].tolist())
            for p in c.get_paths()
        ]
        for c in ax.collections
    }
    assert drawn == {
        "in the cached prefix": [(-0.5, 1.5, -0.5, 1.5)],
        "_2 of 4": [(1.5, 3.5, -0.5, 1.5), (0.5, 1.5, 1.5, 3.5)],
    }


def test_runs():
    first, last, row = spans._runs(np.array([[1, 1, 0, 1], [0, 0, 0, 0]], bool))
    assert (first.tolist(), last.tolist(), row.tolist()) == ([0, 3], [1, 3], [0, 0])
