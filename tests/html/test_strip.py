import random

import pytest

from chatmem_lab.html.blocks import Block
from chatmem_lab.html.strip import strip_svg, strip_uid

WIDTH = 868
TEXTS = [
    "plain words",
    '{"a": "quoted"}' * 40,
    "中文内容" * 200,
    "😀👩‍👩‍👧" * 100,
    "<b>&amp;</b>" * 90,
]


def many(n, seed=0, states=("kept",), texts=TEXTS):
    draw = random.Random(seed)
    kinds = ["system", "user", "assistant", "tool call", "tool result"]
    return [
        {
            "kind": draw.choice(kinds),
            "tokens": int(draw.lognormvariate(4, 1.5)) + 1,
            "position": i,
            "state": draw.choice(states),
            "pinned": draw.random() < 0.02,
            "text": draw.choice(texts),
        }
        for i in range(n)
    ]


def drawn(picture):
    """Every block as (x, width, kind by class), bins included."""
    found = []
    for element in picture.iter():
        classes = (element.get("class") or "").split()
        kinds = [c[2:] for c in classes if c[:2] in ("f-", "e-")]
        if element.tag == "rect" and element.get("height") == "40":
            found.append((float(element.get("x")), float(element.get("width")), kinds))
    return found


def test_each_block_is_as_wide_as_its_tokens(pictures):
    tokens = [100, 250, 50, 400]
    blocks = [{"kind": "user", "tokens": t, "position": i} for i, t in enumerate(tokens)]
    found = drawn(pictures(strip_svg(blocks, budget=1_000))[0])
    x = 0.0
    for (left, width, _), t in zip(found, tokens, strict=True):
        # A block is drawn one pixel narrower than it is, half of it on either side.
        assert left == pytest.approx(x + 0.5, abs=0.11)
        assert width == pytest.approx(t / 1_000 * WIDTH - 1, abs=0.11)
        x += t / 1_000 * WIDTH


@pytest.mark.parametrize("n", [40, 300, 5_000])
def test_widths_add_up_to_the_tokens_in_bins_too(pictures, n):
    blocks = many(n)
    picture = pictures(strip_svg(blocks))[0]
    area = 0.0
    pieces = 0
    for element in picture.iter("rect"):
        classes = element.get("class") or ""
        if "f-ink" in classes or element.get("y") is None:
            continue
        area += float(element.get("width")) * float(element.get("height"))
        pieces += 1
    assert pieces <= 300
    # Without a budget the strip is full; what is missing is the pixel between neighbours.
    assert 0.6 * WIDTH * 40 < area <= WIDTH * 40


@pytest.mark.parametrize("n", [8, 300, 5_000])
def test_a_kind_has_the_area_of_its_tokens(pictures, n):
    blocks = [
        {"kind": "user" if i % 4 else "tool call", "tokens": 10, "position": i} for i in range(n)
    ]
    areas = {"user": 0.0, "call": 0.0}
    for element in pictures(strip_svg(blocks))[0].iter("rect"):
        for kind in areas:
            if f"f-{kind}" in (element.get("class") or ""):
                areas[kind] += float(element.get("width")) * float(element.get("height"))
    assert areas["user"] / areas["call"] == pytest.approx(3, rel=0.1)


def test_the_parts_of_a_bin_fill_its_height(pictures):
    blocks = [{"kind": k, "tokens": 1} for k in ("user", "tool result", "user", "assistant")]
    blocks.append({"kind": "system", "tokens": 2_000})
    groups = list(pictures(strip_svg(blocks))[0].iter("g"))
    assert len(groups) == 1
    heights = [float(e.get("height")) for e in groups[0].iter("rect")]
    assert heights == [20.0, 10.0, 10.0]
    assert groups[0].find("title").text == (
        "4 slots · 4 tokens: user 2, assistant 1, tool result 1"
    )


@pytest.mark.parametrize("states", [("kept",), ("kept", "cleared", "clamped")])
@pytest.mark.parametrize("n", [0, 1, 12, 300, 2_000, 5_000])
@pytest.mark.parametrize("text", [*TEXTS, "mixed"])
def test_no_strip_is_larger_than_60_kb(n, states, text):
    blocks = many(n, 7, states, TEXTS if text == "mixed" else [text])
    assert len(strip_svg(blocks, budget=1_000_000).encode()) <= 60_000


def test_gaps_between_all_messages_stay_within_the_bounds(pictures):
    blocks = [
        {"kind": ("user", "assistant", "tool call")[i % 3], "tokens": 10, "position": i * 3}
        for i in range(2_000)
    ]
    html = strip_svg(blocks)
    assert len(html.encode()) <= 60_000
    assert len(list(pictures(html)[0].iter("rect"))) <= 300
    assert "3,998 messages gone" in pictures(html)[0].find("desc").text


def test_hostile_text_stays_text(read, pictures):
    evil = '</title></svg><script>alert(1)</script><img src=x onerror="alert(1)">\x00'
    html = strip_svg(
        [{"kind": evil, "tokens": 50, "text": evil, "position": 0}], title=evil, unit=evil
    )
    page = read(html)
    assert "alert" in page.text
    assert set(page.tags) == {"div", "svg", "title", "desc", "rect", "line", "text"}
    assert pictures(html)


def test_hover_says_what_a_block_is(pictures):
    blocks = [
        {
            "kind": "tool result",
            "tokens": 1_252,
            "position": 7,
            "state": "clamped",
            "pinned": True,
            "text": "line one\n  line two",
        }
    ]
    titles = [t.text for t in pictures(strip_svg(blocks))[0].iter("title")]
    assert titles[1] == ("#7 · tool result · 1,252 tokens · clamped · pinned\nline one line two")


def test_the_picture_is_told_in_words(pictures):
    blocks = [
        {"kind": "system", "tokens": 100, "position": 0, "pinned": True},
        {"kind": "user", "tokens": 30, "position": 4},
        {"kind": "tool result", "tokens": 20, "position": 5, "state": "cleared"},
    ]
    picture = pictures(strip_svg(blocks, budget=200, title="Window at request 3"))[0]
    assert picture.find("title").text == "Window at request 3"
    assert picture.find("desc").text == (
        "3 slots, 150 of 200 tokens; system 100, user 30, tool result 20; "
        "100 tokens pinned; 1 message cleared; 3 messages gone."
    )
    named = picture.get("aria-labelledby").split()
    assert named == [picture.find("title").get("id"), picture.find("desc").get("id")]


def texts_of(picture):
    return [element.text for element in picture.iter("text")]


def test_budget_room_and_scale_are_written(pictures):
    picture = pictures(strip_svg([{"kind": "user", "tokens": 1_800}], budget=4_000))[0]
    words = texts_of(picture)
    assert "budget 4,000" in words
    assert "room for 2.2k" in words
    assert "4k tokens" in words


def test_over_budget_is_written_and_the_line_lies_inside(pictures):
    picture = pictures(strip_svg([{"kind": "user", "tokens": 5_000}], budget=4_000))[0]
    assert "budget 4,000, over by 1,000" in texts_of(picture)
    lines = [e for e in picture.iter("line") if e.get("stroke-width") == "1.5"]
    assert float(lines[0].get("x1")) == pytest.approx(0.8 * WIDTH, abs=0.11)


def test_a_small_window_has_its_own_scale(pictures):
    picture = pictures(strip_svg([{"kind": "user", "tokens": 1_000}], budget=80_000))[0]
    assert drawn(picture)[0][1] == pytest.approx(WIDTH / 2 - 1, abs=0.2)
    assert "budget 80,000, beyond this scale" in texts_of(picture)


def test_schemas_come_first_and_overhead_last(pictures):
    picture = pictures(
        strip_svg(
            [{"kind": "user", "tokens": 100, "position": 3}],
            tool_schema_tokens=200,
            overhead_tokens=100,
        )
    )[0]
    kinds = [kinds[0] for _, _, kinds in drawn(picture)]
    assert kinds == ["plain", "user", "plain"]
    assert "3 gone" in texts_of(picture)
    assert picture.find("desc").text.startswith("1 slot, 400 tokens")


def test_pinned_neighbours_share_one_bar(pictures):
    blocks = [
        {"kind": "user", "tokens": 100, "pinned": pinned} for pinned in (True, True, False, True)
    ]
    bars = [
        float(e.get("width"))
        for e in pictures(strip_svg(blocks))[0].iter("rect")
        if e.get("class") == "f-ink"
    ]
    assert bars == [pytest.approx(WIDTH / 2 - 1, abs=0.1), pytest.approx(WIDTH / 4 - 1, abs=0.1)]


def test_signs_below_for_what_is_not_as_recorded(pictures):
    blocks = [
        {"kind": "tool result", "tokens": 100, "state": "cleared"},
        {"kind": "made", "tokens": 100, "state": "made"},
        {"kind": "tool result", "tokens": 100, "state": "clamped"},
    ]
    picture = pictures(strip_svg(blocks))[0]
    assert len(list(picture.iter("circle"))) == 1
    assert len([e for e in picture.iter("path") if "l4 4l-4 4" in e.get("d")]) == 1
    assert len([e for e in picture.iter("path") if "l2.5-6" in e.get("d")]) == 1
    assert len(list(picture.iter("polygon"))) == 1


def test_signs_that_merge_say_how_many(pictures):
    blocks = [{"kind": "tool result", "tokens": 1, "state": "cleared"}] * 40
    picture = pictures(strip_svg([{"kind": "system", "tokens": 9_000}, *blocks]))[0]
    assert len(list(picture.iter("circle"))) == 1
    assert "40" in texts_of(picture)


def test_labels_stand_only_where_they_fit(pictures):
    blocks = [{"kind": "user", "tokens": 20}, {"kind": "assistant", "tokens": 980}]
    words = texts_of(pictures(strip_svg(blocks))[0])
    assert "assistant" in words
    assert "980" in words
    assert "user" not in words


def test_turns_are_named(pictures):
    blocks = [
        {"kind": "user", "tokens": 100, "position": 40, "turn": 7},
        {"kind": "assistant", "tokens": 100, "position": 41},
        {"kind": "user", "tokens": 100, "position": 42},
    ]
    words = texts_of(pictures(strip_svg(blocks))[0])
    assert "turn 8" in words
    assert "40 gone" in words


def test_the_same_window_gives_the_same_html():
    assert strip_svg(many(50)) == strip_svg(many(50))
    assert strip_uid(many(50)) != strip_uid(many(51))


def test_an_empty_window_says_so(pictures):
    assert "no messages" in texts_of(pictures(strip_svg([]))[0])


def test_ids_are_those_that_are_used(pictures):
    made = [Block("made", 100, "made"), Block("developer", 100, position=0)]
    html = strip_svg(made, uid="mine")
    for name in ("mine-made", "mine-developer"):
        assert f'id="{name}"' in html
        assert f"url(#{name})" in html


def test_colours_are_attributes_too(pictures):
    fills = [
        e.get("fill")
        for e in pictures(strip_svg([{"kind": "assistant", "tokens": 9}]))[0].iter("rect")
    ]
    assert fills == ["#efb043"]


@pytest.mark.parametrize("text", TEXTS)
def test_hover_texts_share_the_room_that_is_left(pictures, text):
    blocks = [
        {"kind": "user", "tokens": 10, "position": i * 2, "text": text, "state": "clamped"}
        for i in range(285)
    ]
    html = strip_svg(blocks, budget=2_851)
    assert len(html.encode()) <= 60_000
    titles = [title.text for title in pictures(html)[0].iter("title")]
    assert sum(title.startswith("#") for title in titles) == 285
