"""Counts are tiktoken's, on awkward texts, on generated ones and on real ones."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import toktok
from hypothesis import given
from hypothesis import strategies as st

from chatmem_lab.errors import EncodingError
from chatmem_lab.messages.surrogates import normalised
from chatmem_lab.tokens.encodings import count_texts

NAMES = ("cl100k_base", "o200k_base", "o200k_harmony")

AWKWARD = [
    "",
    " ",
    "\n\n\n",
    " \n \r\n\t ",
    "hello world",
    "<|endoftext|> and <|im_start|> <|start|>assistant<|channel|>",
    "naïve café — “quoted” …",
    "订单号 A-117，金额￥1,234.50",
    "ひらがなとカタカナ、漢字",
    "한국어 문장입니다.",
    "👩‍👩‍👧‍👦🏳️‍🌈👍🏽",
    "e\u0301\u0301\u0301 combining",
    "\x00\x01\x7f control \x00\x00",
    "def f(x):\n\treturn x ** 2  # ok\r\n",
    '{"a": [1, 2, {"b": null}], "c": "\\u00e9"}',
    "a" * 20_000,
    " " * 20_000,
    "1234567890" * 200,
    "https://example.org/a/b?c=d&e=f#g",
    "مرحبا بالعالم",
    "हिन्दी में लिखा",
    "\ufeffbyte order mark",
    "don't I'll WE'VE ſ'S",
    "\U0010ffff\ue000\ufffd",
    "x \u00a0\u2003\u200b y",
    "=====/////-----\n/\n",
    "CamelCaseWordsAndSHOUTING Ǆǅǆ",
]


@pytest.mark.parametrize("encoding", NAMES)
def test_awkward_texts(reference, encoding):
    expected = [len(reference[encoding].encode_ordinary(text)) for text in AWKWARD]
    assert count_texts(AWKWARD, encoding) == expected


# Runs of blanks and letters of all cases, which random text rarely has.
pieces = st.text(" \n\r\t\u00a0aA1é漢'’.,/_ \u0301", max_size=40) | st.text(max_size=40)


@given(texts=st.lists(st.lists(pieces, max_size=6).map("".join), max_size=5))
def test_generated_texts(reference, texts):
    for encoding in NAMES:
        expected = [len(reference[encoding].encode_ordinary(text)) for text in texts]
        assert count_texts(texts, encoding) == expected


def real_texts(transcripts):
    """Agent runs, sessions, dialogues, code and logs, in pieces; the files as they lie."""
    for name in (
        "tau-bench/gpt-4o-airline.json",
        "memorybank",
        "swe-agent",
        "aider",
        "aider-swe-bench",
        "bfcl-memory",
        "pydantic-ai-cassettes",
    ):
        path = transcripts / name
        files = [path] if path.is_file() else sorted(path.rglob("*.*"))
        left = 1_500_000
        for file in files:
            if file.suffix not in {".json", ".jsonl", ".md", ".traj", ".yaml", ".yml"}:
                continue
            whole = file.read_text(encoding="utf-8")[:left]
            left -= len(whole)
            for start in range(0, len(whole), 4_999):
                # Escapes undone, so that Chinese is Chinese and line ends are line ends.
                piece = whole[start : start + 4_999]
                yield piece
                if "\\" in piece:
                    yield piece.replace("\\n", "\n").replace('\\"', '"')


@pytest.mark.parametrize("encoding", NAMES[:2])
def test_real_texts(reference, transcripts, encoding):
    texts = list(dict.fromkeys(real_texts(transcripts)))
    assert sum(map(len, texts)) > 5_000_000
    expected = [len(reference[encoding].encode_ordinary(text)) for text in texts]
    assert count_texts(texts, encoding) == expected


def test_lone_surrogates_become_one_replacement_character(reference):
    text = "a\ud800b \ud83d\ude00 \udc00"
    assert normalised(text) == "a\ufffdb 😀 \ufffd"
    expected = len(reference["o200k_base"].encode_ordinary("a\ufffdb 😀 \ufffd"))
    assert count_texts(["plain", text], "o200k_base")[1] == expected


def test_b052_cut_emoji():
    texts = ["a\ud83d", "\ud83d\ude00", "\U0001f600"]
    assert count_texts(texts, "cl100k_base") == [2, 2, 2]
    assert count_texts(texts, "o200k_base") == [2, 1, 1]


def test_b050_special_tokens_are_ordinary_text():
    for encoding in NAMES:
        assert count_texts(["<|endoftext|>", "Explain <|endoftext|> please"], encoding) == [7, 9]


def test_megabytes_of_one_character():
    # The longest token of blanks is 128 long: 7,812 of them, and one of 64.
    assert count_texts([" " * 1_000_000], "o200k_base") == [7_813]
    assert count_texts(["a" * 3_000_000], "o200k_base") == [375_000]  # 8 letters a token
    assert count_texts(["\x00" * 1_000_000], "o200k_base") == [500_000]


def test_threads_may_count_at_once():
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(count_texts, AWKWARD, NAMES[i % 3]) for i in range(60)]
    alone = [count_texts(AWKWARD, name) for name in NAMES]
    assert [job.result() for job in jobs] == alone * 20


class Panic(BaseException):
    """As native code raises it."""


def broken(error):
    def batch_count(texts, encoding):
        raise error

    return SimpleNamespace(batch_count=batch_count)


@pytest.mark.parametrize(
    "toktok_module",
    [None, broken(RuntimeError("no such instruction")), broken(Panic("unwrap on None"))],
    ids=["missing", "fails", "panics"],
)
@pytest.mark.usefixtures("fresh_tiktoken", "no_network")
def test_without_toktok_tiktoken_counts_and_says_so_once(vocabulary, monkeypatch, toktok_module):
    monkeypatch.setitem(sys.modules, "toktok", toktok_module)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary))
    with pytest.warns(RuntimeWarning, match="toktok-rs does not work here") as warned:
        counts = [
            count_texts(texts, "o200k_base")
            for texts in (["hello world"], ["", "a\ud800"], ["<|endoftext|>"])
        ]
    assert counts == [[2], [0, 2], [7]]
    assert len(warned) == 1


def test_what_interrupts_is_not_caught(monkeypatch):
    monkeypatch.setitem(sys.modules, "toktok", broken(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        count_texts(["x"], "o200k_base")


def test_what_is_no_text_is_an_error_and_no_reason_to_fall_back():
    with pytest.raises(TypeError):
        count_texts(["x", None], "o200k_base")


def test_no_texts(monkeypatch):
    monkeypatch.setattr(toktok, "batch_count", None)
    assert count_texts([], "o200k_base") == []


def test_an_encoding_that_does_not_exist():
    with pytest.raises(EncodingError, match="no encoding 'o999k'; there are cl100k_base, gpt2"):
        count_texts(["x"], "o999k")
