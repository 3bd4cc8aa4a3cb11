"""Damaged files give conversations or a `TranscriptError`, and nothing else."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chatmem_lab as cml
from chatmem_lab.errors import TranscriptError

EXAMPLES = int(os.environ.get("CHATMEM_LAB_FUZZ_EXAMPLES", "120"))

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Two \u00e9\u2028 pages?"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALL],
        "usage": {"prompt_tokens": 20, "completion_tokens": 3},
        "created_at": "2026-03-01T09:30:00Z",
    },
    {"role": "tool", "tool_call_id": "c1", "content": "42"},
    {"role": "assistant", "content": "42 pages.", "function_call": {"name": "f", "arguments": ""}},
]


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


OWN = (
    lines({"format": 1, "id": "a", "created_at": "2026-03-01T09:30:00Z", "metadata": {"a": 1}})
    + lines({"role": "user", "parts": [{"type": "text", "text": "hi"}]})
    + lines({"role": "assistant", "tool_calls": [{"id": "c", "name": "f", "arguments": "{}"}]})
    + lines({"event": {"position": 2, "kind": "fold", "made": {"role": "user"}}})
    + lines({"format": 1, "id": "b"})
    + lines({"role": "user", "usage": {"input_tokens": 3}, "created_at": "2026-03-01T09:30:00"})
)
RECORDED = lines(
    *(
        {
            "recorded": 1,
            "id": id,
            "at": "2026-03-01T09:30:00Z",
            "after": after,
            "new": [{"role": "user", "parts": []}, {"role": "assistant"}],
        }
        for id, after in [("a", None), ("b", "a"), ("c", "a")]
    )
)
TRAJECTORY = {
    "environment": "swe_main",
    "trajectory": [{"action": "ls", "observation": "a.py", "execution_time": 0.1}],
    "history": [{**message, "agent": "main"} for message in CHAT],
    "info": {"exit_status": None},
}
DEMO = b"""history:
- agent: main
  content: "hello"
  role: user
- agent: main
  content: 'look'
  role: assistant
  tool_calls:
  - {id: c1, type: function, function: {name: look, arguments: '{}'}}
- role: tool
  content: |
    42
  tool_call_ids: [c1]
"""
RUN = {"task_id": 3, "reward": 1.0, "info": {"task": {}}, "traj": CHAT, "trial": 0}
SEEDS = {
    "list": json.dumps(CHAT).encode(),
    "pretty": json.dumps(CHAT, indent=1).encode(),
    "object": json.dumps({"messages": CHAT, "tools": [{"type": "function"}]}).encode(),
    "objects": json.dumps([{"messages": CHAT, "model": "gpt-5"}] * 2).encode(),
    "message a line": lines(*CHAT),
    "conversation a line": lines({"messages": CHAT}, {"messages": CHAT}),
    "utf-16": json.dumps(CHAT).encode("utf-16"),
    "own": OWN,
    "recorded": RECORDED,
    "tau_bench": json.dumps([RUN, RUN]).encode(),
    "swe_agent": json.dumps(TRAJECTORY).encode(),
    "yaml": DEMO,
}
PIECES = st.sampled_from(
    [
        *(b"", b"\n", b"\r", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null", b"true"),
        *(b"NaN", b"1e999", b"-", b"99999999999999999999999", b"[" * 2_000, b"\x00"),
        *(b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\xef\xbb\xbf"),
        *(b'"role"', b'"messages"', b'{"format":1,"id":"x"}'),
        *(b"&a ", b"*a ", b"!!python/name:os.system ", b"'", b"- ", b": ", b"? ", b"\t", b"|\n"),
    ]
) | st.binary(max_size=4)


@st.composite
def damage(draw, seed):
    data = bytearray(seed)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(
            st.integers(start, min(len(data), start + draw(st.sampled_from([0, 1, 1, 9, 99]))))
        )
        data[start:end] = draw(PIECES)
    if draw(st.integers(0, 4)) == 0:
        del data[draw(st.integers(0, len(data))) :]
    return bytes(data)


def reads_or_says_why(data, **options):
    try:
        conversations = cml.read(data, **options)
    except TranscriptError as error:
        assert str(error).strip()  # noqa: PT017
        return
    for conversation in conversations:
        assert isinstance(conversation.id, str)
        for message in conversation.messages:
            assert message.role in ("system", "developer", "user", "assistant", "tool")


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_are_read(name):
    assert sum(map(len, cml.read(SEEDS[name]))) >= 3


@pytest.mark.parametrize("name", SEEDS)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_damaged_bytes(name, data):
    damaged = data.draw(damage(SEEDS[name]))
    reads_or_says_why(damaged)
    reads_or_says_why(damaged, lenient=True)


@pytest.mark.parametrize("format", ["openai_chat", "own", "recorded", "swe_agent", "tau_bench"])
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_damaged_bytes_in_a_format_that_is_named(format, data):
    name = data.draw(st.sampled_from(sorted(SEEDS)))
    damaged = data.draw(damage(SEEDS[name]))
    reads_or_says_why(damaged, format=format)
    reads_or_says_why(damaged, format=format, lenient=True)


#: Anything that JSON can hold in the place of a value.
STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.just([None]),
    st.just({"type": "text"}),
    st.just([{"type": ["text"]}]),
    st.just(["user"]),
)


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from places(inner, (*path, i))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


DOCUMENTS = {
    "list": CHAT,
    "object": {"messages": CHAT, "tools": [{"type": "function"}], "id": "a", "model": "gpt-5"},
    "runs": [RUN],
    "trajectory": TRAJECTORY,
}


@pytest.mark.parametrize("name", DOCUMENTS)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_values_of_another_type(name, data):
    document = DOCUMENTS[name]
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(document))))
        document = replaced(document, path, data.draw(STRANGE))
    encoded = json.dumps(document).encode()
    reads_or_says_why(encoded)
    reads_or_says_why(encoded, lenient=True)


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_own_values_of_another_type(data):
    records = [json.loads(line) for line in OWN.splitlines()]
    path = data.draw(st.sampled_from(list(places(records))[1:]))
    records = replaced(records, path, data.draw(STRANGE))
    encoded = lines(*records)
    reads_or_says_why(encoded)
    reads_or_says_why(encoded, lenient=True)


@pytest.fixture(scope="module")
def real_seeds(transcripts):
    """Real files; of tau-bench one run, which has all that the others have."""
    runs = json.loads((transcripts / "tau-bench" / "gpt-4o-airline.json").read_bytes())
    folder = transcripts / "swe-agent"
    return [
        json.dumps(runs[:1]).encode(),
        (folder / "function_calling_simple.traj").read_bytes(),
        (folder / "str_replace_anthropic_demo.yaml").read_bytes(),
    ]


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_damaged_real_files(real_seeds, data):
    seed = data.draw(st.sampled_from(real_seeds))
    damaged = data.draw(damage(seed))
    reads_or_says_why(damaged)
    reads_or_says_why(damaged, lenient=True)
