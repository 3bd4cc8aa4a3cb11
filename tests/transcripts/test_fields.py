from datetime import UTC, datetime

import pytest

from chatmem_lab.transcripts.fields import WrongField, of_type, optional_time


@pytest.mark.parametrize(
    ("value", "time"),
    [
        (86_400, datetime(1970, 1, 2, tzinfo=UTC)),
        (0.5, datetime(1970, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-03-10T10:14:08+00:00", datetime(2026, 3, 10, 10, 14, 8, tzinfo=UTC)),
        ("2026-03-10", datetime(2026, 3, 10)),
        (None, None),
        (True, None),
        ("soon", None),
        (10**30, None),
        (1_700_000_000_000, None),
        ([1], None),
    ],
)
def test_times(value, time):
    assert optional_time(value) == time


def test_the_path_grows_from_the_inside():
    wrong = WrongField("", "x").under("name").under("[2]").under("calls").under("messages")
    assert str(wrong) == "messages.calls[2].name: x"
    assert str(WrongField("", "x")) == "x"


def test_true_is_no_number():
    assert of_type(3, int, "n") == 3
    with pytest.raises(WrongField, match="n: a number was expected, not true or false"):
        of_type(True, int, "n")
