import pytest

from chatmem_lab.needs import find_items


def identifiers(text):
    return [item.text for item in find_items(text) if item.kind == "identifier"]


@pytest.mark.parametrize(
    "word",
    [
        "A-117", "ORD-2024-001", "HAT163", "4WQ150", "gpt-5", "gpt-3.5-turbo", "737-MAX", "utf-8",
        "sofia_kim_7287", "snake_case", "MAX_SIZE", "foo.bar_baz", "__init__", "getUserById",
        "sha256", "3fa85f6", "550e8400-e29b-41d4-a716-446655440000", "v2.3.1", "2.3.1",
        "192.168.0.1", "#12", "007", "13800138000", "010-87654321", "1-800-55", "main()",
        "os.getcwd()", "2FA", "sk-a1b2c3",
    ],
)  # fmt: skip
def test_what_is_one(word):
    assert identifiers(f"see {word}, please") == [word]
    assert identifiers(f"订单{word}坏了") == [word]
    assert identifiers(word) == [word]


@pytest.mark.parametrize(
    "word",
    [
        "word", "Word", "WORD", "GitHub", "well-known", "12-year-old", "24-hour", "No.5", "e.g",
        "_emphasis_", "____", "412ms", "3rd", "1990s", "10x", "1e-5", "500-1000", "2019-2020",
        "1.200.000", "2026-05-12", "2026-05-12T10:30:00", "café", "5pm", "f(x)",
    ],
)  # fmt: skip
def test_what_is_none(word):
    assert identifiers(f"see {word}, please") == []


def test_values_keep_case_and_drop_signs_around():
    items = find_items("#12 main() v2.3.1 Hat163")
    assert [item.value for item in items] == ["12", "main", "2.3.1", "Hat163"]


def test_no_blob_is_one():
    assert identifiers("x1" * 65) == []
    assert identifiers("x1" * 64) == ["x1" * 64]
    assert find_items("data: " + "iVBORw0KGgo/+AAAA1" * 20) == []
