"""What README and CONTRIBUTING show is run as it stands there, and their links lead somewhere."""

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(path, language):
    text = path.read_text(encoding="utf-8")
    # A block inside a list is indented as the list is.
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", text, flags=re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", body, flags=re.MULTILINE) for indent, body in found]


def commands(path):
    """The commands of the console blocks, continued lines joined, comments left out."""
    joined = "\n".join(blocks(path, "console")).replace("\\\n", " ")
    return [
        shlex.split(line[2:], comments=True) for line in joined.splitlines() if line[:2] == "$ "
    ]


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = blocks(ROOT / "README.md", "python")
    assert len(code) == 4
    names = {}
    for block in code:
        exec(compile(block, "README.md", "exec"), names)
    assert len(names["run"].requests) == len(names["conversation"].requests)
    assert [m.text for m in names["memory"].messages] == [
        "You are a librarian.",
        "Who wrote Emma?",
        "Jane Austen.",
    ]
    assert names["memories"].list() == ["user-42"]
    assert (tmp_path / "chat.db").exists()
    assert sorted(names["study"].summary.index) == ["3k tokens", "everything", "last ten"]


def test_the_commands_of_the_readme_run(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from chatmem_lab.cli import app

    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    shown = [words for words in commands(ROOT / "README.md") if words[0] != "make"]
    assert shown
    for program, *arguments in shown:
        assert program == ".venv/bin/chatmem-lab"
        here = [str(ROOT / "datasets") if word.startswith("runs/") else word for word in arguments]
        assert here != arguments
        done = runner.invoke(app, here)
        assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "report.html").is_file()


def test_the_policy_of_the_contributing_guide_keeps_the_contract(monkeypatch):
    from chatmem_lab.policies import Policy
    from chatmem_lab.testing import check_policy
    from chatmem_lab.window import Revision

    (code,) = blocks(ROOT / "CONTRIBUTING.md", "python")
    # A module, since a policy must be picklable.
    module = ModuleType("keep_turns")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    vars(module).update(dataclass=dataclass, Policy=Policy, Revision=Revision)
    exec(compile(code, "CONTRIBUTING.md", "exec"), vars(module))
    check_policy(module.KeepTurns(2))


def test_the_names_of_the_guide_for_newcomers_exist():
    import inspect

    import chatmem_lab as cml

    text = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
    for name in sorted(set(re.findall(r"`(?:new )?cml\.(\w+)", text)) - {"record"}):
        assert hasattr(cml, name), name
    calls = re.findall(r"presets\.(\w+)\(([^`)]*)\)", text)
    assert len(calls) > 15
    for name, arguments in calls:
        known = inspect.signature(getattr(cml.presets, name)).parameters
        given = re.findall(r"(\w+)=", arguments)
        assert set(given) <= set(known), f"{name}({arguments})"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
    inside = [target for target in targets if not target.startswith("https://")]
    assert [target for target in inside if not (path.parent / target).exists()] == []


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {"compare", "test", "lab", "notebooks", "check"} <= targets
    named = {
        target
        for path in DOCUMENTS
        for target in re.findall(r"(?:`|\$ )make ([a-z]+)", path.read_text(encoding="utf-8"))
    }
    assert named
    assert named <= targets
