"""Calls are joined to conversations by what extends what."""

import json

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import TranscriptError


def call(id, after=None, *texts, incomplete=False, **more):
    said = texts or (f"q{id}", f"a{id}")
    roles = ["assistant" if i % 2 else "user" for i in range(len(said))]
    new = [
        {"role": role, "parts": [{"type": "text", "text": text}]}
        for role, text in zip(roles, said)
    ]
    if incomplete:
        new[-1]["metadata"] = {"incomplete": True}
    link = {} if after is None else {"after": after}
    return {"recorded": 1, "id": id, "at": "2026-03-01T09:30:00Z", "new": new, **link, **more}


def read(*records, **options):
    return cml.read(b"".join(json.dumps(one).encode() + b"\n" for one in records), **options)


def outline(conversations):
    return {c.id: " ".join(message.text for message in c.messages) for c in conversations}


def test_calls_that_extend_each_other_are_one_conversation():
    (conversation,) = read(call("1", model="a"), call("2", "1", model="b"), call("3", "2"))
    assert outline([conversation]) == {"1": "q1 a1 q2 a2 q3 a3"}
    assert conversation.extra is None
    assert conversation.created_at.isoformat() == "2026-03-01T09:30:00+00:00"


def test_conversations_that_are_interleaved():
    conversations = read(call("1"), call("2"), call("3", "1"), call("4", "2"))
    assert outline(conversations) == {"1": "q1 a1 q3 a3", "2": "q2 a2 q4 a4"}


def test_the_latest_goes_on_and_the_others_are_branches():
    conversations = read(call("1"), call("2", "1"), call("3", "2"), call("4", "1"), call("5", "2"))
    assert outline(conversations) == {
        "1": "q1 a1 q4 a4",
        "2": "q1 a1 q2 a2 q5 a5",
        "3": "q1 a1 q2 a2 q3 a3",
    }
    assert [c.requests for c in conversations] == [[1, 3], [3, 5], [5]]
    assert [c.extra for c in conversations] == [
        None,
        {"branch_of": "1", "shared_messages": 2},
        {"branch_of": "2", "shared_messages": 4},
    ]


@pytest.mark.parametrize("broken", [2, 3])
def test_what_broke_off_does_not_go_on_where_something_whole_does(broken):
    records = [call("1"), *(call(str(n), "1", incomplete=n == broken) for n in (2, 3))]
    active, branch = read(*records)
    assert outline([active])["1"].endswith(f"a{5 - broken}")
    assert branch.id == str(broken)


def test_what_broke_off_goes_on_where_nothing_else_does():
    assert outline(read(call("1"), call("2", "1", incomplete=True))) == {"1": "q1 a1 q2 a2"}


def test_tools_and_model_are_the_last_ones():
    tools = [{"type": "function", "function": {"name": "f"}}]
    first, second, third = call("1", model="a"), call("2", "1", tools=tools), call("3", "2")
    (conversation,) = read(first, second, {**third, "model": "b"})
    assert (conversation.tools, conversation.model) == (tuple(tools), "b")
    (conversation,) = read(first, second, {**third, "tools": []})
    assert conversation.tools == ()


def test_what_was_not_recorded_is_named():
    (conversation,) = read(call("1", unknown="resp_9"))
    assert conversation.extra == {"continues": "resp_9"}


def test_a_call_that_is_not_there_is_a_note():
    conversations = read(call("1"), call("3", "2"), call("4", "3"))
    assert outline(conversations) == {"1": "q1 a1", "3": "q3 a3 q4 a4"}
    (note,) = conversations.report.repaired
    assert (note.line, "'2', which is not there" in note.reason) == (2, True)


def test_files_can_be_joined():
    a, b = ([call(f"{name}1"), call(f"{name}2", f"{name}1")] for name in "ab")
    assert outline(read(*a, *b)) == {"a1": "qa1 aa1 qa2 aa2", "b1": "qb1 ab1 qb2 ab2"}


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (call("1"), "'1' was recorded before"),
        ({**call("2"), "recorded": 2}, "is no recorded call"),
        ({**call("2"), "new": []}, "new must hold"),
        ({**call("2"), "instructions": 2}, "new must hold"),
        ({**call("2"), "instructions": -1}, "new must hold"),
        ({**call("2"), "afer": "1"}, "afer"),
        ({**call("2"), "new": [{"role": "owl"}]}, "owl"),
        ([], "is no recorded call"),
    ],
)
def test_a_line_that_is_wrong_is_named_or_left_out(wrong, what):
    with pytest.raises(TranscriptError, match=f"line 2: .*{what}"):
        read(call("1"), wrong, call("3", "1"))
    conversations = read(call("1"), wrong, call("3", "1"), lenient=True)
    assert outline(conversations) == {"1": "q1 a1 q3 a3"}
    assert len(conversations.report.skipped) == 1


def test_a_line_that_is_torn_is_left_out_wherever_it_stands():
    lines = [json.dumps(call(id, after)).encode() for id, after in [("1", None), ("2", "1")]]
    for cut in range(1, len(lines[0])):
        for torn in (lines[0][:cut], b'{"recorded":1,"id":"\xc3'):
            data = b"\n".join([lines[0], torn, lines[1]])
            conversations = cml.read(data)
            assert outline(conversations) == {"1": "q1 a1 q2 a2"}
            assert [note.line for note in conversations.report.skipped] == [2]


def test_a_conversation_of_many_calls_is_read_in_one_go():
    records = [call(str(n), str(n - 1) if n else None) for n in range(3_000)]
    (conversation,) = read(*records)
    assert len(conversation) == 6_000


def test_it_can_be_written_and_read_again(tmp_path):
    conversations = read(call("1"), call("2", "1"), call("3", "1"))
    written = cml.write(conversations, tmp_path / "own.jsonl")
    assert list(cml.read(written)) == list(conversations)
