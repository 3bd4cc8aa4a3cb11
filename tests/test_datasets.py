"""The bundled data sets: what there is, where they are found, what a wrong name says."""

import builtins
import json
from pathlib import Path

import pytest

import chatmem_lab as cml
from chatmem_lab import datasets
from chatmem_lab.errors import DatasetError

FOLDER = Path(__file__).resolve().parent.parent / "datasets"
NAMES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))


@pytest.mark.parametrize("name", NAMES)
def test_a_data_set_is_what_its_file_holds(name):
    records = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]
    conversations = cml.datasets.load(name)
    assert [c.id for c in conversations] == [r["id"] for r in records if "format" in r]
    assert sum(len(c) for c in conversations) == sum("role" in r for r in records)
    (reading,) = conversations.report.read
    assert (reading.source, reading.format) == (f"datasets/{name}.jsonl", "own")
    assert conversations.report.skipped == conversations.report.repaired == []


def test_every_data_set_is_listed_with_a_line_about_it():
    listed = cml.datasets.list()
    assert builtins.list(listed) == NAMES
    assert all(about and "\n" not in about for about in listed.values())


def test_every_description_belongs_to_a_data_set():
    assert set(datasets._ABOUT) <= set(NAMES)


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(DatasetError) as caught:
        cml.datasets.load("suport")
    assert str(caught.value) == (
        f"there is no data set 'suport'. Did you mean 'support'? There are: {', '.join(NAMES)}"
    )
    with pytest.raises(LookupError, match=r"there is no data set '../README'"):
        cml.datasets.load("../README")


def test_a_wheel_has_them_inside_the_package(tmp_path, monkeypatch):
    inside = tmp_path / "chatmem_lab" / "_bundled" / "datasets"
    inside.mkdir(parents=True)
    (inside / "small.jsonl").write_text('{"format":1,"id":"a"}\n{"format":1,"id":"b"}\n')
    monkeypatch.setattr(datasets, "_PACKAGE", tmp_path / "chatmem_lab")
    assert datasets.list() == {"small": "2 conversations, 0 messages"}
    assert [c.id for c in datasets.load("small")] == ["a", "b"]
