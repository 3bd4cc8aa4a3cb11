"""The data in `datasets/` is what its card says, counted from plain JSON."""

import json
import re
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from chatmem_lab.messages import Message, RecordedEvent

FOLDER = Path(__file__).resolve().parent.parent / "datasets"
CARD = (FOLDER / "README.md").read_text(encoding="utf-8")
FILES = sorted(FOLDER.glob("*.jsonl"))

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


def conversations(path):
    """(header, messages) per conversation, from plain JSON."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if "format" in record:
            found.append((record, []))
        elif "role" in record:
            found[-1][1].append(record)
        else:
            assert set(record) == {"event"}
    return found


def calls(messages):
    return [call for message in messages for call in message.get("tool_calls", [])]


def requests(messages):
    return [m for m in messages if m["role"] == "assistant" and m.get("generated", True)]


def table(first_column):
    """The rows of the card's table with that first column, as dicts; code marks left out."""
    found = re.search(rf"^\| {first_column} \|(?:.*\n)+?(?=\n|\Z)", CARD, flags=re.MULTILINE)
    assert found, f"the card has no table whose first column is {first_column!r}"
    names, _, *rows = (
        [cell.strip().strip("`") for cell in line.strip("| ").split(" | ")]
        for line in found.group().splitlines()
    )
    assert all(len(row) == len(names) for row in rows)
    return [dict(zip(names, row)) for row in rows]


def test_there_is_data():
    assert {"support.jsonl"} <= {path.name for path in FILES}


def test_the_card_says_first_that_nobody_was_recorded():
    first = CARD.splitlines()[0]
    assert first == "These conversations were written for this project, not recorded from users."


@each_file
def test_each_line_is_the_own_format_to_the_byte(path):
    raw = path.read_bytes()
    assert raw.endswith(b"\n")
    lines = raw.removesuffix(b"\n").split(b"\n")
    assert lines[0].startswith(b'{"format":1,"id":')
    for number, line in enumerate(lines, start=1):
        if line.startswith(b'{"role":'):
            again = msgspec.json.encode(msgspec.json.decode(line, type=Message, strict=True))
        elif line.startswith(b'{"event":'):
            event = msgspec.json.decode(line, type=dict[str, RecordedEvent])
            again = msgspec.json.encode(event)
        else:
            header = msgspec.json.decode(line)
            assert header["format"] == 1
            assert set(header) <= {
                *("format", "id", "model", "tools", "created_at", "source", "metadata", "extra")
            }
            assert None not in header.values()
            again = msgspec.json.encode(header)
        assert again == line, f"{path.name}, line {number}"


@each_file
def test_messages_hold_only_the_fields_of_a_message(path):
    fields = set(Message.__struct_fields__)
    for _, messages in conversations(path):
        assert messages
        assert all(set(message) <= fields for message in messages)


@each_file
def test_every_tool_call_is_answered_before_anything_else_is_said(path):
    for header, messages in conversations(path):
        waiting = set()
        for position, message in enumerate(messages):
            place = f"{path.name}, {header['id']}, message {position}"
            if message["role"] == "tool":
                assert message["tool_call_id"] in waiting, place
                waiting.remove(message["tool_call_id"])
            else:
                assert not waiting, place
                waiting = {call["id"] for call in message.get("tool_calls", [])}
        assert not waiting, header["id"]


@each_file
def test_calls_fit_the_tools_of_the_header(path):
    for header, messages in conversations(path):
        schemas = {}
        for tool in header.get("tools", []):
            assert tool["type"] == "function"
            function = tool["function"]
            assert function["name"] not in schemas
            schemas[function["name"]] = function["parameters"]
        for call in calls(messages):
            arguments = json.loads(call["arguments"])
            schema = schemas[call["name"]]
            assert set(arguments) <= set(schema["properties"]), (header["id"], call)
            assert set(schema.get("required", ())) <= set(arguments), (header["id"], call)


def test_ids_are_unique():
    everything = [conversation for path in FILES for conversation in conversations(path)]
    ids = [header["id"] for header, _ in everything]
    assert len(ids) == len(set(ids))
    for header, messages in everything:
        of_messages = [message["id"] for message in messages if "id" in message]
        of_calls = [call["id"] for call in calls(messages)]
        assert len(of_messages) == len(set(of_messages)), header["id"]
        assert len(of_calls) == len(set(of_calls)), header["id"]


@each_file
def test_times_have_a_zone_and_never_run_backwards(path):
    for header, messages in conversations(path):
        times = [
            datetime.fromisoformat(message["created_at"])
            for message in messages
            if "created_at" in message
        ]
        assert all(time.utcoffset() is not None for time in times), header["id"]
        assert times == sorted(times), header["id"]


@each_file
def test_mail_addresses_lead_to_nobody(path):
    domains = set(re.findall(r"[\w.+-]+@((?:[\w-]+\.)+[A-Za-z]{2,})\b", path.read_text("utf-8")))
    assert domains <= {"example.com", "example.org"}


def test_the_card_counts_each_data_set():
    expected = []
    for path in FILES:
        found = conversations(path)
        expected.append(
            {
                "data set": path.name,
                "conversations": str(len(found)),
                "messages": str(sum(len(messages) for _, messages in found)),
                "requests": str(sum(len(requests(messages)) for _, messages in found)),
                "tool calls": str(sum(len(calls(messages)) for _, messages in found)),
                "tools": str(sum(len(header.get("tools", ())) for header, _ in found)),
                "licence": "MIT",
            }
        )
    rows = table("data set")
    assert all(row.pop("what it is") for row in rows)
    assert sorted(rows, key=lambda row: row["data set"]) == expected


def test_the_card_counts_each_conversation():
    expected = []
    for path in FILES:
        for header, messages in conversations(path):
            roles = [message["role"] for message in messages]
            used = any("usage" in message for message in messages)
            expected.append(
                {
                    "conversation": header["id"],
                    "data set": path.name,
                    "messages": str(len(messages)),
                    "user": str(roles.count("user")),
                    "assistant": str(roles.count("assistant")),
                    "tool results": str(roles.count("tool")),
                    "tool errors": str(sum(m.get("is_error", False) for m in messages)),
                    "recorded usage": "yes" if used else "no",
                }
            )
    rows = table("conversation")
    assert all(row.pop("about") for row in rows)
    assert sorted(rows, key=lambda row: row["conversation"]) == sorted(
        expected, key=lambda row: row["conversation"]
    )
