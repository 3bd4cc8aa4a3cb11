import re

import pytest

from chatmem_lab.html.replay import replay_html


def columns(n, budget=4_000):
    """A window that grows by 400 tokens a request and loses 1,200 when it is full."""
    sizes, left = [], []
    size = 1_000
    for _ in range(n):
        size += 400
        gone = 1_200 if size > (budget or 10**9) else 0
        size -= gone
        sizes.append(size)
        left.append(gone)
    return {
        "system_tokens": [600] * n,
        "user_tokens": [size - 900 for size in sizes],
        "assistant_tokens": [300] * n,
        "tool_call_tokens": [100] * n,
        "input_tokens": sizes,
        "evicted_tokens": left,
        "evicted_messages": [3 * bool(gone) for gone in left],
        "prefix_tokens": [0 if gone else size - 400 for size, gone in zip(sizes, left)],
        "budget": [budget] * n,
        "over_budget": [False] * n,
    }


def paths(picture, kind):
    return [e.get("d") for e in picture.iter("path") if f"f-{kind}" in (e.get("class") or "")]


def bars(path):
    return [
        tuple(map(float, found))
        for found in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h", path)
    ]


def test_title_figures_and_open_loop(read):
    data = columns(10)
    page = read(replay_html("support-1", data, policy="TokenWindow(4_000)", model="gpt-5"))
    # 1,400 1,800 … 3,800, then 4,200 − 1,200 = 3,000, 3,400, 3,800.
    assert data["input_tokens"] == [1400, 1800, 2200, 2600, 3000, 3400, 3800, 3000, 3400, 3800]
    assert "Replay of support-1 TokenWindow(4_000) gpt-5" in page.text
    for words in (
        "10 requests", "28.4k input tokens", "3.8k at the peak", "1.2k evicted, 3 messages",
        "Open loop",
    ):  # fmt: skip
        assert words in page.text
    # 28,400 − 10 · 400 − 2,600 of the request that lost its prefix.
    assert "77 % in the prefix" in page.text


def test_bars_stand_on_each_other_and_are_as_high_as_their_tokens(pictures):
    picture = pictures(replay_html("a", columns(10)))[0]
    system, user = (bars(paths(picture, kind)[0]) for kind in ("system", "user"))
    assert len(system) == len(user) == 10
    tokens = columns(10)["user_tokens"]
    for (x, top, width, height), (ux, utop, uwidth, uheight), t in zip(system, user, tokens):
        assert (x, width) == (ux, uwidth)
        assert top + height == pytest.approx(176, abs=0.02)
        assert utop + uheight == pytest.approx(top, abs=0.02)
        assert uheight / height == pytest.approx(t / 600, rel=0.001)


def test_what_left_hangs_below(pictures):
    picture = pictures(replay_html("a", columns(30)))[0]
    ink = [d for d in paths(picture, "ink") if "l4 4" not in d]
    assert ink[0].count("M") == sum(bool(gone) for gone in columns(30)["evicted_tokens"])
    assert "−1.2k" in [e.text for e in picture.iter("text")]


@pytest.mark.parametrize(("n", "hovers"), [(1, 1), (30, 30), (120, 120), (121, 61), (3_000, 108)])
def test_every_request_is_under_a_hover_text(pictures, n, hovers):
    picture = pictures(replay_html("a", columns(n)))[0]
    found = [e for e in picture.iter("rect") if e.get("fill") == "transparent"]
    assert len(found) == hovers
    assert sum(float(e.get("width")) for e in found) == pytest.approx(820, abs=0.06 * hovers)


def test_areas_take_the_place_of_bars_above_120(pictures):
    (few,) = paths(pictures(replay_html("a", columns(120)))[0], "system")
    (many,) = paths(pictures(replay_html("a", columns(121)))[0], "system")
    assert few.count("M") == 120
    assert many.count("M") == 1


def test_the_peak_survives_the_bins(read, pictures):
    data = columns(3_000, None)
    data["user_tokens"][1_234] += 50_000_000
    html = replay_html("a", data)
    (area,) = paths(pictures(html)[0], "user")
    tops = [float(v) for v in re.findall(r"V([\d.]+)", area)]
    assert min(tops) < 60
    assert "Each step stands for 4 requests" in read(html).text
    assert len(html.encode()) < 120_000


def test_the_worst_case_is_bounded():
    data = columns(20_000)
    data["evicted_tokens"] = list(range(20_000))
    data["made_tokens"] = [i % 37 for i in range(20_000)]
    events = {kind: range(20_000) for kind in ("fold", "clear", "clamp")}
    assert len(replay_html("a", data, events=events).encode()) < 250_000


def test_budget_beyond_the_scale_is_said(pictures):
    picture = pictures(replay_html("a", columns(3, 80_000)))[0]
    assert "budget 80,000, above this scale" in [e.text for e in picture.iter("text")]


def test_events_have_their_rows_of_signs(read, pictures):
    html = replay_html("a", columns(30), events={"fold": [7, 11, 12], "clear": [20], "evict": [1]})
    words = [e.text for e in pictures(html)[0].iter("text")]
    assert "folded" in words
    assert "cleared" in words
    assert "folded 3" in read(html).text
    assert "tokens evicted or folded before the request" in words


def test_the_largest_evictions_are_in_a_table(read):
    page = read(replay_html("a", columns(30)))
    rows = page.rows()
    assert len(rows) == 5
    assert rows[0].startswith("73,0001,2003")
    assert "the 5 requests of 30 before which most was evicted" in page.text


def test_the_words_have_the_numbers(pictures):
    picture = pictures(replay_html("a", columns(10)))[0]
    assert picture.find("desc").text == (
        "10 requests, 28,400 input tokens; peak 3,800 tokens at request 6; "
        "1,200 tokens evicted; 77 % of the input in the prefix; budget 4,000."
    )


def test_requests_over_budget_are_counted(read):
    data = columns(10) | {"over_budget": [False] * 8 + [True] * 2}
    assert "2 over budget" in read(replay_html("a", data)).text


def test_hostile_text_stays_text(read):
    evil = "</code><script>alert(1)</script>"
    read(replay_html(evil, columns(3), policy=evil, model=evil, count_kind=evil))


def test_no_requests_are_said(read):
    page = read(replay_html("a", {name: [] for name in columns(1)}))
    assert "No requests" in page.text


def test_tokens_of_zero_are_drawn(read):
    read(replay_html("a", {"user_tokens": [0, 0], "evicted_tokens": [0, 0]}))
