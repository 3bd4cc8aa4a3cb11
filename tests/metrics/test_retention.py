import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmem_lab.metrics.retention import Retention, retention_of
from chatmem_lab.needs import DETECTORS, Detector, find_items

SOURCE = "Fixed src/app.py in v2.3.1, start went from 412 ms to 90 ms."


def written(items):
    return [item.text for item in items]


def test_b121_what_a_summary_keeps_is_counted():
    """Case B121."""
    nothing = retention_of(SOURCE, "We fixed the slow start.")
    assert nothing.share == 0.0
    assert written(nothing.lost) == ["src/app.py", "v2.3.1", "412 ms", "90 ms"]
    half = retention_of(SOURCE, "Fixed src/app.py in v2.3.1.")
    assert half.share == 2 / 4
    assert written(half.kept) == ["src/app.py", "v2.3.1"]
    assert written(half.lost) == ["412 ms", "90 ms"]


def test_by_kind():
    found = retention_of(SOURCE, "v2.3.1 starts in 90 ms").by_kind
    assert {kind: (written(r.kept), written(r.lost)) for kind, r in found.items()} == {
        "path": ([], ["src/app.py"]),
        "identifier": (["v2.3.1"], []),
        "number": (["90 ms"], ["412 ms"]),
    }
    assert [found[kind].share for kind in ("path", "identifier", "number")] == [0, 1, 0.5]


def test_an_item_counts_once_however_often_and_however_it_is_written():
    texts = ["It costs $1,200.00.", "1200 USD, you said?", "Yes, 1.2k."]
    found = retention_of(texts, "")
    assert written(found.lost) == ["$1,200.00"]
    assert retention_of(texts, "1,200 dollars").share == 1


def test_other_scripts():
    texts = ["订单A-117，5月12日，共３，２００元，见「蓝色房间」", "الرقم ١٢٣", "午後3時に"]
    found = retention_of(texts, "A-117：2026年5月12日15:00、蓝色房间、3200円")
    assert written(found.kept) == ["A-117", "5月12日", "３，２００元", "「蓝色房间」", "午後3時"]
    assert written(found.lost) == ["١٢٣"]
    assert found.share == 5 / 6


@pytest.mark.parametrize("source", ["", "...", [], ["", "?!"], "nothing of the kind"])
@pytest.mark.parametrize("summary", ["", "...", "A-117"])
def test_a_source_without_items_has_no_share(source, summary):
    assert retention_of(source, summary) == Retention()
    assert retention_of(source, summary).share is None
    assert retention_of(source, summary).by_kind == {}


def test_what_the_summary_invents_changes_nothing():
    assert retention_of("A-117", "A-117, B-2, 99 EUR") == retention_of("A-117", "A-117")


def test_own_detectors():
    colour = Detector.from_pattern("colour", "red|green")
    found = retention_of("red A-117 green", "all green", detectors=(*DETECTORS, colour))
    assert written(found.kept) == ["green"]
    assert written(found.lost) == ["red", "A-117"]


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Retention().kept = ()


PIECES = st.sampled_from(
    [
     "A-117", "20 EUR", "2026-05-12", "May 12", "5 pm", "src/app.py", "'blue room'", '"x_1"',
     "and", "{", '"key": ', "1,2", "\\", "\n", " ", "３，２００", "「蓝」", "「蓝色」",
     "ann@example.org", "%", "http://a.b/c",
    ]
)  # fmt: skip
TEXTS = st.lists(st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=20), max_size=5)


@given(TEXTS)
def test_a_summary_that_is_the_source_keeps_all_and_an_empty_one_nothing(texts):
    distinct = {item.value for text in texts for item in find_items(text)}
    everything = retention_of(texts, "\n\n".join(texts))
    assert everything.lost == ()
    assert {item.value for item in everything.kept} == distinct
    nothing = retention_of(texts, "")
    assert nothing.kept == ()
    assert len(nothing.lost) == len(distinct)


@given(TEXTS, st.lists(PIECES).map(" ".join))
def test_kinds_add_up(texts, summary):
    found = retention_of(texts, summary)
    kinds = found.by_kind.values()
    assert sum(len(kind.kept) for kind in kinds) == len(found.kept)
    assert sum(len(kind.lost) for kind in kinds) == len(found.lost)
    assert found.share is None or 0 <= found.share <= 1
