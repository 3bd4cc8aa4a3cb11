from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection, PolyCollection

from chatmem_lab.charts import plot_window_map
from chatmem_lab.charts.style import theme
from chatmem_lab.metrics.prefix import prefix_spans


def rects_of(ax):
    """Every rectangle as (left, right, top, bottom), rounded."""
    found = []
    for collection in ax.collections:
        if isinstance(collection, PolyCollection):
            for path in collection.get_paths():
                x, y = path.vertices[:, 0], path.vertices[:, 1]
                found.append(
                    tuple(round(float(v), 3) for v in (*np.sort(x)[[0, -1]], *np.sort(y)[[0, -1]]))
                )
    return found


def marks_of(ax):
    return {
        c.get_label(): np.asarray(c.get_offsets()).tolist()
        for c in ax.collections
        if isinstance(c, PathCollection)
    }


def names_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def row(position, kind, first, last, *, slot=0, state="kept", end="", tokens=10, order=None):
    return {
        "conversation": "c", "slot": slot, "position": position, "kind": kind, "state": state,
        "first_request": first, "last_request": last, "tokens": tokens,
        "order": float(position if order is None else order), "end": end,
    }  # fmt: skip


def table(*rows):
    frame = pd.DataFrame(list(rows))
    frame["position"] = frame["position"].astype("Int64")
    frame["slot"] = range(len(frame))
    return frame


def test_a_rectangle_per_span_and_never_per_cell(make_run):
    run = make_run(400, budget=24_000, low=16_000)
    ax = plot_window_map(run)
    pieces = prefix_spans(run.map, run.requests)
    assert len(rects_of(ax)) == len(pieces) < run.requests["messages"].sum() / 5
    drawn = sorted((left, right) for left, right, _, _ in rects_of(ax))
    wanted = sorted(zip(pieces["first_request"] - 0.5, pieces["last_request"] + 0.5, strict=True))
    assert drawn == wanted


def test_rows_are_where_their_message_is():
    ax = plot_window_map(
        table(
            row(0, "system", 0, 3),
            row(1, "user", 0, 1, end="evict"),
            row(2, "tool call", 1, 3),
        )
    )
    assert sorted(rects_of(ax)) == [
        # the first request that shows it stands apart from those that keep it
        (-0.5, 0.5, -0.42, 0.42),
        (-0.5, 0.5, 0.58, 1.42),
        (0.5, 1.5, 0.58, 1.42),
        (0.5, 1.5, 1.58, 2.42),
        (0.5, 3.5, -0.42, 0.42),
        (1.5, 3.5, 1.58, 2.42),
    ]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


def test_cleared_is_a_thin_line_and_clamped_the_lower_half():
    ax = plot_window_map(
        table(
            row(0, "tool result", 0, 1, end="clear"),
            row(0, "tool result", 2, 4, state="cleared"),
            row(1, "tool result", 0, 1, end="clamp"),
            row(1, "tool result", 2, 4, state="clamped"),
        )
    )
    late = [(top, bottom) for left, _, top, bottom in rects_of(ax) if left > 1]
    assert {(-0.1, 0.1), (1.0, 1.42)} == set(late)
    assert {"1 cleared", "1 clamped"} <= set(names_of(ax))


def test_ends_and_returns_are_marked():
    ax = plot_window_map(
        table(
            row(0, "system", 0, 9),
            row(1, "user", 0, 2, end="evict"),
            row(2, "assistant", 0, 4, end="fold"),
            row(1, "user", 6, 9),
            row(3, "user", 0, 9, end="evict"),  # after the last request: not in the picture
        )
    )
    lines = [c for c in ax.collections if isinstance(c, LineCollection)]
    (segment,) = [segment for c in lines for segment in c.get_segments()]
    assert segment == pytest.approx(np.array([[2.5, 0.58], [2.5, 1.42]]))
    assert marks_of(ax)["folded"] == [[4.5, 2.0]]
    assert marks_of(ax)["returned"] == [[5.5, 1.0]]
    assert {"1 evicted", "1 folded", "1 returned"} <= set(names_of(ax))


def test_made_messages_have_lanes_above_the_first_message():
    ax = plot_window_map(
        table(
            row(0, "system", 0, 9),
            row(None, "made", 1, 4, state="made", end="fold", order=0.5),
            row(None, "made", 3, 9, state="made", order=0.6),
        )
    )
    made = sorted(r for r in rects_of(ax) if r[3] < -0.5)
    assert sorted({(top, bottom) for _, _, top, bottom in made}) == sorted(
        {(top, bottom) for _, _, top, bottom in made[:1]}
        | {(top, bottom) for left, _, top, bottom in made if left >= 2.5}
    )
    lanes = {top for _, _, top, _ in made}
    assert len(lanes) == 2  # they overlap at requests 3 and 4
    assert "made" in names_of(ax)
    assert "made" in [text.get_text() for text in ax.texts]
    hatched = [c for c in ax.collections if c.get_hatch() == "////"]
    assert hatched


def test_more_than_eight_lanes_fall_into_one():
    rows = [row(None, "made", i, 20, state="made", order=0.5) for i in range(9)]
    ax = plot_window_map(table(row(0, "system", 0, 20), *rows))
    assert len({top for _, _, top, bottom in rects_of(ax) if bottom < -0.5}) == 1


def test_strong_is_paid_and_pale_is_cached(make_run):
    run = make_run(60)
    ax = plot_window_map(run)
    pieces = prefix_spans(run.map, run.requests)
    colours = theme()
    strong = next(c for c in ax.collections if c.get_label() == "user")
    pale = next(c for c in ax.collections if c.get_label() == "_user, cached")
    user = pieces[pieces["kind"] == "user"]
    assert len(strong.get_paths()) == (user["sent"] != "cached").sum()
    assert len(pale.get_paths()) == (user["sent"] == "cached").sum()
    import matplotlib.colors as mc

    assert mc.to_hex(strong.get_facecolor()[0]) == colours.fill["user"]
    assert mc.to_hex(pale.get_facecolor()[0]) != colours.fill["user"]


def test_broken_prefixes_are_marked_and_counted(make_run):
    run = make_run(60, schemas=50)
    pieces = prefix_spans(run.map, run.requests)
    again = pieces[pieces["sent"] == "again"]
    broken = {
        r
        for first, last in zip(again["first_request"], again["last_request"], strict=True)
        for r in range(first, last + 1)
    }
    ax = plot_window_map(run)
    assert [x for x, _ in marks_of(ax)["prefix broken"]] == sorted(broken)
    assert f"prefix broken, {len(broken)} times" in names_of(ax)


def test_without_requests_the_first_request_is_strong_and_nothing_is_broken(make_run):
    ax = plot_window_map(make_run(60).map)
    assert "prefix broken" not in marks_of(ax)


def test_rows_below_a_pixel_become_bins(make_run):
    run = make_run(3_000, budget=24_000, low=16_000)
    ax = plot_window_map(run)
    rects = rects_of(ax)
    assert len(rects) < 2 * len(run.map)
    heights = {round(bottom - top) for _, _, top, bottom in rects}
    assert heights == {6}  # 3,000 messages in 520 pixels
    assert any("a row's 6 messages" in name for name in names_of(ax))
    # The system message and five that left: a sixth of the first bin to the end.
    first = [r for r in rects if r[2] == -0.5]
    assert max(right for _, right, _, _ in first) == len(run.requests) - 0.5


def test_what_no_request_shows_is_not_drawn(make_run):
    run = make_run(60)
    requests = len(run.requests)
    extra = run.map.iloc[[-1]].assign(
        position=60, first_request=requests, last_request=requests, slot=999
    )
    kept = run.map["end"] == ""
    run.map.loc[kept, "last_request"] = requests  # as a replay writes what is still there
    run.map = pd.concat([run.map, extra], ignore_index=True)
    ax = plot_window_map(run)
    assert max(right for _, right, _, _ in rects_of(ax)) == requests - 0.5
    assert ax.get_xlim() == (-0.5, requests - 0.5)


def test_words(make_run):
    ax = plot_window_map(make_run(30))
    assert ax.get_title(loc="left") == "Window map: messages by request"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("request", "message")
    assert ax.texts[-1].get_text() == "airline-3 · TokenWindow(4_000)"


def test_empty(make_run):
    run = make_run(30)
    run.map, run.requests = run.map.iloc[:0], run.requests.iloc[:0]
    ax = plot_window_map(run)
    assert ax.texts[0].get_text() == "nothing to map: no request shows a message"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("messages", [3, 60, 400, 2_000])
def test_draws_at_every_size_without_a_warning(make_run, messages, dark):
    run = make_run(messages, budget=4_000, fold=True, clear=True)
    ax = plot_window_map(run, dark=dark)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x1 <= ax.figure.bbox.x1
