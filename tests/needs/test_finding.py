import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmem_lab.messages import ToolCall, assistant, system, tool_output, user
from chatmem_lab.needs import DETECTORS, Item, find_items, items_of, searched_text


def test_a_text_with_one_of_each():
    text = (
        "Ann (ann@example.org) said 'too late': order A-117 of 12 May 2026, 17:30, costs "
        "1,200.00 EUR; see https://example.org/a and src/app.py."
    )
    assert find_items(text) == [
        Item("email", "ann@example.org", "ann@example.org", 5, 20),
        Item("quoted", "'too late'", "too late", 27, 37),
        Item("identifier", "A-117", "A-117", 45, 50),
        Item("date", "12 May 2026", "2026-05-12", 54, 65),
        Item("time", "17:30", "17:30", 67, 72),
        Item("number", "1,200.00 EUR", "1200", 80, 92),
        Item("url", "https://example.org/a", "https://example.org/a", 98, 119),
        Item("path", "src/app.py", "src/app.py", 124, 134),
    ]


def test_other_scripts():
    text = "订单A-117（２０２６年５月１２日下午3点）共１，２００元，见「蓝色房间」。الرقم ١٢٣"
    assert [(i.kind, i.value) for i in find_items(text)] == [
        ("identifier", "A-117"), ("date", "2026-05-12"), ("time", "15:00"), ("number", "1200"),
        ("quoted", "蓝色房间"), ("number", "123"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", " ", "...", "?!—", "\ud83d", "\x00", "plain words only"])
def test_texts_without_items(text):
    assert find_items(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("https://example.org/src/app.py?id=A-117", "url"),
        ("ann.lee1@example.org", "email"),
        ("src/v2.3.1/app_1.py", "path"),
        ("2026-05-12", "date"),
        ("app_1.py", "path"),
        ("A-117-2026", "identifier"),
        ("$1,200,000", "number"),
        ("1200000", "identifier"),
    ],
)
def test_the_longest_wins_and_then_the_more_specific(text, kind):
    assert [(item.kind, item.text) for item in find_items(text)] == [(kind, text)]


def test_messages_calls_and_results():
    messages = [
        system("Be brief."),
        user("Where is A-117?"),
        assistant(
            "Two look-ups for '5 lamps'.",
            tool_calls=[
                ToolCall("call_1", "find_order", '{"order_id": "A-117"}'),
                ToolCall("call_22", "find_file", '{"path": "/tmp/caf\\u00e9.txt"}'),
            ],
        ),
        tool_output("call_1", '{"order_id": "A-117", "total": 20.50}'),
    ]
    found = [[item.value for item in items] for items in items_of(messages)]
    assert found == [[], ["A-117"], ["5", "A-117", "/tmp/café.txt"], ["A-117", "20.5"]]
    for message, items in zip(messages, items_of(messages)):
        text = searched_text(message)
        assert all(text[item.start : item.stop] == item.text for item in items)


def test_a_result_is_not_shared_with_the_cache():
    find_items("A-117").clear()
    assert len(find_items("A-117")) == 1


@given(st.text(alphabet="aB1_-./\\'\"`,:@# \n$%年月日点五5０「」«»é{}[]()") | st.text())
def test_spans_are_in_order_apart_and_true(text):
    in_their_places(find_items(text), text)


def in_their_places(items, text):
    end = 0
    for item in items:
        assert end <= item.start < item.stop
        end = item.stop
        assert text[item.start : item.stop] == item.text
        assert item.kind
        assert item.value
    assert end <= len(text)


#: Each is a beginning that a detector has to give up; repeated it must not cost more each time.
HOSTILE = [
    '"', "/", "1,", "a_", "'", "`", "\\", '\\"', '"\\', '" ', "a.", "a/", "a@", "a://", "www.",
    "1.", "1-", "$", "May ", "12 ", "“", "‘", "«", "a-", "http://a)", "C:\\", "C:\\a\\", "~/", "0",
    " ", "\n", '{"', '{"a":', "1:", "１", "中", "文/", "\\u4e2d", "5年",
    "#1", "-", "_", "1e", "1,000",
    "12,34,", "\u00a01", "1 a", "'a '", "a'", "&#", "\\\\s\\", "5 p", "12 May 20", "a b\\", "[1,",
]  # fmt: skip


@pytest.mark.parametrize("piece", ['"', "/", "1,", "a_"])
def test_a_million_characters_of_it_end(piece):
    text = piece * (1_000_000 // len(piece))
    found = find_items(text)
    assert len(found) == (500_000 if piece == "1," else 0)


# benchmarks/finding.py measures how the time grows with these.
@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_a_long_text_of_it_ends_with_items_in_their_places(piece):
    text = piece * (120_000 // len(piece))
    in_their_places(find_items(text), text)


def test_hostile_pieces_mixed():
    choose = random.Random(8)
    text = "".join(choose.choice(HOSTILE) for _ in range(60_000))
    found = find_items(text)
    assert found
    in_their_places(found, text)


def test_the_built_in_detectors_have_names_and_find_nothing_twice():
    names = [detector.name for detector in DETECTORS]
    assert names == ["", "url", "email", "path", "date", "time", "identifier", "number", "quoted"]
