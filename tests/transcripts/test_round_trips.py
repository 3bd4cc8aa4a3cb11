"""Reading what was written gives equal conversations: every field, arguments byte for byte."""

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chatmem_lab as cml
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
)

TEXT = st.text(max_size=20) | st.sampled_from(
    ["a\u2028b\u2029c\x85d", "\r\n\x0b\x0c\x00", '{"a": "\\u00e9"}', "😀", '{"role":"user"}']
)
MAYBE_TEXT = st.none() | TEXT
COUNTS = st.none() | st.integers(0, 1 << 40)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.none() | st.dictionaries(TEXT, VALUES, max_size=3)
ZONES = st.none() | st.builds(
    timezone, st.integers(-23 * 60, 23 * 60).map(lambda minutes: timedelta(minutes=minutes))
)
TIMES = st.none() | st.datetimes(timezones=ZONES)
PARTS = st.one_of(
    st.builds(Text, TEXT),
    st.builds(Image, TEXT, MAYBE_TEXT),
    st.builds(File, MAYBE_TEXT, MAYBE_TEXT, MAYBE_TEXT),
    st.builds(Audio, TEXT, MAYBE_TEXT, MAYBE_TEXT),
    st.builds(Reasoning, TEXT, MAYBE_TEXT, MAYBE_TEXT),
    st.builds(Refusal, TEXT),
    st.builds(Opaque, TEXT, VALUES.map(lambda value: msgspec.json.encode(value).decode())),
)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "developer", "user", "assistant", "tool"]),
    parts=st.lists(PARTS, max_size=3).map(tuple),
    tool_calls=st.lists(st.builds(ToolCall, TEXT, TEXT, TEXT), max_size=2).map(tuple),
    tool_call_id=MAYBE_TEXT,
    name=MAYBE_TEXT,
    is_error=st.booleans(),
    summary=st.none()
    | st.builds(
        SummaryOf,
        st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=3).map(tuple),
        st.integers(1, 4),
        TEXT,
    ),
    generated=st.booleans(),
    id=MAYBE_TEXT,
    created_at=TIMES,
    model=MAYBE_TEXT,
    usage=st.none() | st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS),
    finish_reason=MAYBE_TEXT,
    metadata=OBJECTS,
    extra=OBJECTS,
)
EVENTS = st.builds(
    RecordedEvent,
    st.integers(0, 99),
    TEXT,
    COUNTS,
    COUNTS,
    st.none() | MESSAGES,
    OBJECTS,
)
CONVERSATIONS = st.lists(
    st.builds(
        Conversation,
        id=TEXT,
        messages=st.lists(MESSAGES, max_size=4).map(tuple),
        tools=st.lists(st.dictionaries(TEXT, VALUES, max_size=2), max_size=2).map(tuple),
        model=MAYBE_TEXT,
        created_at=TIMES,
        source=MAYBE_TEXT,
        recorded_events=st.lists(EVENTS, max_size=2).map(tuple),
        metadata=OBJECTS,
        extra=OBJECTS,
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda conversation: conversation.id,
)


@settings(max_examples=150)
@given(conversations=CONVERSATIONS)
def test_any_conversation(tmp_path_factory, conversations):
    path = tmp_path_factory.mktemp("written") / "some.jsonl"
    cml.write(conversations, path)
    again = cml.read(path)
    assert list(again) == conversations
    assert not again.report.skipped
    assert not again.report.repaired


@pytest.mark.parametrize("folder", ["tau-bench", "swe-agent"])
def test_real_transcripts(transcripts, tmp_path, folder):
    conversations = cml.read(transcripts / folder)
    path = cml.write(conversations, tmp_path / "all.jsonl")
    again = cml.read(path)
    assert list(again) == list(conversations)
    second = cml.write(again, tmp_path / "again.jsonl")
    assert second.read_bytes() == path.read_bytes()


def test_arguments_stay_byte_for_byte(tmp_path):
    odd = ['{"a": 1}', '{"a":1}', "", "{", "null", '{"a": "\\u00e9\u2028"}', " {}\n", '{"a": 1e5}']
    messages = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": f"c{i}", "type": "function", "function": {"name": "f", "arguments": text}}
                for i, text in enumerate(odd)
            ],
        }
    ]
    conversations = cml.read(msgspec.json.encode(messages))
    again = cml.read(cml.write(conversations, tmp_path / "calls.jsonl"))
    for read in (conversations, again):
        assert [call.arguments for call in read[0].messages[0].tool_calls] == odd


def test_times_keep_their_zone(tmp_path):
    india = timezone(timedelta(hours=5, minutes=30))
    times = [
        datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=india),
        datetime(2026, 3, 1, tzinfo=UTC),
    ]
    messages = tuple(Message("user", created_at=time) for time in times)
    (again,) = cml.read(cml.write([Conversation("c", messages)], tmp_path / "times.jsonl"))
    assert [message.created_at.isoformat() for message in again.messages] == [
        "2026-03-01T09:30:00.123456+05:30",
        "2026-03-01T00:00:00+00:00",
    ]
