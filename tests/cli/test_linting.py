"""``chatmem-lab lint`` as its users meet it."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from chatmem_lab.cli import app


def run(*arguments):
    return CliRunner().invoke(app, ["lint", *map(str, arguments)])


def test_what_is_refused_is_told_first_and_is_the_exit_code(tmp_path):
    path = tmp_path / "torn.json"
    messages = [
        {"role": "system", "content": "S" * 600},
        {"role": "user", "content": "q"},
        {"role": "tool", "tool_call_id": "c9", "content": "42"},
    ]
    path.write_text(json.dumps(messages))
    result = run(path)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "1 conversation, target chat"
    assert lines[2].startswith("refused  orphan_result  1: keep its call")
    assert "torn: message 2 is a result for call" in lines[3]
    assert lines[5].startswith("advice  long_system  1:")


def test_under_a_policy_each_request_is_looked_at(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps([{"role": r, "content": "x"} for r in ("user", "assistant") * 4]))
    assert "nothing found" in run(path).stdout
    result = run(path, "-p", "message-window:2", "--target", "anthropic")
    assert result.exit_code == 1
    assert "starts_on_assistant" in result.stdout


def test_wrong_input_is_one_line(tmp_path):
    result = run(tmp_path / "missing.json")
    assert result.exit_code == 2
    path = tmp_path / "run.json"
    path.write_text('[{"role": "user", "content": "q"}]')
    result = run(path, "--target", "gemini")
    assert result.exit_code == 2
    assert "target must be one of chat, responses, anthropic" in result.stderr
