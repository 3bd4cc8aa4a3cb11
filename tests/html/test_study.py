import pandas as pd
import pytest

from chatmem_lab.html.study import study_html


def row(policy, tokens, **more):
    base = {
        "policy": policy,
        "conversations": 8,
        "requests": 120,
        "input_tokens": tokens,
        "input_tokens_low": tokens * 0.9,
        "input_tokens_high": tokens * 1.2,
        "peak_tokens": 4_000.0,
        "peak_tokens_low": 3_500.0,
        "peak_tokens_high": 4_100.0,
        "prefix_share": 0.64,
        "prefix_share_low": 0.6,
        "prefix_share_high": 0.7,
        "evicted_messages": 3.44,
        "evicted_messages_low": 2.0,
        "evicted_messages_high": 5.0,
        "over_budget": 0.0,
        "over_budget_low": 0.0,
        "over_budget_high": 0.0,
        "retention": None,
        "retention_low": None,
        "retention_high": None,
    }
    return base | more


def test_a_row_per_policy_with_its_figures(read):
    page = read(study_html([row("KeepAll()", 52_000.0), row("TurnWindow(4)", 26_000.0)]))
    # The rows of the picture, then those of the figures with their intervals.
    assert page.rows()[0].startswith("KeepAll()")
    for words in ("52.0k", "4.0k", "64 %", "3.4", "0 %"):
        assert words in page.rows()[0]
    for words in ("2 policies", "8 conversations", "120 requests", "Open loop"):
        assert words in page.text


def bars(pictures, html, name):
    return [p for p in pictures(html) if p.find("title").text.startswith(name)]


def test_bars_begin_at_0_and_whiskers_stand_at_the_interval(pictures):
    html = study_html([row("a", 50_000.0), row("b", 25_000.0)])
    wide, narrow = bars(pictures, html, "input tokens")
    # The scale ends at the largest upper end, 60,000, after 54 px.
    assert float(wide.find("rect").get("width")) == pytest.approx(54 * 50 / 60, abs=0.06)
    assert float(narrow.find("rect").get("width")) == pytest.approx(54 * 25 / 60, abs=0.06)
    assert wide.find("path").get("d").startswith("M40.5 9H54")
    assert wide.find("title").text == ("input tokens per conversation: 50.0k, 95 % 45.0k to 60.0k")


def test_shares_are_dots_on_a_scale_that_is_written(read, pictures):
    html = study_html([row("a", 1.0), row("b", 1.0, prefix_share=1.0, prefix_share_low=0.98)])
    one, all_of_it = bars(pictures, html, "in the prefix")
    assert one.find("rect") is None
    assert one.find("circle") is not None
    assert float(all_of_it.find("circle").get("cx")) == 44.0
    assert "in the prefix60–100 %" in read(html).text


def test_a_figure_that_no_policy_has_is_left_out_and_na_is_a_dash(read):
    page = read(study_html([row("a", 1.0)]))
    assert "retention" not in page.text
    page = read(study_html([row("a", 1.0), row("Summarize()", 1.0, retention=0.5)]))
    assert "retention" in page.text
    assert page.rows()[0].endswith("–")


def test_intervals_are_not_only_in_hover_texts(read):
    page = read(study_html([row("a", 50_000.0)]))
    assert "50.0k (45.0k – 60.0k)" in page.rows()[-1]


def test_one_conversation_has_no_interval(read, pictures):
    html = study_html([row("a", 50_000.0, conversations=1)])
    assert "One conversation: there is no interval" in read(html).text
    assert all(p.find("path") is None for p in pictures(html))
    assert "95 %" not in html


def test_many_policies_are_folded_and_the_rest_is_said(read):
    html = study_html([row(f"TokenWindow({i})", 1_000.0 + i) for i in range(90)])
    page = read(html)
    assert "48 more policies" in page.text
    assert "Left out: 30 policies, see .summary" in page.text
    assert "TokenWindow(59)" in page.text
    assert "TokenWindow(60)" not in page.text
    assert len(html.encode()) < 150_000


def test_a_summary_table_is_read_as_it_is(read):
    table = pd.DataFrame([row("KeepAll()", 52_000.0), row("<b>", 26_000.0)]).set_index("policy")
    table = table.astype({"retention": "Float64", "prefix_share": "Float64"})
    page = read(study_html(table.reset_index().to_dict("records")))
    assert page.rows()[1].startswith("<b>")


def test_hostile_text_stays_text(read):
    evil = "</code><script>alert(1)</script>"
    read(study_html([row(evil, 1.0)], title=evil, model=evil, count_kind=evil))


def test_nothing_to_compare_is_said(read):
    assert "No policies" in read(study_html([])).text
