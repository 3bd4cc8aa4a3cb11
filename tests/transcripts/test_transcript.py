"""Files as they come: marks, line ends, blank, torn and doubled lines. All formats at once."""

import json

import pytest

from chatmem_lab.corpora import read
from chatmem_lab.errors import TranscriptError

LINES = '{"role": "user", "content": "a\u2028b"}\n{"role": "assistant", "content": "é😀"}\n'
TEXTS = ["a\u2028b", "é😀"]


def texts(data, **options):
    (conversation,) = read(data, **options)
    return [message.text for message in conversation.messages]


@pytest.mark.parametrize(
    "data",
    [
        LINES.encode(),
        LINES.encode("utf-8-sig"),
        LINES.encode("utf-16"),
        b"\xfe\xff" + LINES.encode("utf-16-be"),
        LINES.encode("utf-32"),
        LINES.replace("\n", "\r\n").encode(),
        LINES.replace("\n", "\n\n  \r\n\t\n").encode(),
        ("\n\n" + LINES).encode(),
        LINES.rstrip("\n").encode(),
        ("[" + LINES.strip().replace("\n", ",\n") + "]").encode("utf-8-sig"),
    ],
)
def test_read_right_and_without_a_note(data):
    assert texts(data) == TEXTS
    report = read(data).report
    assert report.skipped == report.repaired == []


def test_line_ends_of_old_macs_are_noted():
    data = LINES.replace("\n", "\r").encode()
    assert texts(data) == TEXTS
    assert [note.reason for note in read(data).report.repaired] == ["2 records stand on one line"]


@pytest.mark.parametrize("length", range(1, 20))
def test_a_torn_last_line_is_noted_and_no_error(length):
    data = (LINES + LINES)[: len(LINES) + length].encode()
    conversations = read(data)
    assert [m.text for m in conversations[0].messages] == TEXTS
    (note,) = conversations.report.skipped
    assert note.line == 3
    assert note.reason.startswith("the last line is torn: it is no JSON")


def test_a_line_torn_inside_a_character():
    data = LINES.encode() + '{"role": "user", "content": "é'.encode()[:-1]
    assert texts(data) == TEXTS
    assert [note.line for note in read(data).report.skipped] == [3]


def test_a_damaged_line_that_is_not_torn_is_an_error():
    for line in (b'{"role": "user", "content": "x"]}\n', b"plain words\n"):
        with pytest.raises(TranscriptError) as caught:
            read(LINES.encode() + line)
        assert caught.value.line == 3
        assert texts(LINES.encode() + line, lenient=True) == TEXTS


def test_a_damaged_first_line():
    data = b'{"role": "user", "content": "x\n' + LINES.encode()
    with pytest.raises(TranscriptError) as caught:
        read(data)
    assert caught.value.line == 1
    conversations = read(data, lenient=True)
    assert [m.text for m in conversations[0].messages] == TEXTS
    assert [note.line for note in conversations.report.skipped] == [1]


def test_records_on_one_line_are_read_and_noted():
    data = (LINES.replace("\n", " ") + "\n" + LINES).encode()
    conversations = read(data)
    assert [m.text for m in conversations[0].messages] == TEXTS * 2
    assert [(n.line, n.reason) for n in conversations.report.repaired] == [
        (1, "2 records stand on one line")
    ]


@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", "".encode("utf-16")])
def test_an_empty_file(data):
    with pytest.raises(TranscriptError, match=r"^<bytes>: is empty$"):
        read(data)


@pytest.mark.parametrize(
    ("data", "line", "what"),
    [
        (b'[{"role": "user", "content": NaN}]', 1, "[0].content is NaN"),
        (b'[\n{"role": "user", "content": -Infinity}]', 1, "[0].content is -Infinity"),
        (b'[{"role": "user", "content": "x", "n": 1e999}]', 1, "[0].n is 1e999"),
        (b'[{"role": "user", "content": "x", "n": ' + b"9" * 5000 + b"}]", 1, "[0].n is 9999"),
        (b'[{"role": "user",\n "content": "x"\n "a": 1}]', 3, "is no JSON"),
        (b'[\n{"role": "user", "content": "x"', 2, "is no JSON"),
        (b'[{"role": "user", "content": "\xff"}]', 1, "byte ff is not UTF-8"),
        (b'[{"role":\n "user", "content": "\xff"}]', 2, "byte ff is not UTF-8"),
        (b"[" * 100_000, 1, "nested too deeply"),
        (b'{"a":' * 100_000, 1, "nested too deeply"),
        (b"\xff\xfea", None, "begins as UTF-16, but"),
        (b"\xfe\xff\xd8\x00", None, "begins as UTF-16, but"),
        (b"plain words", None, "is neither JSON nor YAML with a history"),
        (b"\x89PNG\r\n\x1a\n\x00", None, "is neither JSON nor YAML with a history"),
        (b"PK\x03\x04", None, "is neither JSON nor YAML with a history"),
    ],
)
def test_a_named_error_with_its_line(data, line, what):
    with pytest.raises(TranscriptError) as caught:
        read(data)
    assert caught.value.source == "<bytes>"
    assert caught.value.line == line
    assert what in caught.value.what


def test_large_numbers_and_deep_values_that_json_can_hold():
    deep = "[" * 200 + "]" * 200
    data = f'[{{"role": "user", "content": "x", "n": {2**200}, "d": {deep}}}]'.encode()
    (message,) = read(data)[0].messages
    assert message.extra["n"] == 2**200


def test_half_a_surrogate_pair_is_mended_and_noted_once():
    data = (json.dumps([{"role": "user", "content": "\ud83d and \\ud83d"}])).encode()
    conversations = read(data)
    assert conversations[0].messages[0].text == "\ufffd and \\ud83d"
    assert [n.reason for n in conversations.report.repaired] == [
        "half of a surrogate pair became U+FFFD"
    ]
