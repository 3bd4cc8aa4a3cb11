import re

from chatmem_lab.html.blocks import Block
from chatmem_lab.html.frame import place_marks, state_signs, token_axis


def test_close_gaps_are_told_as_one():
    edges = [0.0, 5.0, 10.0, 860.0, 868.0]
    words = re.findall(r">([\d,]+) gone<", place_marks(edges, {1: 3, 2: 4, 3: 90}, {}))
    assert words == ["7", "90"]


def test_gaps_at_the_right_edge_do_not_overlap():
    edges = [0.0, 790.0, 860.0]
    assert re.findall(r">([\d,]+) gone<", place_marks(edges, {1: 3, 2: 4}, {})) == ["7"]


def test_signs_of_two_kinds_that_meet_stand_in_two_rows():
    slots = [Block("tool result", 1, "cleared"), Block("tool result", 1, "clamped")]
    _, far = state_signs(slots, [0.0, 400.0, 800.0], 82)
    _, near = state_signs(slots, [0.0, 10.0, 20.0], 82)
    assert near == far + 14


def test_the_unit_is_written_once():
    for limit in (1, 7, 999, 3_733, 4_000, 80_000, 812_345):
        axis, _ = token_axis(limit, 82, "tokens")
        assert axis.count("tokens") == 1, limit
