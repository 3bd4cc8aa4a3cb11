import re

from chatmem_lab.html.window import window_html


def slots(n, **more):
    return [
        {"kind": "user", "tokens": 10 + i, "position": i, "text": f"text {i}", **more}
        for i in range(n)
    ]


def test_title_recipe_and_figures(read):
    page = read(
        window_html(
            slots(8), budget=200, request=3, policy="TokenWindow(200)", absent_messages=4,
            prefix_tokens=57, overhead_tokens=3,
        )
    )  # fmt: skip
    # 10 + 11 + … + 17 = 108, and 3.
    assert "Window at request 3 TokenWindow(200)" in page.text
    for words in ("111 tokens, exact", "56 % of the budget", "8 messages", "4 absent"):
        assert words in page.text
    assert "57 in the prefix" in page.text


def test_counts_that_are_not_exact_say_so(read):
    assert "≥ 10 tokens" in read(window_html(slots(1), count_kind="lower_bound")).text
    assert "exact" not in read(window_html(slots(1), count_kind="lower_bound")).text


def test_up_to_12_slots_are_all_in_the_table(read):
    rows = read(window_html(slots(12))).rows()
    assert [re.search(r"text \d+", row)[0] for row in rows] == [f"text {i}" for i in range(12)]


def test_above_12_the_5_largest_are_and_it_says_so(read):
    page = read(window_html(slots(20)))
    assert [re.search(r"text \d+", row)[0] for row in page.rows()] == [
        f"text {i}" for i in (19, 18, 17, 16, 15)
    ]
    # 29 + 28 + 27 + 26 + 25 = 135 of 10 + … + 29 = 390.
    assert "the 5 largest of 20 slots, 35 % of their tokens" in page.text


def test_the_legend_carries_totals_and_signs(read):
    values = [
        {"kind": "system", "tokens": 1_250, "pinned": True},
        {"kind": "tool result", "tokens": 5, "state": "cleared"},
        {"kind": "made", "tokens": 60, "state": "made", "covers": 9},
    ]
    page = read(window_html(values, absent_messages=9, tool_schema_tokens=70))
    legend = page.text[: page.text.index("slots#")]
    for words in ("system 1.2k", "tool result 5", "made 60", "tool schemas 70", "pinned"):
        assert words in legend
    assert "cleared 1" in legend
    assert "9 absent, folded into 1 summary" in legend


def test_hostile_text_stays_text(read):
    evil = '"><script>alert(1)</script>'
    html = window_html(
        [{"kind": "user", "tokens": 900, "text": evil, "position": 0}], policy=evil, title=evil
    )
    assert read(html).text.count("<script>alert(1)</script>") >= 4


def test_a_message_of_megabytes_costs_nothing(read):
    html = window_html([{"kind": "user", "tokens": 9, "text": "x " * 3_000_000}])
    assert len(html) < 20_000


def test_bins_are_explained_only_where_there_are_some(read):
    few = [{"kind": "user", "tokens": 50} for _ in range(5)]
    assert "share a bin" not in read(window_html(few)).text
    assert "share a bin" in read(window_html(few * 200)).text


def test_an_empty_window_is_drawn(read):
    page = read(window_html([], budget=1_000, request=0))
    assert "0 messages" in page.text
    assert page.rows() == []


def test_cut_ids_are_unique(read):
    page = read(window_html(slots(30), budget=2_000))
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for _, name, value in page.attributes:
        if name == "aria-labelledby":
            assert set(value.split()) <= set(ids)
