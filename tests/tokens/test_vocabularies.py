"""tiktoken from files: which ones, what is said when they are missing, and no download."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest
import tiktoken
from tiktoken_ext import openai_public

from chatmem_lab.errors import EncodingError
from chatmem_lab.tokens import vocabularies
from chatmem_lab.tokens.vocabularies import FILES, check_encoding, count_with_tiktoken

pytestmark = pytest.mark.usefixtures("fresh_tiktoken", "no_network")

#: As case B058 gives them.
MISSING = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "p50k_base": "ec7223a39ce59f226a68acc30dc1af2788490e15",
}


def test_the_files_are_those_that_tiktoken_reads(monkeypatch):
    asked = []

    def load(address, expected_hash):
        asked.append((hashlib.sha1(address.encode()).hexdigest(), expected_hash))
        return {}

    def load_pair(vocab_bpe_file, encoder_json_file, vocab_bpe_hash, encoder_json_hash):
        load(vocab_bpe_file, vocab_bpe_hash)
        return load(encoder_json_file, encoder_json_hash)

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", load)
    monkeypatch.setattr(openai_public, "data_gym_to_mergeable_bpe_ranks", load_pair)
    for name, build in openai_public.ENCODING_CONSTRUCTORS.items():
        asked.clear()
        build()
        assert FILES[name] == tuple(asked)
    assert set(openai_public.ENCODING_CONSTRUCTORS) == set(FILES)


@pytest.mark.parametrize("name", MISSING)
def test_b058_a_missing_file_is_named_at_once(monkeypatch, tmp_path, name):
    (tmp_path / f"{name}.tiktoken").write_text("under its plain name nobody finds it")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TIKTOKEN_OFFLINE", "1")
    with pytest.raises(EncodingError, match=f"no {MISSING[name]} in .*get_encoding.'{name}'"):
        count_with_tiktoken("x", name)


def test_b058_the_package_counts_without_any_file(tmp_path):
    code = """
import socket, json
def refuse(*_, **__): raise SystemExit("a look at the network")
socket.getaddrinfo = socket.socket.connect = socket.create_connection = refuse
import chatmem_lab as cml
print(json.dumps([cml.counter(m).count_text("hello world") for m in ("gpt-4", "gpt-4o")]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[2, "exact"], [2, "exact"]]


def test_b059_a_failure_is_not_remembered(monkeypatch, vocabulary):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary))
    genuine = tiktoken.get_encoding
    failures = [OSError("connection dropped")]

    def failing_once(name):
        if failures:
            raise failures.pop()
        return genuine(name)

    monkeypatch.setattr(tiktoken, "get_encoding", failing_once)
    with pytest.raises(EncodingError, match="OSError: connection dropped"):
        count_with_tiktoken("hello world", "cl100k_base")
    assert count_with_tiktoken("hello world", "cl100k_base") == 2


def test_a_file_that_appears_is_found(monkeypatch, tmp_path, vocabulary):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(EncodingError):
        count_with_tiktoken("hello world", "o200k_base")
    (tmp_path / MISSING["o200k_base"]).symlink_to(vocabulary / MISSING["o200k_base"])
    assert count_with_tiktoken("hello world", "o200k_base") == 2


def test_a_damaged_file_is_named_and_left_alone(monkeypatch, tmp_path):
    torn = tmp_path / MISSING["p50k_base"]
    torn.write_text("half of it")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(EncodingError, match="is damaged"):
        count_with_tiktoken("x", "p50k_base")
    assert torn.read_text() == "half of it"


def test_where_tiktoken_looks(monkeypatch, tmp_path):
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path / "gym"))
    with pytest.raises(EncodingError, match=r"in \S+/gym, tiktoken's cache"):
        count_with_tiktoken("x", "r50k_base")
    monkeypatch.delenv("DATA_GYM_CACHE_DIR")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(EncodingError, match="data-gym-cache, tiktoken's cache"):
        count_with_tiktoken("x", "r50k_base")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(EncodingError, match="switched off"):
        count_with_tiktoken("x", "r50k_base")


def test_encodings_that_exist():
    for name in FILES:
        check_encoding(name)
    with pytest.raises(EncodingError, match="no encoding 'utf-8'; there are cl100k_base, gpt2"):
        check_encoding("utf-8")


LONG = 150_000  # tiktoken still takes it in one; ours goes the other way


@pytest.mark.parametrize(
    "text",
    [
        " " * LONG,
        "x" + " " * LONG + "y",
        "x. " + "\t" * LONG + "1",
        "(\n" + " " * LONG + "\nx",
        "\r\n" + " \u00a0" * LONG + "!",
        "words and words " * 500 + " " * LONG + "don't\n" * 500,
    ],
)
def test_long_blanks_are_counted_as_tiktoken_does(monkeypatch, vocabulary, reference, text):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary))
    for name in ("cl100k_base", "o200k_base"):
        assert count_with_tiktoken(text, name) == len(reference[name].encode_ordinary(text))


def test_a_million_blanks_do_not_panic(monkeypatch, vocabulary):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary))
    assert count_with_tiktoken(" " * 1_000_000, "o200k_base") == 7_813


def test_blanks_below_the_limit_take_the_plain_way(monkeypatch, vocabulary):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary))
    monkeypatch.setattr(vocabularies, "import_module", None)
    text = ("word" + " " * 70_000) * 3
    assert count_with_tiktoken(text, "o200k_base") > 3
