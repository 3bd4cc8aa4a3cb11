"""``chatmem-lab sessions`` on a SQLite file, as its users meet it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import chatmem_lab as cml
from chatmem_lab.cli import app
from chatmem_lab.messages import ToolCall

HOSTILE = "a/b c%20é房\x1b[2J\u202e"
SUMMARY = "They spoke of Emma."

runner = CliRunner()


@pytest.fixture
def url(tmp_path, monkeypatch):
    """A store with five sessions; the environment names none."""
    monkeypatch.delenv("CHATMEM_LAB_STORE", raising=False)
    url = f"sqlite:///{tmp_path}/chat.db"
    with cml.ChatMemories(cml.MessageWindow(3), store=url) as memories:
        ann = memories["ann"]
        ann.add_system("You are a librarian.")
        ann.add_user("Who wrote\nEmma?\x1b[31m")
        ann.add_assistant(tool_calls=[ToolCall("c1", "find", '{"title": "Emma"}')])
        ann.add_tool_output("c1", "Jane Austen " * 50)
        ann.add_assistant("Jane Austen.")
        memories["bo"].add_user("the old line")
        memories["bo"].clear()
        memories["bo"].add_user("the new line")
        memories["bo"].add_assistant("fine")
        for id in ("-dash", HOSTILE, "x" * 300):
            memories[id].add_user("hi")
    return url


def run(*arguments, store=None, **options):
    named = ["--store", store] if store else []
    return runner.invoke(app, ["sessions", arguments[0], *named, *arguments[1:]], **options)


def messages_of(url, id):
    with cml.ChatMemories(store=url) as memories:
        return [message.text for message in memories[id].history]


def ids_of(url):
    with cml.ChatMemories(store=url) as memories:
        return memories.list()


def test_list_is_a_table_that_fits_a_terminal(url, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    result = run("list", store=url)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].split() == ["id", "messages", "updated"]
    rows = {line[:30].strip(): line[30:].split() for line in lines[1:6]}
    assert {id: row[0] for id, row in rows.items()} == {
        "-dash": "1",
        r"a/b c%20é房\x1b[2J\u202e": "1",
        "ann": "5",
        "bo": "2",
        "x" * 29 + "…": "1",
    }
    assert all(len(row) == 3 for row in rows.values())
    assert max(map(len, lines)) <= 60
    assert lines[-1] == "5 sessions"
    assert not {"\x1b", "\u202e"} & set(result.output)


def test_list_as_json_has_ids_whole(url):
    rows = json.loads(run("list", "--json", store=url).output)
    assert [(row["id"], row["messages"]) for row in rows] == [
        ("-dash", 1),
        (HOSTILE, 1),
        ("ann", 5),
        ("bo", 2),
        ("x" * 300, 1),
    ]
    assert all(row["updated_at"].endswith("Z") for row in rows)


def test_an_empty_store(tmp_path):
    url = f"sqlite:///{tmp_path}/empty.db"
    cml.ChatMemories(store=url).close()
    result = run("list", store=url)
    assert (result.exit_code, result.output) == (0, "no sessions\n")
    assert json.loads(run("list", "--json", store=url).output) == []


def test_show_marks_what_the_model_sees(url, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    result = run("show", "ann", store=url)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].startswith("ann: 5 messages; the model sees 4, tokens: ≈ ")
    assert [line.split(None, 3)[:3] for line in lines[2:3]] == [["0", "*", "system"]]
    assert lines[3] == r"     1   user         Who wrote Emma?\x1b[31m"
    assert lines[4] == '     2 * tool call    find({"title": "Emma"})'
    assert lines[5].startswith("     3 * tool result  Jane Austen Jane")
    assert lines[5].endswith("…")
    assert lines[6] == "     4 * assistant    Jane Austen."
    assert max(map(len, lines[:7])) <= 60
    assert "\x1b" not in result.output


def test_show_of_cleared_and_made_messages(tmp_path):
    url = f"sqlite:///{tmp_path}/chat.db"
    clears = cml.ClearToolResults(keep=0)
    folds = cml.Summarize(
        cml.summarizers.summarizer_from(lambda messages: SUMMARY),
        trigger=cml.Messages(3),
        keep=cml.Messages(2),
    )
    with cml.ChatMemories(lambda id: folds if id == "fold" else clears, store=url) as memories:
        memories["clear"].add_user("look")
        memories["clear"].add_assistant(tool_calls=[ToolCall("c", "f", "{}")])
        memories["clear"].add_tool_output("c", "y" * 4_000)
        memories["clear"].add_assistant("done")
        for n in range(2):
            memories["fold"].add_user(f"q{n} " + "long " * 100)
            memories["fold"].add_assistant(f"a{n}")
    shown = run("show", "clear", store=url).output.splitlines()
    assert [line[7] for line in shown[2:6]] == ["*", "*", "~", "*"]
    shown = run("show", "fold", store=url).output.splitlines()
    assert [line[5:8] for line in shown[2:7]] == ["0  ", "1  ", "  +", "2 *", "3 *"]
    assert shown[4].endswith(SUMMARY)


def test_show_branches(url):
    assert "old line" not in run("show", "bo", store=url).output
    result = run("show", "bo", "--branches", store=url)
    assert result.output.index("the new line") < result.output.index("branch bo#0")
    assert result.output.index("branch bo#0") < result.output.index("the old line")


def test_info_in_lines_and_as_json(url):
    lines = dict(line.split(None, 1) for line in run("info", "bo", store=url).output.splitlines())
    assert (lines["id"], lines["messages"], lines["branches"]) == ("bo", "2", "1")
    assert "policy" not in lines  # the store does not know it
    named = run("info", "bo", "--policy", "message-window:20", store=url).output
    assert "MessageWindow(20)" in named
    numbers = json.loads(run("info", "bo", "--json", store=url).output)
    assert (numbers["messages"], numbers["window_messages"], numbers["policy"]) == (2, 2, None)
    assert numbers["version"] > 0
    assert numbers["created_at"] < numbers["updated_at"]


def test_clear_keeps_a_branch(url):
    result = run("clear", "ann", store=url)
    assert (result.exit_code, result.output) == (0, "ann: cleared; what was there is a branch\n")
    assert messages_of(url, "ann") == []
    assert "Jane Austen." in run("show", "ann", "--branches", store=url).output


def test_clear_may_keep_system_messages(url):
    assert run("clear", "ann", "--keep-system", store=url).exit_code == 0
    assert messages_of(url, "ann") == ["You are a librarian."]


@pytest.mark.parametrize(
    ("arguments", "typed", "exit_code", "is_there"),
    [
        ([], "y\n", 0, False),
        (["--yes"], None, 0, False),
        ([], "n\n", 1, True),
        ([], None, 1, True),
    ],
)
def test_delete_asks_first(url, arguments, typed, exit_code, is_there):
    result = run("delete", "ann", *arguments, store=url, input=typed)
    assert result.exit_code == exit_code
    assert ("ann" in ids_of(url)) == is_there
    assert ("erased for good" in result.stdout) != is_there
    assert len(ids_of(url)) == 4 + is_there


@pytest.mark.parametrize("id", ["-dash", HOSTILE, "x" * 300])
def test_any_id_can_be_named(url, id):
    for command in ("show", "info", "export", "clear"):
        result = run(command, "--", id, store=url)
        assert result.exit_code == 0, result.output
    assert run("delete", "--yes", "--", id, store=url).exit_code == 0
    assert id not in ids_of(url)


def test_an_export_is_read_back(url, tmp_path):
    path = tmp_path / "ann.jsonl"
    result = run("export", "ann", "--out", str(path), store=url)
    assert result.output == f"{path}: 1 conversation, 5 messages\n"
    (conversation,) = cml.read(path)
    assert conversation.id == "ann"
    assert [message.text for message in conversation.messages] == messages_of(url, "ann")
    assert all(message.created_at is not None for message in conversation.messages)
    assert cml.replay(conversation, cml.KeepAll()).requests["request"].tolist() == [0, 1]


def test_an_export_goes_to_standard_output_too(url):
    result = run("export", "bo", "--branches", "all", store=url)
    read = cml.read(result.stdout_bytes)
    assert [(c.id, [m.text for m in c.messages]) for c in read] == [
        ("bo#0", ["the old line"]),
        ("bo", ["the new line", "fine"]),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "nobody"], "there is no session 'nobody'"),
        (["info", "nobody"], "there is no session 'nobody'"),
        (["clear", "nobody"], "there is no session 'nobody'"),
        (["delete", "nobody", "--yes"], "there is no session 'nobody'"),
        (["export", "nobody"], "there is no session 'nobody'"),
        (["show", " "], "an id is required"),
        (["export", "ann", "--branches", "some"], "branches is active or all, not 'some'"),
        (["export", "ann", "--out", "/no/such/folder/x"], "there is no folder /no/such/folder"),
        (["info", "ann", "--policy", "tokn-window:9"], "Did you mean token-window?"),
        (["info", "ann", "--model", "no-such-model"], "no-such-model"),
    ],
)
def test_what_is_wrong_is_one_line_on_stderr(url, arguments, words):
    result = run(*arguments, store=url)
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("chatmem-lab: ")
    assert words in line


def test_a_store_must_be_named_and_there(url, tmp_path, monkeypatch):
    result = run("list")
    assert result.exit_code == 2
    assert "set" not in result.stdout
    assert "--store" in result.stderr
    assert "CHATMEM_LAB_STORE" in result.stderr
    typo = tmp_path / "typo.db"
    result = run("list", store=f"sqlite:///{typo}")
    assert (result.exit_code, typo.exists()) == (2, False)
    assert f"there is no file {typo}" in result.stderr
    monkeypatch.setenv("CHATMEM_LAB_STORE", url)
    assert "5 sessions" in run("list").output


def test_no_secret_is_told(monkeypatch):
    for store in ("postgresql://u:geheim@127.0.0.1:1/x", "nosuch://u:geheim@h"):
        monkeypatch.setenv("CHATMEM_LAB_STORE", store)
        result = run("list")
        assert result.exit_code == 2
        assert "geheim" not in result.output
    assert "geheim" not in run("list", "--help").output


@pytest.mark.parametrize("command", [["export", "bo"], ["list"], ["show", "bo"]])
def test_who_reads_may_stop_reading(url, command):
    """As in ``chatmem-lab sessions list | head -1``: no word about it."""
    code = "from chatmem_lab.cli import app; app()"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", code, "sessions", *command, "--store", url],
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (done.stderr, done.returncode) == (b"", 1)
