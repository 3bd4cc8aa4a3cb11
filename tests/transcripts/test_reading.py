"""Whatever the bytes: conversations or a TranscriptError. And garbage collection comes back."""

import contextlib
import gc
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatmem_lab.corpora import read, scan
from chatmem_lab.errors import TranscriptError
from chatmem_lab.transcripts import LoadReport, encode_conversation, read_transcript

ROOT = Path(__file__).resolve().parents[2]
SUPPORT = b"\n".join((ROOT / "datasets" / "support.jsonl").read_bytes().split(b"\n")[:6]) + b"\n"
CHAT = json.dumps(
    [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}, "\u2028é"]},
        {
            "role": "assistant",
            "content": None,
            "usage": {"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1}},
            "created_at": 1_700_000_000,
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {"a": [1.5e3]}}}],
        },
        {"role": "function", "name": "f", "content": "\ud83d"},
    ],
    indent=1,
).encode()
TRAJECTORY = (
    b'{"history": [{"role": "tool", "content": "x", "tool_call_ids": ["c"], "agent": "a"}],\n'
    b' "environment": "e", "info": {"n": 1}}'
)
DEMONSTRATION = (
    b"history:\n- role: user\n  content: |-\n    a\n    b\n  agent: main\n  n: 2026-01-01\n"
)
RUNS = b'[{"task_id": 0, "trial": 1, "reward": 0.5, "traj": [{"role": "user", "content": "x"}]}]'

#: Bytes that mean something to some reader.
PIECES = [
    b"", b"\n", b"\r", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null", b"NaN", b"1e999",
    b"-", b"\xff", b"\xe2\x80\xa8", rb"\ud800", b"\x00", b"true", b"[" * 3000, b"9" * 5000, b"3",
    b'"role"', b"&a ", b"*a", b"!!binary x", b"? ", b"- ", b"\t",
]  # fmt: skip


@st.composite
def mutated(draw, data):
    """The bytes with up to four cuts, copies or insertions."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        to = min(len(data), at + draw(st.sampled_from([0, 0, 1, 2, 30])))
        piece = draw(st.sampled_from(PIECES) | st.binary(max_size=3) | st.just(data[at:to] * 2))
        data = data[:at] + piece + data[to:]
        if draw(st.integers(0, 7)) == 0:
            data = data[: draw(st.integers(0, len(data)))]
    return data


def read_or_named_error(data):
    for format in (None, "own", "openai_chat"):
        with contextlib.suppress(TranscriptError):
            read(data, format=format)
        conversations = read(data, format=format, lenient=True)
        # What was read can be written, and says the same.
        written = b"".join(map(encode_conversation, conversations))
        assert not written or list(read(written)) == list(conversations)
    assert gc.isenabled()


@pytest.mark.parametrize(
    "data",
    [SUPPORT, CHAT, TRAJECTORY, DEMONSTRATION, RUNS],
    ids=["own", "openai_chat", "swe_agent", "yaml", "tau_bench"],
)
def test_damaged_files(data):
    read(data)

    @settings(max_examples=80)
    @given(mutated(data))
    def damaged(broken):
        read_or_named_error(broken)

    damaged()


def test_damaged_real_files(transcripts):
    runs = json.loads((transcripts / "tau-bench" / "gpt-4o-airline.json").read_bytes())[:1]
    runs[0]["traj"] = runs[0]["traj"][1:8]
    files = [json.dumps(runs, indent=1).encode()]
    for name in ("function_calling_simple.traj", "str_replace_anthropic_demo.yaml"):
        files.append((transcripts / "swe-agent" / name).read_bytes())

    @settings(max_examples=60)
    @given(st.sampled_from(files).flatmap(mutated))
    def damaged(broken):
        read_or_named_error(broken)

    damaged()


@settings(max_examples=100)
@given(
    st.binary(max_size=30)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "messages", "tool_calls", "function", "name", "id", "history",
                 "traj", "task_id", "format", "parts", "type", "usage", "tools", "event"]
            ),
            inner | st.sampled_from(["user", "assistant", "tool", "text"]),
            max_size=4,
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode())
)  # fmt: skip
def test_any_bytes_and_any_json(data):
    read_or_named_error(data)
    for format in ("swe_agent", "tau_bench"):
        read(data, format=format, lenient=True)


def test_collection_is_off_only_while_something_is_read():
    data = b'{"format":1,"id":"a"}\n{"format":1,"id":"b"}\n'
    assert gc.isenabled()
    for _ in scan(data):
        assert gc.isenabled()
    with pytest.raises(TranscriptError):
        read(data + b"x\n")
    assert gc.isenabled()
    gc.disable()
    try:
        read(data)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_report_is_filled_when_all_is_read():
    report = LoadReport()
    conversations = read_transcript(SUPPORT, report=report, name="x.jsonl")
    assert next(conversations).id == "bookshop-refund"
    assert report.read == []
    assert list(conversations) == []
    (reading,) = report.read
    assert (reading.source, reading.format, reading.conversations) == ("x.jsonl", "own", 1)
    assert reading.messages == 5
