import pytest

from chatmem_lab.needs import find_items


def dates(text):
    return [(item.text, item.value) for item in find_items(text) if item.kind == "date"]


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-12", "2026/5/12", "2026.05.12", "12.05.2026",
        "12 May 2026", "12th of May 2026", "12 may, 2026", "12-May-2026", "May 12, 2026",
        "May 12th, 2026", "MAY 12 2026", "2026年5月12日", "2026 年 5 月 12 日",
        "２０２６年５月１２日", "2026년 5월 12일", "٢٠٢٦-٠٥-١٢",
    ],
)  # fmt: skip
def test_spellings_of_one_day(text):
    assert dates(f"on {text}.") == [(text, "2026-05-12")]


def test_what_is_not_said_is_left_out():
    text = "May 12, 12 Sept, 5月12日, May 2026, 2026年5月"
    values = ["--05-12", "--09-12", "--05-12", "2026-05", "2026-05"]
    assert [value for _, value in dates(text)] == values


def test_slashes():
    text = "5/13/2026, 13/5/2026, 05/06/2026"
    assert [value for _, value in dates(text)] == ["2026-05-13", "2026-05-13", "05/06/2026"]


@pytest.mark.parametrize(
    "text",
    ["2026-13-01", "2026-00-10", "32 May", "May 45", "1-2-3", "10.0.2026.1", "May", "5月", "12日",
     "Mayor 12", "dismay 12", "12 people, 2026", "1/2", "2026-05-123"],
)  # fmt: skip
def test_what_is_no_date(text):
    assert dates(text) == []


def test_no_date_hides_the_next_one():
    assert dates("12 people, 2026-05-12") == [("2026-05-12", "2026-05-12")]


def test_every_month():
    names = "January February March April May June July August September October November December"
    for month, name in enumerate(names.split(), 1):
        for written in (name, name[:3], name.upper(), f"{name[:3]}."):
            assert [v for _, v in dates(f"{written} 3, 2026")] == [f"2026-{month:02}-03"], written
            assert [v for _, v in dates(f"3 {written} 2026")] == [f"2026-{month:02}-03"], written
