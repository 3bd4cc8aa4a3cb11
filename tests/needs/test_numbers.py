from itertools import pairwise

import pytest

from chatmem_lab.needs import find_items
from chatmem_lab.needs.numbers import NUMBER


def numbers(text):
    return [(item.text, item.value) for item in find_items(text) if item.kind == "number"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1200", "1200"), ("1,200", "1200"), ("1,200.00", "1200"), ("1200.50", "1200.5"),
        ("1.200,50", "1200.5"), ("1.200.000", "1200000"), ("1'200.50", "1200.5"),
        ("1\u00a0200\u00a0000", "1200000"), ("1\u202f200,5", "1200.5"), ("1_000", "1000"),
        ("1,20,000.5", "120000.5"), ("0.50", "0.5"), (".5", "0.5"), ("0", "0"), ("0.0", "0"),
        ("-5", "-5"), ("−5", "-5"), ("(-5)", "-5"), ("x=-5", "-5"), ("1e-5", "1e-5"),
        ("3.20E+6", "3.2e6"),
    ],
)  # fmt: skip
def test_spellings(text, value):
    assert [v for _, v in numbers(f"it is {text} here")] == [value]
    assert [v for _, v in numbers(text)] == [value]


@pytest.mark.parametrize(
    "text",
    [
        "$1,200.00", "1200 USD", "USD 1200", "€1.200,00", "1\u00a0200,00 €",
        "1200元", "１２００", "１，２００", "١٢٠٠", "١٬٢٠٠", "१२००", "1.2k", "1.2 thousand",
        "1200 ms", "1200ms", "1200 kg", "1200px", "0.12万", "共1200件",
    ],
)  # fmt: skip
def test_amounts_measures_and_scripts_have_the_value_of_their_number(text):
    assert [value for _, value in numbers(f"so {text}.")] == ["1200"]


def test_the_unit_is_shown():
    text = "From 412 ms to 90ms, $42 or 42 EUR, 3rd of 1990s, 20 %"
    shown = ["412 ms", "90ms", "$42", "42 EUR", "3rd", "1990s", "20 %"]
    assert [written for written, _ in numbers(text)] == shown


def test_a_percentage_is_another_value():
    assert [v for _, v in numbers("20% 20 % 20 percent 20 per cent ٢٠٪ 20")] == ["20%"] * 5 + [
        "20"
    ]


def test_powers():
    text = "4k, 1.25 million, $1.2M, 3bn, 2万, 1.5亿, 5m"
    values = ["4000", "1250000", "1200000", "3000000000", "20000", "150000000", "5"]
    assert [value for _, value in numbers(text)] == values


def test_lists_and_ranges_are_several_numbers():
    assert numbers("[100,200,300]") == [("100", "100"), ("200", "200"), ("300", "300")]
    assert numbers("1,2,3") == [("1", "1"), ("2", "2"), ("3", "3")]
    assert numbers("10-20") == [("10", "10"), ("20", "20")]
    assert numbers("500–1000") == [("500", "500"), ("1000", "1000")]


def test_a_decimal_comma_needs_a_unit():
    assert numbers("3,5 kg") == [("3,5 kg", "3.5")]
    assert numbers("3,5") == [("3", "3"), ("5", "5")]


@pytest.mark.parametrize("text", ["abc123", "foo_5", "12abcd", "2.3.1", "007", "A-117", "Größe5"])
def test_what_is_no_number(text):
    assert numbers(text) == []


def test_spans_are_in_order_and_do_not_overlap():
    found = list(NUMBER.find("$5, -6 [7,8] 9.5% 1,2 and .5 1.2.3 x1,234"))
    assert [f.value for f in found] == ["5", "-6", "7", "8", "9.5%", "1", "2", "0.5"]
    assert all(a.stop <= b.start for a, b in pairwise(found))
