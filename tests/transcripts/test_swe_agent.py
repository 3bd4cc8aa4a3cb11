"""SWE-agent's trajectories, against plain JSON and YAML."""

import json

import pytest
import yaml

from chatmem_lab.corpora import read, write
from chatmem_lab.errors import TranscriptError


@pytest.fixture(scope="module")
def files(transcripts):
    folder = transcripts / "swe-agent"
    found = sorted([*folder.glob("*.traj"), *folder.glob("*.yaml")])
    assert len(found) == 9
    return found


def plain(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".traj" else yaml.safe_load(text)


def test_each_file_says_what_it_says(files):
    for path in files:
        (conversation,) = read(path)
        record = plain(path)
        assert conversation.id == path.stem
        assert conversation.metadata == {"agent": record["history"][0]["agent"]}
        rest = {k: v for k, v in record.items() if k != "history"}
        if "trajectory" in rest:
            rest["trajectory"] = [
                {k: v for k, v in step.items() if k not in ("query", "messages")}
                for step in rest["trajectory"]
            ]
        assert conversation.extra == (rest or None)
        for given, message in zip(record["history"], conversation.messages, strict=True):
            assert message.role == given["role"]
            assert message.text == given["content"]
            ids = given.get("tool_call_ids") or [None]
            assert message.tool_call_id == ids[0]
            calls = given.get("tool_calls") or []
            assert [c.id for c in message.tool_calls] == [c["id"] for c in calls]
            assert [c.arguments for c in message.tool_calls] == [
                c["function"]["arguments"] for c in calls
            ]
            kept = ("agent", "thought", "action", "message_type", "is_demo")
            assert message.extra == {key: given[key] for key in kept if key in given}


def test_calls_of_the_real_files_are_answered(files):
    from chatmem_lab.messages import count_faults

    called = [c for path in files for c in read(path) if any(m.tool_calls for m in c.messages)]
    assert len(called) == 3
    for conversation in called:
        assert "orphan_result" not in count_faults(conversation.messages)


def test_written_and_read_again_they_are_equal(files, tmp_path):
    conversations = read(files)
    assert list(read(write(conversations, tmp_path / "own.jsonl"))) == list(conversations)


def trajectory(*history, **more):
    return json.dumps({"history": list(history), **more}).encode()


def test_demonstrations_are_not_generated():
    (conversation,) = read(
        trajectory(
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u", "is_demo": True},
            {"role": "assistant", "content": "shown", "is_demo": True},
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": "said", "is_demo": False},
        )
    )
    assert conversation.requests == [4]


def test_a_conversation_for_each_agent():
    conversations = read(
        trajectory(
            {"role": "user", "content": "a", "agent": "main"},
            {"role": "user", "content": "b", "agent": "reviewer"},
            {"role": "assistant", "content": "c", "agent": "main"},
            environment="e",
        )
    )
    assert [(c.id, [m.text for m in c.messages]) for c in conversations] == [
        ("conversation/main", ["a", "c"]),
        ("conversation/reviewer", ["b"]),
    ]
    assert [c.extra for c in conversations] == [{"environment": "e"}] * 2


def test_content_in_parts_and_several_ids():
    (conversation,) = read(
        trajectory(
            {
                "role": "tool",
                "content": [{"type": "text", "text": "out", "cache_control": {"type": "x"}}],
                "tool_call_ids": ["c1", "c2"],
            }
        )
    )
    (message,) = conversation.messages
    assert (message.text, message.tool_call_id) == ("out", "c1")
    assert message.extra == {
        "content": {"0": {"cache_control": {"type": "x"}}},
        "tool_call_ids": ["c1", "c2"],
    }


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (3, "history[1]: an object was expected, not a number"),
        ({"content": "x"}, "history[1].role: one of"),
        ({"role": "tool", "tool_call_ids": "c1"}, "history[1].tool_call_ids: a list"),
        ({"role": "tool", "tool_call_ids": [1]}, "history[1].tool_call_ids[0]: a string"),
    ],
)
def test_errors_lead_to_the_field(entry, words):
    data = trajectory({"role": "user", "content": "u"}, entry)
    with pytest.raises(TranscriptError) as caught:
        read(data, format="swe_agent")
    assert words in str(caught.value)


def test_a_demonstration_may_be_marked_by_its_message_type():
    (conversation,) = read(
        trajectory(
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": "shown", "message_type": "demonstration"},
            {"role": "assistant", "content": "said", "message_type": "action"},
        )
    )
    assert conversation.requests == [2]
