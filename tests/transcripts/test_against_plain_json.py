"""Real files against an independent count: plain `json` on one side, the readers on the other."""

import json
from collections import Counter

import pytest
import yaml

import chatmem_lab as cml
from chatmem_lab.errors import TranscriptError

TRAJECTORIES = [
    "flash.traj",
    "function_calling_simple.traj",
    "humanevalfix-python-0.traj",
    "i_got_id_demo.traj",
    "katy.traj",
    "marshmallow-code__marshmallow-1867.traj",
    "pydicom__pydicom-1458.traj",
    "warmup.traj",
]


@pytest.fixture(scope="module")
def tau_bench(transcripts):
    path = transcripts / "tau-bench" / "gpt-4o-airline.json"
    return json.loads(path.read_text(encoding="utf-8")), cml.read(path)


def calls_in(message):
    return [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or []
    ]


def calls_of(message):
    return [(call.id, call.name, call.arguments) for call in message.tool_calls]


def test_tau_bench_is_complete(tau_bench):
    runs, conversations = tau_bench
    assert len(conversations) == len(runs) == 200
    assert sum(len(conversation) for conversation in conversations) == 5_308
    assert sum(len(run["traj"]) for run in runs) == 5_308
    with_calls = [m for c in conversations for m in c.messages if m.tool_calls]
    assert len(with_calls) == 1_164
    assert max(map(len, conversations)) == 62
    (read,) = conversations.report.read
    assert (read.format, read.conversations, read.messages) == ("tau_bench", 200, 5_308)
    assert not conversations.report.skipped
    assert not conversations.report.repaired


def test_tau_bench_message_by_message(tau_bench):
    runs, conversations = tau_bench
    for run, conversation in zip(runs, conversations, strict=True):
        for raw, message in zip(run["traj"], conversation.messages, strict=True):
            assert message.role == raw["role"]
            assert message.text == (raw["content"] or "")
            assert calls_of(message) == calls_in(raw)
            assert message.tool_call_id == raw.get("tool_call_id")
            assert message.name == raw.get("name")
            assert message.generated
        assert len(conversation.requests) == sum(m["role"] == "assistant" for m in run["traj"])


def test_tau_bench_runs_have_their_facts(tau_bench):
    runs, conversations = tau_bench
    ids = [conversation.id for conversation in conversations]
    assert len(set(ids)) == 200
    assert ids == [f"task-{run['task_id']}/trial-{run['trial']}" for run in runs]
    for run, conversation in zip(runs, conversations, strict=True):
        for key in ("task_id", "trial", "reward"):
            assert conversation.metadata[key] == run[key]
        assert conversation.extra["info"] == run["info"]
    rewards = [conversation.metadata["reward"] for conversation in conversations]
    assert sum(rewards) == sum(run["reward"] for run in runs)


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_swe_agent_trajectories(transcripts, name):
    path = transcripts / "swe-agent" / name
    raw = json.loads(path.read_text(encoding="utf-8"))
    (conversation,) = cml.read(path)
    assert conversation.id == name.removesuffix(".traj")
    compare(raw, conversation)
    assert [conversation.messages[i].role for i in conversation.requests] == ["assistant"] * sum(
        entry["role"] == "assistant" for entry in raw["history"]
    )


def test_a_swe_agent_demonstration_in_yaml(transcripts):
    path = transcripts / "swe-agent" / "str_replace_anthropic_demo.yaml"
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    (conversation,) = cml.read(path)
    compare(raw, conversation)
    assert Counter(m.role for m in conversation.messages) == {
        "user": 1,
        "assistant": 4,
        "tool": 4,
    }
    assert [len(unit) for unit in conversation.units] == [1, 2, 2, 2, 2]


def compare(raw, conversation):
    assert len(conversation) == len(raw["history"])
    for entry, message in zip(raw["history"], conversation.messages, strict=True):
        assert message.role == entry["role"]
        assert message.text == entry["content"]
        assert calls_of(message) == calls_in(entry)
        assert message.tool_call_id == (entry.get("tool_call_ids") or [None])[0]
        for key in ("thought", "action", "agent", "message_type"):
            if key in entry:
                assert message.extra[key] == entry[key]
    for key in ("environment", "info", "replay_config"):
        if key in raw:
            assert conversation.extra[key] == raw[key]


def test_the_folder_of_swe_agent(transcripts):
    folder = transcripts / "swe-agent"
    conversations = cml.read(folder)
    assert len(conversations) == len(conversations.report.read) == 9
    skipped = {note.source.rpartition("/")[2] for note in conversations.report.skipped}
    assert skipped == {"LICENSE"}


def test_the_few_shots_of_tau_bench_are_no_transcript(transcripts):
    conversations = cml.read(transcripts / "tau-bench")
    assert len(conversations) == 200
    skipped = {note.source.rpartition("/")[2] for note in conversations.report.skipped}
    assert skipped == {"LICENSE", "MockAirlineDomainEnv-few_shot.jsonl"}


def test_no_other_format_is_taken_for_one_of_these(transcripts):
    taken = []
    for path in sorted(transcripts.rglob("*")):
        if path.is_file() and path.parent.name not in ("tau-bench", "swe-agent"):
            try:
                cml.read(path)
            except ValueError as error:
                assert isinstance(error, TranscriptError)  # noqa: PT017
            else:
                taken.append(path.name)
    assert taken == []
