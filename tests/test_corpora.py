"""`read`, `scan` and `write`: files, folders, bytes; ids; what goes wrong on the way."""

import json
import os
import stat
import types
from pathlib import Path

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Conversation, user
from chatmem_lab.transcripts import LoadReport

CHAT = json.dumps([{"role": "user", "content": "hi"}])


@pytest.fixture
def folder(tmp_path):
    """Three transcripts at three depths, and what else lies about in folders."""
    root = tmp_path / "runs"
    (root / "b" / "deep").mkdir(parents=True)
    (root / "b" / "deep" / "z.txt").write_text(CHAT)
    (root / "b" / "a.json").write_text(CHAT)
    (root / "c.jsonl").write_text('{"format":1,"id":"own"}\n')
    (root / "README.md").write_text("# Runs\n[1] of them\n")
    (root / "empty.json").write_text("")
    (root / "package.json").write_text('{"name": "x"}')
    (root / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff")
    (root / ".git").mkdir()
    (root / ".git" / "chat.json").write_text(CHAT)
    return root


def ids(conversations):
    return [conversation.id for conversation in conversations]


def test_a_folder_stands_for_its_transcripts_in_order(folder):
    conversations = cml.read(folder)
    assert ids(conversations) == ["a", "z", "own"]
    report = conversations.report
    assert [Path(r.source).relative_to(folder).as_posix() for r in report.read] == [
        "b/a.json",
        "b/deep/z.txt",
        "c.jsonl",
    ]
    assert {Path(note.source).name: note.reason.partition(".")[0] for note in report.skipped} == {
        "README.md": "is neither JSON nor YAML with a history",
        "empty.json": "is empty",
        "package.json": "has no format that is known",
        "picture.png": "is neither JSON nor YAML with a history",
    }


def test_paths_in_every_form(folder):
    path = folder / "c.jsonl"
    data = path.read_bytes()
    for source in (path, str(path), data, [path], (p for p in [str(path)]), [data]):
        assert ids(cml.read(source)) == ["own"]
    assert ids(cml.read([folder / "b", path])) == ["a", "z", "own"]


def test_a_damaged_transcript_in_a_folder_is_an_error(folder):
    (folder / "b" / "torn.json").write_text(CHAT[:-2])
    with pytest.raises(TranscriptError) as caught:
        cml.read(folder)
    assert caught.value.source == str(folder / "b" / "torn.json")
    lenient = cml.read(folder, lenient=True)
    assert ids(lenient) == ["a", "z", "own"]
    assert str(folder / "b" / "torn.json") in [note.source for note in lenient.report.skipped]


def test_equal_ids_become_different_and_are_noted(folder):
    twice = [folder / "c.jsonl"] * 3
    conversations = cml.read([*twice, b'{"format":1,"id":"own#2"}'])
    assert ids(conversations) == ["own", "own#2", "own#3", "own#2#2"]
    assert len(conversations.report.repaired) == 3
    assert "'own': it is 'own#3'" in conversations.report.repaired[1].reason


@pytest.mark.parametrize("lenient", [False, True])
def test_what_is_not_there(tmp_path, lenient):
    (tmp_path / "empty").mkdir()
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "a.txt").write_text("words")
    wrong = {
        tmp_path / "nothing.json": "there is no such file or folder",
        tmp_path / "empty": "is empty",
        tmp_path / "words": "none of its 1 files is a transcript",
        tmp_path / ("x" * 300): "cannot be opened: File name too long",
        "a\0b": "cannot be opened: embedded null byte",
    }
    for source, what in wrong.items():
        if lenient:
            conversations = cml.read(source, lenient=True)
            assert conversations == []
            assert conversations.report.skipped[-1].reason == what
        else:
            with pytest.raises(TranscriptError) as caught:
                cml.read(source)
            assert (caught.value.source, caught.value.what) == (str(source), what)


@pytest.mark.parametrize("source", [3, None, [3], [{"role": "user", "content": "hi"}], ""])
def test_what_is_no_source(source):
    with pytest.raises(TranscriptError, match="a path"):
        cml.read(source)


def test_scan_reads_when_it_is_asked(folder):
    report = LoadReport()
    found = cml.scan([folder / "c.jsonl", folder / "nothing.json"], report=report)
    assert isinstance(found, types.GeneratorType)
    assert next(found).id == "own"
    with pytest.raises(TranscriptError, match="no such file"):
        next(found)
    assert [reading.conversations for reading in report.read] == [1]


def test_scan_gives_what_read_gives(folder):
    assert list(cml.scan(folder)) == list(cml.read(folder))


def test_write_and_read(folder, tmp_path):
    conversations = cml.read(folder)
    path = cml.write(conversations, tmp_path / "out.jsonl")
    assert path == tmp_path / "out.jsonl"
    assert list(cml.read(path)) == list(conversations)
    cml.write((c for c in conversations[:1]), path)
    assert ids(cml.read(path)) == ["a"]
    cml.write(conversations[1], str(path))
    assert ids(cml.read(path)) == ["z"]


def test_writing_is_whole_or_not_at_all(tmp_path):
    path = cml.write([Conversation("old")], tmp_path / "out.jsonl")
    before = path.read_bytes()

    def failing():
        yield Conversation("new", (user("x"),))
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        cml.write(failing(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="rights as POSIX has them")
def test_what_is_written_has_the_rights_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("")
    path = cml.write([], tmp_path / "out.jsonl")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_places_where_nothing_can_be_written(tmp_path):
    with pytest.raises(TranscriptError, match="there is no folder"):
        cml.write([], tmp_path / "no" / "out.jsonl")
    with pytest.raises(TranscriptError, match="is a folder"):
        cml.write([], tmp_path)


def test_only_conversations_are_written(tmp_path):
    with pytest.raises(TranscriptError, match="conversations are written, not Message"):
        cml.write([user("hi")], tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []
