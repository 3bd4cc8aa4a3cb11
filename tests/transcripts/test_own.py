"""The own format: what it looks like, that nothing is lost, and what is refused."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatmem_lab.corpora import read, write
from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import (
    Audio,
    Conversation,
    File,
    Image,
    Message,
    Opaque,
    Reasoning,
    RecordedEvent,
    Refusal,
    SummaryOf,
    Text,
    ToolCall,
    Usage,
    assistant,
    user,
)
from chatmem_lab.testing.strategies import conversations
from chatmem_lab.transcripts import encode_conversation

EVERYTHING = Conversation(
    "all",
    (
        Message("developer", (Text("Be kind."),)),
        Message(
            "user",
            (
                Text("a\u2028b\u0085c\r\n"),
                Image("https://example.org/a.png", "low"),
                File("a.pdf", None, "file-1"),
                Audio("AA==", "wav"),
                Opaque("video", '{"type":"video"}'),
            ),
            name="ann",
            created_at=datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=timezone(timedelta(hours=2))),
        ),
        Message(
            "assistant",
            (Reasoning("hm", "rs_1", "sealed"), Refusal("no")),
            tool_calls=(ToolCall("c1", "f", '{"a": 1.0}'), ToolCall("c1", "g")),
            id="m3",
            model="gpt-5",
            usage=Usage(10, 2, 8, 0, 1),
            finish_reason="tool_calls",
            metadata={"n": [1, 2.5, None, True, {"deep": {}}]},
            extra={},
        ),
        Message("tool", (Text("😀"),), tool_call_id="c1", is_error=True),
        Message(
            "assistant", (Text("so far"),), summary=SummaryOf(((1, 3),), 2, "x"), generated=False
        ),
    ),
    tools=({"type": "function", "function": {"name": "f"}},),
    model="gpt-5",
    created_at=datetime(2026, 3, 1, 10, tzinfo=UTC),
    source="runs/a.json",
    recorded_events=(
        RecordedEvent(3, "fold", 100, 20, assistant("made"), {"trigger": "auto"}),
        RecordedEvent(5, "clear"),
    ),
    metadata={"reward": 1.0},
    extra={"info": {"x": None}},
)


def back(conversation):
    (again,) = read(encode_conversation(conversation))
    return again


def test_what_it_looks_like():
    small = Conversation(
        "c",
        (user("hi"),),
        model="m",
        recorded_events=(RecordedEvent(1, "fold"),),
        created_at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    assert encode_conversation(small) == (
        b'{"format":1,"id":"c","model":"m","created_at":"2026-01-02T00:00:00Z"}\n'
        b'{"role":"user","parts":[{"type":"text","text":"hi"}]}\n'
        b'{"event":{"position":1,"kind":"fold"}}\n'
    )


def test_every_field_comes_back():
    again = back(EVERYTHING)
    assert again == EVERYTHING
    assert again.messages[1].created_at.utcoffset() == timedelta(hours=2)
    assert type(again.messages[0]) is Message


@st.composite
def recorded(draw):
    """Generated conversations with facts beside them."""
    conversation = draw(conversations(max_size=12))
    times = st.none() | st.datetimes(
        min_value=datetime(1990, 1, 1), timezones=st.none() | st.just(UTC)
    )
    values = st.recursive(
        st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text(max_size=5)
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=5,
    )  # fmt: skip
    tables = st.none() | st.dictionaries(st.text(max_size=3), values, max_size=3)
    messages = [
        msgspec.structs.replace(
            message,
            created_at=draw(times),
            usage=draw(st.none() | st.builds(Usage, st.none() | st.integers(0, 9))),
            metadata=draw(tables),
            extra=draw(tables),
        )
        for message in conversation.messages
    ]
    events = draw(
        st.lists(
            st.builds(
                RecordedEvent,
                st.integers(0, 9),
                st.sampled_from(["fold", "clear"]),
                made=st.none() | st.just(user("made")),
                extra=tables,
            ),
            max_size=2,
        )
    )
    return msgspec.structs.replace(
        conversation,
        messages=tuple(messages),
        recorded_events=tuple(events),
        created_at=draw(times),
        metadata=draw(tables),
        extra=draw(tables),
    )


@settings(max_examples=60)
@given(recorded())
def test_what_is_written_is_read_again(conversation):
    assert back(conversation) == conversation


def test_the_bundled_data_are_written_as_they_stand():
    path = Path(__file__).resolve().parents[2] / "datasets" / "support.jsonl"
    data = path.read_bytes()
    assert b"".join(map(encode_conversation, read(data))) == data


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_has_not_is_not_written_as_null(number):
    conversation = Conversation("c", (user("x"), user("y", metadata={"a": [0.5, number]})))
    with pytest.raises(TranscriptError, match=r"'c': messages\[1\].metadata.a\[1\] = "):
        encode_conversation(conversation)


@pytest.mark.parametrize("value", [object(), {1j: 2}])
def test_what_json_cannot_hold(value, tmp_path):
    with pytest.raises(TranscriptError, match="what JSON cannot hold"):
        write([Conversation("ok"), Conversation("c", extra={"a": value})], tmp_path / "x.jsonl")
    assert list(tmp_path.iterdir()) == []


HEADER = b'{"format":1,"id":"c"}\n'
GOOD = b'{"role":"user","parts":[{"type":"text","text":"hi"}]}\n'


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b'{"role":"user","content":"hi"}', "unknown field content"),
        (b'{"role": "user", "content":"hi"}', "unknown field content"),
        (b'{"role":"owl"}', "role: invalid enum value 'owl'"),
        (
            b'{"role":"user","parts":[{"type":"text","text":3}]}',
            "parts[0].text: expected str, got int",
        ),
        (b'{"role":"user","parts":"hi"}', "parts: expected array, got str"),
        (b'{"event":{"kind":"fold"}}', "event: "),
        (b'{"event":{"kind":"fold","position":1},"x":1}', "unknown field x"),
        (b'{"format":1}', "missing required field id"),
        (b'{"format":1,"id":7}', "id: expected str, got int"),
        (b'{"format":1,"id":"d","tool":[]}', "unknown field tool"),
        (b'{"format":2,"id":"d"}', "format is 2, and this version reads format 1"),
        (b'{"a":1}', "a header with format, a message with role, or an event was expected"),
        (b"3", "a header with format"),
        (b'{"role":"user","metadata":{"a":NaN}}', "metadata.a is NaN"),
        (b'{"role":"user","metadata":{"a":[1e999]}}', "metadata.a[0] is 1e999"),
        (b'{"role":"user","extra":' + b"[" * 5000 + b"]" * 5000 + b"}", "nested too deeply"),
        (b'{"role":"us', "unterminated string"),
    ],
)
def test_a_wrong_line(line, what):
    data = HEADER + GOOD + line + b"\n" + GOOD
    with pytest.raises(TranscriptError) as caught:
        read(data)
    assert caught.value.line == 3
    assert what.lower() in caught.value.what.lower()
    lenient = read(data, lenient=True)
    assert [len(c) for c in lenient] == [2]
    assert [note.line for note in lenient.report.skipped] == [3]


def test_a_message_before_the_first_header():
    with pytest.raises(TranscriptError) as caught:
        read(GOOD + HEADER, format="own")
    assert (caught.value.line, caught.value.what) == (
        1,
        'stands before the first header, {"format":1,…}',
    )


def test_spaces_and_any_order_of_keys():
    data = b'{ "id": "c", "format": 1 }\n{"parts": [], "role": "user"}\n\n  \n' + GOOD
    assert [len(c) for c in read(data)] == [2]


def test_records_on_one_line():
    data = HEADER.strip() + GOOD.strip() + GOOD + HEADER.replace(b'"c"', b'"d"') + GOOD
    conversations = read(data)
    assert [(c.id, len(c)) for c in conversations] == [("c", 2), ("d", 1)]
    (note,) = conversations.report.repaired
    assert (note.line, note.reason) == (1, "3 records stand on one line")


def test_half_a_surrogate_pair():
    data = HEADER + GOOD.replace(b"hi", rb"\ud83d hi \ud83d\ude00")
    conversations = read(data)
    assert conversations[0].messages[0].text == "\ufffd hi 😀"
    assert [note.line for note in conversations.report.repaired] == [2]


def test_half_a_surrogate_pair_is_written_as_a_replacement_with_a_warning(tmp_path):
    conversation = Conversation("c\udc00", (user("a\ud800b \ud83d\ude00"),), extra={"k\ud800": 1})
    with pytest.warns(UserWarning, match="surrogate pairs became U"):
        path = write(conversation, tmp_path / "own.jsonl")
    again = read(path)[0]
    assert again.messages[0].text == "a\ufffdb \U0001f600"
    assert (again.id, again.extra) == ("c\ufffd", {"k\ufffd": 1})


def test_tools_and_events_hold_no_such_number_either():
    nan = float("nan")
    for conversation, path in (
        (Conversation("c", tools=({"x": {"y": nan}},)), r"tools\[0\].x.y = nan"),
        (
            Conversation("c", recorded_events=(RecordedEvent(0, "fold", extra={"x": nan}),)),
            r"recorded_events\[0\].extra.x = nan",
        ),
        (
            Conversation(
                "c",
                recorded_events=(RecordedEvent(0, "fold", made=user("x", metadata={"x": nan})),),
            ),
            r"recorded_events\[0\].made.metadata.x = nan",
        ),
    ):
        with pytest.raises(TranscriptError, match=path):
            encode_conversation(conversation)
