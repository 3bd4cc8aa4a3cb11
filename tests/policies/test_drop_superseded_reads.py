"""`DropSupersededReads` by hand."""

from __future__ import annotations

import json

import pytest

import chatmem_lab as cml
from chatmem_lab.messages import ToolCall, assistant, tool_output, user
from chatmem_lab.policies import DropSupersededReads
from replaying import trace_of

BODY = "the content of a file, long enough to be worth a stub in its place"


def read(n, arguments, name="read_file", text=BODY, is_error=False):
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments)
    return [
        assistant(tool_calls=[ToolCall(f"c{n}", name, arguments)]),
        tool_output(f"c{n}", text, is_error=is_error),
    ]


def stale(*reads, policy=None):
    messages = [user("go"), *(m for pair in reads for m in pair)]
    window = trace_of(messages, policy or DropSupersededReads()).window(-1)
    return [s.position for s in window.slots if s.state == "cleared"]


def test_only_the_newest_read_of_a_file_keeps_its_content():
    # results at 2, 4, 6, 8
    assert stale(
        read(1, {"path": "a.py"}),
        read(2, {"path": "b.py"}),
        read(3, {"path": "a.py"}),
        read(4, {"path": "a.py"}),
    ) == [2, 6]


@pytest.mark.parametrize(
    ("first", "second", "dropped"),
    [
        ({"path": "a", "start": 1}, {"path": "a", "start": 1}, True),
        ({"path": "a", "start": 1}, {"start": 1, "path": "a"}, True),
        ({"path": "a", "start": 1}, {"path": "a"}, True),
        ({"path": "a"}, {"path": "a", "start": 1}, False),
        ({"path": "a", "start": 1}, {"path": "a", "start": 9}, False),
        ({"path": "a"}, {"path": "A"}, False),
        ({"path": "a"}, {"file_path": "a"}, True),
        ({"where": "a"}, {"where": "a"}, False),
        ('{"path": "a"', '{"path": "a"', False),
        ("[1]", "[1]", False),
        ({"path": 3}, {"path": 3}, False),
    ],
)
def test_a_part_of_a_file_does_not_supersede_the_whole(first, second, dropped):
    assert stale(read(1, first), read(2, second)) == ([2] if dropped else [])


def test_a_failed_read_supersedes_nothing():
    again = read(2, {"path": "a"}, text="no such file", is_error=True)
    assert stale(read(1, {"path": "a"}), again) == []


def test_what_was_written_since_is_out_of_date():
    write = read(2, {"path": "a", "text": "new"}, name="edit_file", text="ok")
    assert stale(read(1, {"path": "a"}), write) == []
    policy = DropSupersededReads(writers=("edit_file",))
    assert stale(read(1, {"path": "a"}), write, policy=policy) == [2]


def test_other_tools_are_none_of_its_business():
    assert stale(read(1, {"path": "a"}, name="run"), read(2, {"path": "a"}, name="run")) == []


def test_on_a_recorded_run_the_same_reads_as_a_plain_recount():
    conversation = cml.datasets.load("coding")[0]
    messages = conversation.messages
    expected, last = set(), {}
    for i, message in enumerate(messages):
        for call in message.tool_calls:
            if call.name != "read_file":
                continue
            at = next(j for j in range(i, len(messages)) if messages[j].tool_call_id == call.id)
            arguments = json.loads(call.arguments)
            for key, (others, where) in list(last.items()):
                if key[0] == arguments["path"] and (others == arguments or len(arguments) == 1):
                    expected.add(where)
                    del last[key]
            last[arguments["path"], at] = (arguments, at)
    run = cml.replay(conversation, DropSupersededReads(), model="gpt-4o")
    cleared = {s.position for s in run.final.slots if s.state == "cleared"}
    assert cleared == expected
    assert cleared
