"""What is built: the wheel carries data and notebooks, and works away from the checkout."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.whl")
    return path


def committed(folder, suffix):
    return {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob(f"*{suffix}")}


def test_the_wheel_carries_the_package_the_data_and_the_notebooks(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    modules = committed("chatmem_lab", ".py") | committed("chatmem_lab", ".pyi")
    data = committed("datasets", ".jsonl") | committed("datasets", ".md")
    notebooks = {name for name in committed("notebooks", ".ipynb") if "checkpoint" not in name}
    assert modules
    assert data
    assert notebooks
    assert modules | {"chatmem_lab/py.typed"} <= names
    assert {f"chatmem_lab/_bundled/{name}" for name in data | notebooks} <= names
    # Nothing else: no tests, no caches, no folder at the top of site-packages.
    beside = {name.partition(".data/")[2] for name in names if ".data/" in name}
    assert beside == {"data/etc/jupyter/jupyter_server_config.d/chatmem_lab.json"}
    assert {name.split("/")[0] for name in names if ".data/" not in name} == {"chatmem_lab"}
    assert not [name for name in names if name.endswith(".pyc") or "checkpoint" in name]


def test_the_data_load_from_an_unpacked_wheel(wheel, tmp_path):
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    code = """
import json
from importlib.metadata import version
import chatmem_lab as cml
loaded = {name: len(cml.datasets.load(name)) for name in cml.datasets.list()}
print(json.dumps([cml.__file__, version("chatmem-lab"), loaded]))
"""
    # By hand: in the project's own format a conversation begins with a line that says so.
    there = {
        path.stem: path.read_text(encoding="utf-8").count('{"format":1,')
        for path in (ROOT / "datasets").glob("*.jsonl")
    }
    assert sum(there.values()) >= 8
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    place, version, loaded = json.loads(done.stdout)
    assert Path(place).is_relative_to(site)
    assert version == "0.1.0"
    assert loaded == there
