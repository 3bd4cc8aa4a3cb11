"""The openai package's own types take every projection of every real transcript.

The types of assistant messages and of reasoning items ask for an `id`, because they describe
what comes back from the API; what is sent needs none, and none is sent. Here a placeholder
stands in for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter, ValidationError

import chatmem_lab as cml
from chatmem_lab.projections import to_anthropic, to_chat, to_responses
from provider_rules import anthropic_faults, chat_faults, chat_pairing_faults, responses_faults

CHAT = TypeAdapter(list[ChatCompletionMessageParam])
RESPONSES = TypeAdapter(list[ResponseInputItemParam])


@pytest.fixture(scope="module")
def conversations(transcripts):
    """Every conversation that a reader can load by now, by its file's folder."""
    found = {}
    for folder in sorted(path for path in transcripts.iterdir() if path.is_dir()):
        found[folder.name] = cml.read(folder, lenient=True)
    return found


@pytest.fixture(scope="module")
def every_conversation(conversations):
    return [one for some in conversations.values() for one in some]


def checked(adapter, projected):
    """Validated to the last leaf: pydantic looks into an `Iterable` only when it is walked."""
    walk(adapter.validate_python(projected, strict=True))


def walk(value):
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple | Iterator):
        return
    for one in value:
        walk(one)


def with_placeholder_ids(items):
    return [
        {"id": "placeholder", **item}
        if item.get("role") == "assistant" or item["type"] == "reasoning"
        else item
        for item in items
    ]


def test_the_check_looks_into_every_part():
    good = {"role": "assistant", "content": [{"type": "text", "text": "a"}]}
    checked(CHAT, [good])
    with pytest.raises(ValidationError):
        checked(CHAT, [{**good, "content": [{"type": "text", "text": 1}]}])
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {}}}
    with pytest.raises(ValidationError):
        checked(CHAT, [{**good, "tool_calls": [call]}])
    part = {"type": "output_text", "text": "a", "annotations": [{}]}
    item = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
    with pytest.raises(ValidationError):
        checked(RESPONSES, with_placeholder_ids([item]))


def test_the_readers_loaded_something(conversations):
    assert len(conversations["tau-bench"]) == 200
    assert len(conversations["swe-agent"]) == 9


def test_chat(every_conversation):
    for conversation in every_conversation:
        projected = to_chat(conversation, repair=True)
        checked(CHAT, list(projected))
        assert chat_faults(projected) == [], conversation.id


def test_responses(every_conversation):
    for conversation in every_conversation:
        projected = to_responses(conversation, repair=True)
        checked(RESPONSES, with_placeholder_ids(projected))
        assert responses_faults(projected) == [], conversation.id


def test_anthropic(every_conversation):
    """No types here: that package is not installed. The judge alone."""
    for conversation in every_conversation:
        projected = to_anthropic(conversation, repair=True)
        assert anthropic_faults(projected) == [], conversation.id


@pytest.fixture(scope="module")
def raw_runs(transcripts):
    """tau-bench as plain JSON: Chat messages already."""
    runs = json.loads((transcripts / "tau-bench" / "gpt-4o-airline.json").read_text())
    return [run["traj"] for run in runs]


def test_tau_bench_was_recorded_in_good_order(raw_runs):
    paired = [[{**m, "tool_calls": m.get("tool_calls") or []} for m in run] for run in raw_runs]
    assert [chat_pairing_faults(run) for run in paired] == [[]] * 200


@pytest.mark.parametrize("project", [to_chat, to_responses, to_anthropic])
def test_tau_bench_and_swe_agent_need_no_repair(project, conversations):
    recorded = [*conversations["tau-bench"], *conversations["swe-agent"]]
    assert [project(one).repairs for one in recorded] == [()] * 209


def test_tau_bench_in_chat_is_what_was_recorded(conversations, raw_runs):
    """But for the tool's name, which Chat does not take, and for calls that are none."""
    for conversation, run in zip(conversations["tau-bench"], raw_runs, strict=True):
        sent = [{**m, "content": m["content"] or None} for m in to_chat_with_content(conversation)]
        assert sent == [recorded(message) for message in run]


def to_chat_with_content(conversation):
    return [{"content": None, **message} for message in to_chat(conversation)]


def recorded(message):
    kept = {k: v for k, v in message.items() if v is not None and k != "name"}
    return {**kept, "content": message["content"] or None}


def test_tau_bench_for_anthropic_has_ids_that_are_unique(conversations, raw_runs):
    """49 of 200 runs use a call id again; Anthropic refuses that. Its first use keeps it."""
    repeating = 0
    for conversation, run in zip(conversations["tau-bench"], raw_runs, strict=True):
        ids = [call["id"] for message in run for call in message.get("tool_calls") or ()]
        sent = [
            block["id"]
            for message in to_anthropic(conversation)["messages"]
            for block in message["content"]
            if block["type"] == "tool_use"
        ]
        seen = set()
        for call_id, sent_id in zip(ids, sent, strict=True):
            assert (sent_id == call_id) == (call_id not in seen)
            seen.add(call_id)
        repeating += len(seen) < len(ids)
    assert repeating == 49
