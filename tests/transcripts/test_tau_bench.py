"""tau-bench results, against counts made from plain JSON."""

import json

import pytest

from chatmem_lab.corpora import read, write
from chatmem_lab.errors import TranscriptError


@pytest.fixture(scope="module")
def path(transcripts):
    return transcripts / "tau-bench" / "gpt-4o-airline.json"


@pytest.fixture(scope="module")
def conversations(path):
    return read(path)


def test_the_whole_file(path, conversations):
    assert len(conversations) == 200
    assert sum(len(conversation) for conversation in conversations) == 5_308
    with_calls = [m for c in conversations for m in c.messages if m.tool_calls]
    assert len(with_calls) == 1_164
    assert len({conversation.id for conversation in conversations}) == 200
    (reading,) = conversations.report.read
    assert (reading.source, reading.format) == (str(path), "tau_bench")
    assert (reading.conversations, reading.messages) == (200, 5_308)
    assert conversations.report.skipped == conversations.report.repaired == []


def test_each_message_says_what_the_file_says(path, conversations):
    for run, conversation in zip(json.loads(path.read_text()), conversations, strict=True):
        assert conversation.id == f"task-{run['task_id']}/trial-{run['trial']}"
        assert conversation.metadata == {key: run[key] for key in ("task_id", "trial", "reward")}
        assert conversation.extra == {"info": run["info"]}
        assert conversation.source == str(path)
        for given, message in zip(run["traj"], conversation.messages, strict=True):
            assert message.role == given["role"]
            assert message.text == (given["content"] or "")
            assert message.name == given.get("name")
            assert message.tool_call_id == given.get("tool_call_id")
            calls = [
                (call["id"], call["function"]["name"], call["function"]["arguments"])
                for call in given.get("tool_calls") or ()
            ]
            assert [(c.id, c.name, c.arguments) for c in message.tool_calls] == calls
            assert message.generated
            assert message.extra is None


def test_written_and_read_again_it_is_equal(conversations, tmp_path):
    again = read(write(conversations, tmp_path / "own.jsonl"))
    assert list(again) == list(conversations)
    assert again.report.read[0].format == "own"


def run(task_id=0, **more):
    return {"task_id": task_id, "traj": [{"role": "user", "content": "hi"}], **more}


def test_a_run_without_trial_and_other_fields():
    (conversation,) = read(json.dumps([run(7, user="u1")]).encode())
    assert conversation.id == "task-7"
    assert conversation.metadata == {"task_id": 7}
    assert conversation.extra == {"user": "u1"}


def test_a_run_a_line():
    text = "\n".join(json.dumps(run(i, trial=1)) for i in range(3))
    assert [c.id for c in read(text.encode())] == [f"task-{i}/trial-1" for i in range(3)]


def test_the_same_run_twice_is_renamed_and_noted():
    conversations = read(json.dumps([run(trial=0)] * 3).encode())
    assert [c.id for c in conversations] == [
        "task-0/trial-0",
        "task-0/trial-0#2",
        "task-0/trial-0#3",
    ]
    assert [note.reason for note in conversations.report.repaired] == [
        "a second conversation has the id 'task-0/trial-0': it is 'task-0/trial-0#2'",
        "a second conversation has the id 'task-0/trial-0': it is 'task-0/trial-0#3'",
    ]


def test_an_error_leads_to_the_field():
    broken = run()
    broken["traj"].append({"role": "assistant", "content": 3})
    with pytest.raises(TranscriptError) as caught:
        read(json.dumps([run(), broken]).encode())
    assert str(caught.value) == (
        "<bytes>: [1].traj[1].content: a string, a list of parts or null was expected, "
        "not a number"
    )
    lenient = read(json.dumps([run(), broken, run(2)]).encode(), lenient=True)
    assert [c.id for c in lenient] == ["task-0", "task-2"]
    assert len(lenient.report.skipped) == 1
