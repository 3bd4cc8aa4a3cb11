import pytest

from chatmem_lab.needs import find_items


def times(text):
    return [(item.text, item.value) for item in find_items(text) if item.kind == "time"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("17:30", "17:30"), ("7:05", "07:05"), ("5:30 pm", "17:30"), ("5:30PM", "17:30"),
        ("5 p.m.", "17:00"), ("5pm", "17:00"), ("12 am", "00:00"), ("12pm", "12:00"),
        ("10:30:00", "10:30"), ("10:30:15.250", "10:30:15"), ("10:30:00Z", "10:30"),
        ("10:30+02:00", "10:30"), ("10:30:00-05:00", "10:30"), ("15時30分", "15:30"),
        ("下午3点半", "15:30"), ("上午 9点", "09:00"), ("오후 3시 20분", "15:20"),
        ("１７：３０", "17:30"),
    ],
)  # fmt: skip
def test_spellings(text, value):
    assert times(f"at {text}, then") == [(text, value)]


def test_a_range_is_two_times():
    assert [value for _, value in times("10:00-22:00")] == ["10:00", "22:00"]


def test_a_date_with_a_time_is_both():
    items = find_items("2026-05-12T10:30:00Z")
    assert [(i.kind, i.value) for i in items] == [("date", "2026-05-12"), ("time", "10:30")]


@pytest.mark.parametrize(
    "text",
    ["25:10", "10:60", "app.py:42:10", "1:2", "3時間", "13pm", "10:305", "00:1a:2b", "x10:30"],
)
def test_what_is_no_time(text):
    assert times(text) == []
