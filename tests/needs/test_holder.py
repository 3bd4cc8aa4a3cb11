import pytest

from chatmem_lab.needs import Detector, Holder, find_items


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("$1,200.00", "1200 dollars"), ("20%", "20 percent"), ("1.2 million", "1,200,000"),
        ("2026-05-12", "May 12, 2026"), ("2026-05-12", "on May 12"), ("May 12", "2026-05-12"),
        ("5月12日", "12 May"), ("17:30", "5:30 pm"), ("#12", "number 12"), ("v2.3.1", "2.3.1"),
        ("'Blue Room'", "the blue room,"),
        ("「蓝色房间」", "他要蓝色房间。"), ('"AQLBTL"', "of AQLBTL"),
        ("A-117", "order A-117/B"), ("src/app.py", "/repo/src/app.py"),
        ("./src/app.py", "src\\app.py"),
        ("ann@example.org", "Ann@Example.org"), ("https://example.org/", "https://example.org"),
        ("１２００", "1200"), ('"two\\u0020words"', "two words"),
    ],
)  # fmt: skip
def test_held(source, text):
    [item] = find_items(source)
    assert Holder(text).holds(item)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("1200", "12 and 00, 1200.5, A-1200"), ("20%", "20"), ("2026-05-12", "May 12, 2025"),
        ("2026-05-12", "May 2026"), ("May 12", "May 13"), ("17:30", "5:30"), ("A-117", "A-1178"),
        ("A-117", "A-117-2"), ("A-117", "BA-117"), ("A-117", "a-117"), ("A-117", ""),
        ("'Blue Room'", "bluer rooms, blue rooms"), ("/repo/app.py", "app.py"),
        ("-5", "5"), ("user_id", "user_ids"),
    ],
)  # fmt: skip
def test_not_held(source, text):
    [item] = find_items(source)
    assert not Holder(text).holds(item)


def test_own_detectors():
    ticket = Detector.from_pattern("ticket", "T/[a-z]+", str.lower)
    [item] = find_items("T/abc", (ticket,))
    assert Holder("see T/abc", (ticket,)).holds(item)
    assert not Holder("see T/abcd", (ticket,)).holds(item)
