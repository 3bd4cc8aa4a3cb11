"""Counts are tiktoken's, on awkward texts, on generated ones and on real ones."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmem_lab.tokens import encodings
from chatmem_lab.tokens.encodings import EncodingError, count_texts, normalised

AWKWARD = [
    "",
    " ",
    "\n\n\n",
    "hello world",
    "<|endoftext|> and <|im_start|>",
    "naïve café — “quoted” …",
    "订单号 A-117，金额￥1,234.50",
    "ひらがなとカタカナ、漢字",
    "한국어 문장입니다.",
    "👩‍👩‍👧‍👦🏳️‍🌈👍🏽",
    "e\u0301\u0301\u0301 combining",
    "\x00\x01\x7f control",
    "def f(x):\n\treturn x ** 2  # ok\r\n",
    '{"a": [1, 2, {"b": null}], "c": "\\u00e9"}',
    "a" * 20_000,
    " " * 20_000,
    "1234567890" * 200,
    "https://example.org/a/b?c=d&e=f#g",
    "مرحبا بالعالم",
    "\ufeffbyte order mark",
    "don't I'll WE'VE",
]


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_awkward_texts(reference, encoding):
    expected = [len(reference[encoding].encode_ordinary(text)) for text in AWKWARD]
    assert count_texts(AWKWARD, encoding) == expected


@given(texts=st.lists(st.text(max_size=200), max_size=5))
def test_generated_texts(reference, texts):
    for encoding in ("o200k_base", "cl100k_base"):
        expected = [len(reference[encoding].encode_ordinary(text)) for text in texts]
        assert count_texts(texts, encoding) == expected


def test_real_texts(reference, transcripts):
    """English agent runs, Chinese dialogues, code and logs, as they lie in the files."""
    texts = [
        message["content"]
        for run in json.loads((transcripts / "tau-bench" / "gpt-4o-airline.json").read_text())
        for message in run["traj"]
        if message["content"]
    ]
    for name in ("memorybank/memory_bank_cn.json", "swe-agent/katy.traj", "aider-swe-bench"):
        path = transcripts / name
        files = [path] if path.is_file() else sorted(path.glob("*.md"))
        for file in files:
            whole = file.read_text()
            texts += [whole[i : i + 5_000] for i in range(0, min(len(whole), 400_000), 5_000)]
    assert len(texts) > 4_000
    expected = [len(reference["o200k_base"].encode_ordinary(text)) for text in texts]
    assert count_texts(texts, "o200k_base") == expected


def test_lone_surrogates_become_one_replacement_character(reference):
    text = "a\ud800b \ud83d\ude00 \udc00"
    assert normalised(text) == "a\ufffdb 😀 \ufffd"
    expected = len(reference["o200k_base"].encode_ordinary("a\ufffdb 😀 \ufffd"))
    assert count_texts(["plain", text], "o200k_base")[1] == expected


def test_megabytes_of_one_character_end():
    assert count_texts([" " * 1_000_000], "o200k_base")[0] > 0
    assert count_texts(["a" * 3_000_000], "o200k_base")[0] == 375_000


def test_without_toktok_tiktoken_counts_and_says_so_once(reference, monkeypatch):
    monkeypatch.setitem(sys.modules, "toktok", None)
    monkeypatch.setattr(encodings, "_tiktoken", reference.__getitem__)
    encodings._say_fallback.cache_clear()
    with pytest.warns(RuntimeWarning, match="toktok-rs does not work here") as warned:
        counts = [count_texts(texts, "o200k_base") for texts in (["hello world"], ["", "hi"])]
    assert counts == [[2], [0, 1]]
    assert len(warned) == 1
    text = "line of words\n" * 100_000
    assert count_texts([text], "o200k_base") == [
        len(reference["o200k_base"].encode_ordinary(text))
    ]


def test_an_encoding_that_does_not_exist():
    with pytest.raises(EncodingError, match="no encoding 'o999k'"):
        count_texts(["x"], "o999k")


def test_a_vocabulary_that_cannot_be_had(monkeypatch):
    def offline(name):
        raise OSError("no route")

    encodings._tiktoken.cache_clear()
    monkeypatch.setattr(encodings.tiktoken, "get_encoding", offline)
    with pytest.raises(EncodingError, match="TIKTOKEN_CACHE_DIR"):
        count_texts(["x"], "p50k_base")
    encodings._tiktoken.cache_clear()
