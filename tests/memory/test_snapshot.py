"""Snapshots: complete in themselves, the same after any journey, refused where damaged."""

from __future__ import annotations

import json
import warnings

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatmem_lab.errors import MessageError, SnapshotError
from chatmem_lab.memory import ChatMemory, Snapshot
from chatmem_lab.messages import Message, Text, ToolCall, assistant, tool_output, user
from chatmem_lab.policies import (
    ClearToolResults,
    KeepAll,
    Messages,
    MessageWindow,
    Summarize,
    policy_from,
)
from chatmem_lab.stores import Placed
from chatmem_lab.summarizers import Truncate, summarizer_from
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.testing.strategies import message_lists
from replaying import calls
from test_memory import POLICIES


def memory_of(policy=None, id="test", **options):
    return ChatMemory(policy, id=id, counter=LengthCounter(), **options)


@summarizer_from
def never(messages):
    raise RuntimeError("no summarizer today")


def every_second(messages):
    return messages[::2]


MORE_POLICIES = [
    Summarize(never, trigger=Messages(4), keep=Messages(2)),
    Summarize(Truncate(20), trigger=Messages(3), keep=Messages(1), role="system", place="front"),
    policy_from(every_second, sees="history"),
]


@pytest.mark.parametrize("policy", [*POLICIES, *MORE_POLICIES], ids=repr)
@settings(max_examples=40)
@given(messages=message_lists(tidy=True, max_size=24), data=st.data())
def test_what_is_restored_gives_the_same_snapshot_again(policy, messages, data):
    memory = memory_of(policy)
    reads_at = data.draw(st.sets(st.integers(0, 24)), label="reads at")
    for number, message in enumerate(messages):
        memory.add(message)
        if number in reads_at:
            assert len(memory.messages) <= number + 1
    snapshot = memory.snapshot()
    text = snapshot.to_json()
    assert Snapshot.from_json(text) == snapshot
    assert Snapshot.from_json(text).to_json() == text
    assert Snapshot.from_json(text.encode()) == snapshot
    memory.add_user("what came later")
    assert Snapshot.from_json(text) == snapshot
    memory.restore(snapshot)
    assert memory.snapshot() == snapshot
    other = memory_of(policy, id="other")
    other.add_user("what is left")
    other.restore(Snapshot.from_json(text))
    assert msgspec.structs.replace(other.snapshot(), id="test") == snapshot
    assert [m.key for m in other.messages] == [m.key for m in memory.messages]


def test_a_snapshot_holds_every_fact_of_every_message():
    tools = [{"type": "function", "function": {"name": "f"}}]
    memory = memory_of(MessageWindow(2), model="gpt-4o", tools=tools)
    facts = {"tags": ["a", 1, 2.5, None, True, {"deep": []}]}
    memory.add_user("look", images=["https://example.org/a.png"], metadata=facts)
    memory.add_assistant("so", tool_calls=[ToolCall("c1", "f", '{ "q" :1}')])
    memory.add_tool_output("c1", "no", is_error=True)
    memory.add(Message("user", (Text("hi"),), name="ada", id="m1", extra={"x": {"y": [1]}}))
    snapshot = Snapshot.from_json(memory.snapshot().to_json())
    assert snapshot.messages == memory.history
    assert snapshot.messages[0].metadata == facts
    assert snapshot.messages[1].tool_calls[0].arguments == '{ "q" :1}'
    assert snapshot.messages[2].is_error
    assert snapshot.messages[3].extra == {"x": {"y": [1]}}
    assert snapshot.tools == ({"type": "function", "function": {"name": "f"}},)
    assert [placed.position for placed in snapshot.window] == [3]
    assert snapshot.policy == "MessageWindow(2)"
    assert snapshot.conversation().messages == memory.history
    assert snapshot.conversation().tools == memory.tools
    assert (snapshot.model, snapshot.conversation().model) == ("gpt-4o", "gpt-4o")
    assert repr(snapshot) == "<Snapshot of 'test': 4 messages, 1 in the window>"


def test_nothing_that_comes_later_changes_a_snapshot():
    memory = memory_of(MessageWindow(2))
    memory.add_user("a", metadata={"tags": ["t"]})
    snapshot = memory.snapshot()
    text = snapshot.to_json()
    memory.add_user("b")
    memory.clear()
    memory.set_policy(KeepAll())
    assert snapshot.to_json() == text


def test_nothing_written_into_a_snapshot_changes_the_memory_it_was_taken_of_or_restored_in():
    memory = memory_of(tools=[{"name": "f"}])
    memory.add(Message("user", (Text("a"),), metadata={"tags": ["t"]}, extra={"n": []}))
    snapshot = memory.snapshot()
    other = memory_of(id="other")
    other.restore(snapshot)
    snapshot.messages[0].metadata["tags"].append("u")
    snapshot.messages[0].extra["n"].append(1)
    snapshot.tools[0]["name"] = "g"
    for one in (memory, other):
        assert one.history[0].metadata == {"tags": ["t"]}
        assert one.history[0].extra == {"n": []}
    assert memory.tools == ({"name": "f"},)


def with_a_cleared_result():
    memory = memory_of(ClearToolResults(1, placeholder="[x]"))
    for call_id in ("c1", "c2"):
        memory.add(calls(call_id))
        memory.add(tool_output(call_id, "a long result", metadata={"tags": ["t"]}))
    assert [m.text for m in memory.messages] == ["", "[x]", "", "a long result"]
    return memory


def test_nothing_written_into_the_window_of_a_snapshot_changes_the_history():
    memory = with_a_cleared_result()
    memory.snapshot().window[1].message.metadata["tags"].append("spoiled")
    assert [m.metadata for m in memory.history[1::2]] == [{"tags": ["t"]}] * 2
    assert [m.metadata for m in memory.messages[1::2]] == [{"tags": ["t"]}] * 2


def test_nothing_written_into_the_window_of_a_snapshot_changes_what_was_restored_from_it():
    snapshot = Snapshot.from_json(with_a_cleared_result().snapshot().to_json())
    memory = memory_of(ClearToolResults(1, placeholder="[x]"))
    memory.restore(snapshot)
    snapshot.window[1].message.metadata["tags"].append("spoiled")
    assert [m.metadata for m in memory.messages[1::2]] == [{"tags": ["t"]}] * 2


def test_a_snapshot_is_restored_as_often_as_wanted():
    memory = memory_of()
    memory.add_user("a")
    snapshot = memory.snapshot()
    for letter in "bcd":
        memory.restore(snapshot)
        memory.add_assistant(letter)
    assert [m.text for m in memory.messages] == ["a", "d"]
    assert [[m.text for m in branch.messages] for branch in memory.branches] == [
        ["a"],
        ["a", "b"],
        ["a", "c"],
    ]


# --- text and numbers


def test_nul_survives_and_the_snapshot_is_one_line_of_json():
    memory = memory_of()
    memory.add_user("x\0y\n\u2028z", metadata={"a\0": "\0"})
    text = memory.snapshot().to_json()
    assert "\n" not in text
    assert json.loads(text)["messages"][0]["parts"][0]["text"] == "x\0y\n\u2028z"
    again = memory_of(id="again")
    again.restore(Snapshot.from_json(text))
    assert again.history == memory.history


def test_a_lone_surrogate_of_a_text_is_gone_before_a_snapshot_is_taken():
    memory = memory_of()
    with pytest.warns(UserWarning, match="U.FFFD"):
        memory.add_user("a\ud800b")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        snapshot = Snapshot.from_json(memory.snapshot().to_json())
    assert [m.text for m in snapshot.messages] == ["a\ufffdb"]


def test_a_lone_surrogate_of_a_fact_becomes_u_fffd_with_a_warning_at_the_latest_in_json():
    memory = memory_of()
    with pytest.warns(UserWarning, match="U.FFFD"):
        text = added_and_written(memory, {"k\udc00": ["\ud800"]})
    facts = Snapshot.from_json(text).messages[0].metadata
    assert facts == {"k\ufffd": ["\ufffd"]}


def added_and_written(memory, facts):
    memory.add_user("a", metadata=facts)
    return memory.snapshot().to_json()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_lacks_is_named_with_its_path(number):
    memory, tools = memory_of(), ({"name": "f", "parameters": {"most": number}},)
    with pytest.raises(SnapshotError, match=rf"'test'.*tools\[0\]\.parameters\.most = {number}"):
        Snapshot("test", tools=tools).to_json()
    built = Snapshot("x", (Message("user", (Text("a"),), metadata={"n": [number]}),))
    with pytest.raises(SnapshotError, match=rf"messages\[0\]\.metadata\.n\[0\] = {number}"):
        built.to_json()
    with pytest.raises(SnapshotError, match=rf"messages\[0\].*metadata\.n\[0\] = {number}"):
        memory.restore(built)


def test_what_json_cannot_hold_is_a_named_error():
    ring = {}
    ring["ring"] = ring
    for what in ({"what": object()}, ring):
        snapshot = Snapshot("test", (user("a", metadata=what),))
        with pytest.raises(SnapshotError, match="'test' holds what JSON cannot hold"):
            snapshot.to_json()


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        ({"a": [{"b": {1, 2}}]}, r"metadata\.a\[0\]\.b is a set"),
        ({"a": object()}, r"metadata\.a is an object"),
        ({1: "a"}, "metadata has the key 1"),
        ({"a": (1,)}, r"metadata\.a is a tuple"),
        ({"a": b"x"}, r"metadata\.a is a bytes"),
        ({"a": 2**64}, r"metadata\.a is a number of more than 64 bits"),
        (dict.fromkeys(["\ud800", "\ud801"], 1), "two keys"),
    ],
)
def test_facts_that_would_not_come_back_are_refused_at_the_door(facts, wanted):
    memory = memory_of()
    with pytest.raises(MessageError, match=wanted):
        memory.add_user("a", metadata=facts)
    deep = leaf = {}
    for _ in range(101):
        leaf["a"] = leaf = {}
    with pytest.raises(MessageError, match="nested more than 100 deep"):
        memory.add_user("a", metadata=deep)
    assert memory.history == ()


def test_facts_come_back_as_they_were():
    facts = {"a": [1, -(2**63), 2**64 - 1, 1.5, True, None, "x\0y", {"b": []}]}
    memory = memory_of()
    memory.add_user("a", metadata=facts)
    memory.restore(Snapshot.from_json(memory.snapshot().to_json()))
    assert memory.history[0].metadata == facts
    with pytest.warns(UserWarning, match="surrogate"):
        memory.add_user("b", metadata={"half": "\ud800"})
    assert memory.history[1].metadata == {"half": "\ufffd"}


# --- damage


def good():
    memory = memory_of(Summarize(Truncate(30), trigger=Messages(4), keep=Messages(3)))
    for number in range(6):
        memory.add_user(f"message number {number} " * 4)
    return json.loads(memory.snapshot().to_json())


def damaged(**fields):
    return {**good(), **fields}


def window_with(index, **fields):
    plain = good()
    plain["window"][index].update(fields)
    return plain


def message_with(**fields):
    plain = good()
    plain["messages"][1].update(fields)
    return plain


def without(*path):
    plain = good()
    inner = plain
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return plain


def test_the_snapshot_that_is_damaged_below_is_good():
    plain = good()
    snapshot = Snapshot.from_json(json.dumps(plain))
    memory = memory_of()
    memory.restore(snapshot)
    assert len(memory.history) == 6
    assert [placed.position for placed in snapshot.window] == [None, 3, 4, 5]


@pytest.mark.parametrize(
    ("plain", "wanted"),
    [
        ([], "object"),
        ("text", "object"),
        (None, "object"),
        ({}, "id"),
        (without("id"), "id"),
        (damaged(id=7), r"\$\.id"),
        (damaged(format=2), r"\$\.format"),
        (damaged(mesages=[]), "mesages"),
        (damaged(messages={}), r"\$\.messages"),
        (damaged(messages=["hi"]), r"\$\.messages\[0\]"),
        (message_with(role="robot"), r"robot"),
        (message_with(parts=[{"type": "song", "text": "la"}]), "song"),
        (
            message_with(parts=[{"type": "text", "text": 5}]),
            r"\$\.messages\[1\]\.parts\[0\]\.text",
        ),
        (message_with(tool_calls=[{"id": "c", "name": "f"}]), r"messages\[1\].*only an assistant"),
        (without("messages", 1, "role"), "role"),
        (damaged(messages=[]), r"window\[0\] stands at .* before 0"),
        (damaged(messages=good()["messages"][:5]), r"window\[3\] names message 5.* has 5"),
        (window_with(1, position=-1), r"window\[1\] names message -1"),
        (window_with(1, position="3"), r"\$\.window\[1\]\.position"),
        (window_with(2, position=3), r"window\[2\] shows message 3 again"),
        (window_with(1, order=-5.0), r"window\[1\] stands at -5\.0, not behind"),
        (window_with(2, order=3.0), r"window\[2\] stands at 3\.0, not behind 3\.0"),
        (window_with(1, state="lost"), r"\$\.window\[1\]\.state"),
        (window_with(1, colour="red"), "colour"),
        (without("window", 0, "message"), r"window\[0\] is a made message without content"),
        (damaged(given=-1), "given is -1"),
        (damaged(given=7), "given is 7, of 6 messages"),
        (damaged(given="all"), r"\$\.given"),
        (damaged(events=[{"kind": "evict"}]), r"\$\.events\[0\]"),
        (damaged(tools=["f"]), r"\$\.tools\[0\]"),
    ],
)
def test_each_kind_of_damage_is_named(plain, wanted):
    with pytest.raises(SnapshotError, match=wanted):
        Snapshot.from_json(json.dumps(plain))


def test_a_made_message_with_an_unknown_role_is_named():
    with pytest.raises(SnapshotError, match="robot"):
        Snapshot.from_json(json.dumps(window_with(0, message={"role": "robot"})))


@pytest.mark.parametrize(
    "plain",
    [
        window_with(1, state="made"),
        window_with(0, state="kept"),
        window_with(0, message={"role": "user", "tool_calls": [{"id": "c", "name": "f"}]}),
        window_with(1, message={"role": "assistant", "parts": [{"type": "text", "text": "no"}]}),
        damaged(events=[{**good()["events"][0], "position": 99}]),
    ],
    ids=[
        "an original that is made",
        "a made message that is kept",
        "a made message that no API takes",
        "an original as it never was",
        "an event of a message that is not there",
    ],
)
def test_damage_that_only_contradicts_itself_is_named_too(plain):
    with pytest.raises(SnapshotError):
        Snapshot.from_json(json.dumps(plain))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1,2", "\ufeff{}", b"\xff\xfe", '{"id":"a"} x', '{"id":NaN}', "[" * 100_000],
)
def test_text_that_is_no_json_is_named(text):
    with pytest.raises(SnapshotError, match="this is not a snapshot as JSON"):
        Snapshot.from_json(text)


@pytest.mark.parametrize("given", [None, 5, {"id": "a"}, ["a"]])
def test_what_is_no_text_is_named(given):
    with pytest.raises(SnapshotError, match="JSON text is wanted"):
        Snapshot.from_json(given)


@pytest.mark.parametrize("given", [None, "{}", {"id": "a"}, [user("a")]])
def test_only_a_snapshot_is_restored_and_nothing_changes_where_it_is_none(given):
    memory = memory_of()
    memory.add_user("a")
    with pytest.raises(SnapshotError, match="a Snapshot is wanted"):
        memory.restore(given)
    assert (len(memory.history), memory.branches) == (1, ())


@pytest.mark.parametrize(
    ("snapshot", "wanted"),
    [
        (Snapshot("a", (user("x"),), (Placed(0.0, 1),)), "names message 1"),
        (Snapshot("a", (user("x"),), (Placed(float("nan"), 0),)), "stands at nan"),
        (Snapshot("a", (user("x"),), (Placed(float("inf"), 0),)), "stands at inf"),
        (Snapshot("a", (user("x"),), (Placed(0.0, 0), Placed(1.0, 0))), "shows message 0 again"),
        (Snapshot("a", (Message("robot"),)), "role must be one of"),
        (Snapshot("a", (assistant("x"),), given=2), "given is 2"),
    ],
)
def test_a_damaged_snapshot_that_was_built_by_hand_is_not_restored(snapshot, wanted):
    memory = memory_of()
    memory.add_user("a")
    before = memory.snapshot()
    with pytest.raises(SnapshotError, match=wanted):
        memory.restore(snapshot)
    assert (memory.snapshot(), memory.branches) == (before, ())


# --- size


@pytest.mark.parametrize("policy", [KeepAll(), MessageWindow(20)], ids=repr)
def test_a_snapshot_grows_with_the_history_and_not_with_its_square(policy):
    sizes = {}
    for length in (2_500, 5_000, 10_000):
        memory = memory_of(policy)
        memory.add_all(user(f"{number:05}") for number in range(length))
        snapshot = memory.snapshot()
        text = snapshot.to_json()
        sizes[length] = len(text)
        assert len(snapshot.messages) == length
        assert text.count('"text":"00017"') == 1
        assert Snapshot.from_json(text) == snapshot
    assert sizes[10_000] - sizes[5_000] < 2.1 * (sizes[5_000] - sizes[2_500])
    assert sizes[10_000] < 400 * 10_000


class CountingCounter(LengthCounter):
    """Notes how many messages were counted."""

    counted = 0

    def count_message(self, message):
        self.counted += 1
        return super().count_message(message)


def test_taking_a_snapshot_counts_nothing_and_restoring_counts_each_message_once():
    counter = CountingCounter()
    memory = ChatMemory(MessageWindow(20), id="test", counter=counter)
    memory.add_all(user(f"{number:05}") for number in range(10_000))
    counter.counted = 0
    snapshot = memory.snapshot()
    assert counter.counted == 0
    memory.restore(snapshot)
    assert counter.counted == 0  # they are those that it had counted
