"""`AsRecorded` by hand, and on a memory's own recording."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import Conversation, RecordedEvent, assistant
from chatmem_lab.policies import AsRecorded, MessageWindow, Summarize
from chatmem_lab.policies.amounts import Messages
from chatmem_lab.summarizers import Truncate
from chatmem_lab.testing import LengthCounter, check_policy
from replaying import chat

SUMMARY = assistant("what was said")


def windows(messages, *events):
    conversation = Conversation("recorded", tuple(messages), recorded_events=events)
    run = cml.replay(conversation, AsRecorded(), counter=LengthCounter())
    return [[slot.position for slot in run.window(r).slots] for r in range(len(run.requests))], run


def test_a_compaction_puts_its_message_in_the_place_of_what_was_before():
    shown, run = windows(chat("suauaua"), RecordedEvent(5, "compaction", made=SUMMARY))
    assert shown == [[0, 1], [0, 1, 2, 3], [0, None, 5]]
    assert run.window(2).messages[1] is SUMMARY
    shown, _ = windows(
        chat("suauaua"),
        RecordedEvent(3, "compaction", made=SUMMARY),
        RecordedEvent(5, "compaction", made=SUMMARY),
    )
    assert shown == [[0, 1], [0, None, 3], [0, None, 5]]


def test_positions_say_which_messages_it_concerned():
    kept_users = RecordedEvent(5, "compacted", made=SUMMARY, extra={"positions": [2, 4]})
    assert windows(chat("suauaua"), kept_users)[0][2] == [0, 1, None, 3, 5]
    dropped = RecordedEvent(5, "evict", extra={"positions": [1, 2]})
    assert windows(chat("suauaua"), dropped)[0][2] == [0, 3, 4, 5]


def test_what_was_cleared_stays_with_other_content():
    cleared = RecordedEvent(3, "clear", extra={"positions": [1], "placeholder": "[gone]"})
    shown, run = windows(chat("suaua"), cleared)
    assert shown[1] == [0, 1, 2, 3]
    assert run.window(1).messages[1].text == "[gone]"


def test_several_at_one_place_all_happen():
    events = (
        RecordedEvent(3, "evict", extra={"positions": [1]}),
        RecordedEvent(3, "evict", extra={"positions": [2]}),
        RecordedEvent(3, "over_budget"),
    )
    assert windows(chat("suaua"), *events)[0][1] == [0, 3]


def test_without_events_it_keeps_everything():
    assert windows(chat("suaua"))[0] == [[0, 1], [0, 1, 2, 3]]


def test_a_live_memory_has_no_recording():
    with pytest.raises(PolicyError, match="a live memory has none"):
        ChatMemory(AsRecorded(), id="x")


@pytest.mark.parametrize(
    "policy",
    [
        MessageWindow(6),
        Summarize(Truncate(60), trigger=Messages(8), keep=Messages(4)),
    ],
)
def test_what_a_memory_did_is_what_its_recording_replays(policy):
    source = cml.datasets.load("planning")[0]
    memory = ChatMemory(policy, id="x", model="gpt-4o")
    memory.add_all(source.messages)
    recording = memory.conversation()
    ours = cml.replay(recording, policy, model="gpt-4o")
    again = cml.replay(recording, AsRecorded(), model="gpt-4o")
    for request in range(len(ours.requests)):
        assert again.window(request).messages == ours.window(request).messages


def test_it_holds_its_contract():
    check_policy(AsRecorded(), examples=40)
