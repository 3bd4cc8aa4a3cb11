from __future__ import annotations

import pytest

from chatmem_lab.cli.plain_text import columns_of, fitted, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 房 👍", "plain é 房 👍"),
        ("a\x1b]0;title\x07b", r"a\x1b]0;title\x07b"),
        ("\r\n\t\x00\x7f\x9b", r"\r\n\t\x00\x7f\x9b"),
        ("\u202eevil\u2066\ufeff", r"\u202eevil\u2066\ufeff"),
        ("\U000e0041", r"\U000e0041"),
        ("👨\u200d👩", "👨\u200d👩"),
    ],
)
def test_what_could_steer_a_terminal_is_an_escape(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("", 3, "   "),
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("房间号", 4, "房… "),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
    ],
)
def test_texts_fill_their_columns(text, columns, shown):
    assert fitted(text, columns) == shown
    assert columns_of(shown) == columns
