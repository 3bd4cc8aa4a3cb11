"""The file of calls: nothing is lost, whoever writes and whatever breaks."""

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

import chatmem_lab as cml
from chatmem_lab import ToolCall, assistant, system, tool_output, user
from chatmem_lab.assistants.call_log import CallLog
from chatmem_lab.assistants.sent import Sent
from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Reasoning, Text

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "calls.jsonl"


def write(log, *messages, reply, instructions=(), **more):
    log.append(Sent("gpt-5", tuple(instructions), messages, **more), reply, at=AT)


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def roles(record):
    return [message["role"] for message in record["new"]]


def test_a_record(path):
    write(CallLog(path), user("a"), reply=assistant("b"), instructions=[system("s")])
    (record,) = records(path)
    id = record.pop("id")
    assert len(id) == 16
    assert record == {
        "recorded": 1,
        "at": "2026-03-01T09:30:00Z",
        "model": "gpt-5",
        "instructions": 1,
        "new": [
            {
                "role": role,
                "parts": [{"type": "text", "text": text}],
                "created_at": "2026-03-01T09:30:00Z",
            }
            for role, text in [("system", "s"), ("user", "a")]
        ]
        + [{"role": "assistant", "parts": [{"type": "text", "text": "b"}]}],
    }


CALL = ToolCall("c1", "f", '{"a":1,"b":2}')


@pytest.mark.parametrize(
    ("got", "sent_again"),
    [
        (assistant("one two"), assistant(" one  two\n")),
        (assistant("", tool_calls=[CALL]), assistant(tool_calls=[CALL])),
        (
            assistant(tool_calls=[CALL]),
            assistant(tool_calls=[ToolCall("c1", "f", '{"b": 2, "a": 1}')]),
        ),
        (
            assistant(tool_calls=[ToolCall("c1", "f")]),
            assistant(tool_calls=[ToolCall("c1", "f", "{}")]),
        ),
        (
            replace(assistant(), parts=(Reasoning("hm", "rs_1"), Text("yes"))),
            assistant("yes"),
        ),
        (replace(assistant("a"), id="m1", model="gpt-5"), replace(assistant("a"), name="bot")),
    ],
)
def test_a_reply_is_known_again_though_it_comes_back_changed(path, got, sent_again):
    log = CallLog(path)
    write(log, user("q"), reply=got)
    write(log, user("q"), sent_again, user("r"), reply=assistant("x"))
    first, second = records(path)
    assert (second.get("after"), roles(second)) == (first["id"], ["user", "assistant"])


@pytest.mark.parametrize(
    "other",
    [
        assistant("no"),
        assistant("yes", tool_calls=[CALL]),
        user("yes"),
    ],
)
def test_another_reply_is_another_conversation(path, other):
    log = CallLog(path)
    write(log, user("q"), reply=assistant("yes"))
    write(log, user("q"), other, user("r"), reply=assistant("x"))
    assert [record.get("after") for record in records(path)] == [None, None]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (user("q"), user("q ")),
        (user("q"), user("q", name="ada")),
        (user("q", images=["https://a.example/1.png"]), user("q")),
        (tool_output("c1", "q"), tool_output("c2", "q")),
    ],
)
def test_another_question_is_another_conversation(path, before, now):
    log = CallLog(path)
    write(log, before, reply=assistant("yes"))
    write(log, now, assistant("yes"), user("r"), reply=assistant("x"))
    assert [record.get("after") for record in records(path)] == [None, None]


def test_the_longest_beginning_counts(path):
    log = CallLog(path)
    said = []
    for text in "abc":
        said += [user(text), assistant(text)]
        write(log, *said[:-1], reply=said[-1])
    write(log, *said[:4], user("d"), reply=assistant("d"))
    ids = [record["id"] for record in records(path)]
    assert [record.get("after") for record in records(path)] == [None, ids[0], ids[1], ids[1]]


def test_tools_are_written_when_they_change(path):
    log = CallLog(path)
    said = []
    for tools in [(), (), ({"type": "a"},), ({"type": "a"},), ()]:
        said += [user("q"), assistant("a")]
        write(log, *said[:-1], reply=said[-1], tools=tools)
    assert [record.get("tools") for record in records(path)] == [
        None,
        None,
        [{"type": "a"}],
        None,
        [],
    ]


def test_ids_of_the_server_lead_to_the_call(path):
    log = CallLog(path)
    sent = Sent("gpt-5", (), (user("a"),))
    log.append(sent, assistant("b"), at=AT, response="resp_1")
    write(log, user("c"), reply=assistant("d"), previous="resp_1")
    write(log, user("e"), reply=assistant("f"), session="conv_1")
    write(log, user("g"), reply=assistant("h"), session="conv_1")
    write(log, user("i"), reply=assistant("j"), previous="resp_9")
    ids = [record["id"] for record in records(path)]
    assert [record.get("after") for record in records(path)] == [
        None,
        ids[0],
        None,
        ids[2],
        None,
    ]
    assert [record.get("unknown") for record in records(path)] == [None] * 4 + ["resp_9"]


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_a_torn_line_spoils_nothing(path, kept):
    write(CallLog(path), user("a"), reply=assistant("b"))
    write(CallLog(path), user("x"), reply=assistant("y"))
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    path.write_bytes(data[: first + int((len(data) - first) * kept)])
    write(CallLog(path), user("a"), assistant("b"), user("c"), reply=assistant("d"))
    conversations = cml.read(path)
    assert [[message.text for message in c.messages] for c in conversations] == [list("abcd")]
    (note,) = conversations.report.skipped
    assert (note.line, "torn" in note.reason) == (2, True)


def test_a_file_that_is_taken_away(path):
    log = CallLog(path)
    write(log, user("a"), reply=assistant("b"))
    path.unlink()
    write(log, user("a"), assistant("b"), user("c"), reply=assistant("d"))
    (record,) = records(path)
    assert roles(record) == ["user", "assistant", "user", "assistant"]


def test_a_disk_that_is_full(path, monkeypatch):
    log = CallLog(path)
    write(log, user("a"), reply=assistant("b"))
    real = type(path).open

    class Full:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def __getattr__(self, name):
            return getattr(self.file, name)

        def write(self, data):
            return self.file.write(data[:9])

    def full(path, mode, **options):
        file = real(path, mode, **options)
        return Full(file) if mode == "ab+" else file

    with monkeypatch.context() as patch:
        patch.setattr(type(path), "open", full)
        with pytest.raises(OSError, match="9 of"):
            write(log, user("x"), reply=assistant("y"))
    write(log, user("a"), assistant("b"), user("c"), reply=assistant("d"))
    assert [len(conversation) for conversation in cml.read(path)] == [4]


def test_what_json_cannot_hold_is_an_error_and_leaves_nothing(path):
    reply = replace(assistant("b"), metadata={"a": float("nan")})
    with pytest.raises(TranscriptError, match=r"metadata\.a"):
        write(CallLog(path), user("a"), reply=reply)
    assert not path.exists()


WRITER = """
import sys
from datetime import UTC, datetime
from chatmem_lab import assistant, user
from chatmem_lab.assistants.call_log import CallLog
from chatmem_lab.assistants.sent import Sent
log = CallLog(sys.argv[1])
said = ()
for n in range(int(sys.argv[3])):
    said += (user(f"{sys.argv[2]} {n}"), assistant("x" * 3_000))
    log.append(Sent("gpt-5", (), said[:-1]), said[-1], at=datetime.now(UTC))
    print(n, flush=True)
"""


def start_writer(path, name, calls):
    command = [sys.executable, "-c", WRITER, str(path), name, str(calls)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_share_a_file(path):
    writers = [start_writer(path, name, 40) for name in "abc"]
    assert [writer.wait() for writer in writers if writer.communicate()] == [0, 0, 0]
    conversations = cml.read(path)
    assert sorted(c.messages[0].text for c in conversations) == ["a 0", "b 0", "c 0"]
    for conversation in conversations:
        name = conversation.messages[0].text[0]
        asked = [message.text for message in conversation.messages[::2]]
        assert asked == [f"{name} {n}" for n in range(40)]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_what_was_acknowledged_is_there_after_kill_9(path):
    acknowledged = {}
    for name in "abcde":
        writer = start_writer(path, name, 100_000)
        for _ in range(12):
            acknowledged[name] = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        acknowledged[name] = max(
            [acknowledged[name], *map(int, writer.stdout.read().splitlines()[:-1])]
        )
        writer.wait()
        writer.stdout.close()
    conversations = cml.read(path)
    held = {c.messages[0].text[0]: [m.text for m in c.messages[::2]] for c in conversations}
    assert list(held) == list("abcde")
    for name, asked in held.items():
        assert asked == [f"{name} {n}" for n in range(len(asked))]
        assert len(asked) > acknowledged[name]
