import pytest

from chatmem_lab.needs import find_items
from chatmem_lab.needs.quoted import QUOTED


def quoted(text):
    return [item.value for item in find_items(text) if item.kind == "quoted"]


@pytest.mark.parametrize(
    "text",
    [
     '"blue room"', "'blue room'", "“blue room”", "„blue room“", "‘blue room’", "«blue room»",
     "« blue room »", "「blue room」", "『blue room』", "`blue room`",
     '"Blue  Room,"', "“Blue room.”"],
)  # fmt: skip
def test_quotation_marks(text):
    assert quoted(f"the {text} is free") == ["blue room"]
    assert quoted(text) == ["blue room"]


def test_apostrophes_quote_nothing():
    assert quoted("Don't say it's the users' and the dogs' room.") == []
    assert quoted("She said 'don't do it' and left") == ["don't do it"]
    assert quoted("She said ‘don’t do it’ and left") == ["don’t do it"]


def test_what_stands_between_two_quotations_is_none():
    assert quoted('"x" and "y" and "yes"') == ["yes"]
    assert quoted('{"a":"red","b":"blue"}') == ["red", "blue"]


def test_the_length_of_what_is_quoted():
    assert quoted('"a"') == []
    assert quoted('"ab"') == ["ab"]
    assert quoted(f'"{"a" * 80}"') == ["a" * 80]
    assert quoted(f'"{"a" * 81}"') == []


def test_signs_alone_say_nothing():
    assert quoted('"..." `--` "  " 「」 「、。」') == []


def test_no_quotation_goes_over_a_line():
    assert quoted('5" pipes\nand "red\nones"') == []


def test_fences_are_no_quotations():
    assert quoted("```python\nprint\n```") == []


def test_what_is_quoted_may_be_another_item():
    items = find_items("'order A-117 is late' and `src/app.py` and “20 EUR”")
    assert [(i.kind, i.text) for i in items] == [
        ("identifier", "A-117"), ("path", "src/app.py"), ("number", "20 EUR"),
    ]  # fmt: skip


def test_the_detector_itself_gives_spans_with_the_marks():
    [found] = QUOTED.find('say "yes" now')
    assert (found.start, found.stop) == (4, 9)
