"""The command line as its users meet it: what it prints, writes, and says of what is wrong."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from chatmem_lab import cli
from chatmem_lab.cli import DEFAULT_POLICIES, app

runner = CliRunner()


def run(*arguments):
    return runner.invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def transcript(tmp_path):
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Order A-117?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "find_order", "arguments": '{"id": "A-117"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "shipped on 2026-05-01 " * 20},
        {"role": "assistant", "content": "It was shipped on 1 May."},
        {"role": "user", "content": "Thanks!"},
        {"role": "assistant", "content": "You are welcome."},
    ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(messages))
    return path


def test_compare_writes_a_report_and_tables(transcript, tmp_path):
    out = tmp_path / "results"
    result = run(
        "compare",
        transcript,
        "--policy",
        "token-window:100",
        "--policy",
        "clear-tool-results:0|message-window:4",
        "--model",
        "gpt-5",
        "--out",
        out,
    )
    assert result.exit_code == 0, result.output
    assert "TokenWindow(100)" in result.output
    assert "ClearToolResults(0) | MessageWindow(4)" in result.output
    assert "1 conversation, 3 requests" in result.output
    # nobody watches: no progress bar
    assert result.stderr == ""
    report = (out / "report.html").read_text()
    assert "<script" not in report
    assert report.count("TokenWindow(100)") > 1
    summary = pd.read_csv(out / "summary.csv")
    assert summary["policy"].tolist() == [
        "TokenWindow(100)",
        "ClearToolResults(0) | MessageWindow(4)",
    ]
    rows = report.split("<table", 2)[1]
    assert "TokenWindow(" in rows
    assert "MessageWindow(" in rows
    scores = pd.read_parquet(out / "scores.parquet")
    assert scores["requests"].tolist() == [3, 3]
    for name in ("summary", "scores", "requests", "summaries", "validity"):
        from_csv = pd.read_csv(out / f"{name}.csv")
        assert len(from_csv) == len(pd.read_parquet(out / f"{name}.parquet"))


def test_six_policies_are_the_default(transcript, tmp_path):
    result = run("compare", transcript, "--model", "gpt-5", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    validity = pd.read_csv(tmp_path / "out" / "validity.csv")
    assert len(validity) == len(DEFAULT_POLICIES) == 6


def test_replay_prints_requests_and_events(transcript):
    result = run("replay", transcript, "--policy", "message-window:2", "--model", "gpt-5")
    assert result.exit_code == 0, result.output
    assert "MessageWindow(2)" in result.output
    assert "over 2 messages" in result.output


def test_read_says_what_is_there(transcript):
    result = run("read", transcript, "--model", "gpt-5")
    assert result.exit_code == 0, result.output
    lines = dict(line.split(None, 1) for line in result.output.splitlines() if " " in line)
    assert lines["conversations"] == "1"
    assert lines["messages"] == "7"
    assert lines["requests"] == "3"
    assert "find_order" in result.output


def test_policies_lists_all_with_bounds():
    result = run("policies")
    assert result.exit_code == 0
    for words in ("token-window", "max_tokens", "at least 1", "langchain4j-message-window"):
        assert words in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "no-such-file.json"], "no-such-file.json"),
        (["compare", "CHAT", "--policy", "token-window:0"], "at least 1, not 0"),
        (["compare", "CHAT", "--policy", "tokn-window:9"], "Did you mean token-window?"),
        (["compare", "CHAT", "--policy", "keep-all", "--policy", "keep-all"], "twice"),
        (["compare", "CHAT", "--model", "no-such-model"], "no-such-model"),
        (["compare", "CHAT", "--format", "no-such-format"], "no-such-format"),
        (["compare", "CHAT", "--policy", "keep-all", "--out", "BROKEN/x"], "BROKEN"),
        (["replay", "BROKEN", "--policy", "keep-all"], "BROKEN"),
        (["replay", "CHAT", "--policy", "keep-all", "--id", "x"], "no conversation 'x'"),
        (["read", "EMPTY"], "EMPTY"),
    ],
)
def test_what_is_wrong_is_one_line_on_stderr(transcript, tmp_path, arguments, words):
    broken = tmp_path / "broken.json"
    broken.write_text('[{"role": "user", "content": "hi"')
    empty = tmp_path / "empty"
    empty.mkdir()
    places = {"CHAT": transcript, "BROKEN": broken, "EMPTY": empty, "BROKEN/x": broken / "x"}
    known = {"BROKEN": "broken.json", "EMPTY": "empty"}
    result = run(*(places.get(argument, argument) for argument in arguments))
    assert result.exit_code == 2, result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("chatmem-lab: ")
    assert known.get(words, words) in lines[0]
    assert "Traceback" not in result.output


def test_help_names_the_commands():
    result = run("--help")
    assert result.exit_code == 0
    for command in ("compare", "replay", "policies", "read"):
        assert command in result.output


def test_what_was_skipped_is_said(transcript, tmp_path):
    (transcript.parent / "notes.txt").write_text("nothing to see")
    result = run("compare", transcript.parent, "--model", "gpt-5", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert f"skipped {transcript.parent / 'notes.txt'}: " in result.output


def test_nothing_that_can_be_read_is_an_error_lenient_or_not(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('[{"role": "user", "content": "hi"')
    result = run("compare", broken, "--lenient", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert f"no conversation could be read. skipped {broken}: " in result.stderr


def test_more_than_nothing_never_reads_as_nothing():
    assert [cli._share(x) for x in (0, 0.0004, 0.004, 1)] == ["0.0%", "<0.1%", "0.4%", "100.0%"]
