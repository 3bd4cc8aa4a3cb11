"""tiktoken as the way to count: built from vocabulary files on this machine, never a download.

tiktoken carries no vocabulary and fetches one at first use, without a time limit. Here the
files must be in its cache already; what is missing is named at once.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from chatmem_lab.errors import EncodingError

if TYPE_CHECKING:
    import tiktoken

__all__ = ["EncodingError", "check_encoding", "count_with_tiktoken"]

#: Encodings whose vocabulary toktok-rs carries: for them no file is needed.
BUNDLED = frozenset({"cl100k_base", "o200k_base", "o200k_harmony"})

_CL100K = (
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
)
_O200K = (
    "fb374d419588a4632f3f557e76b4b70aebbca790",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
)
_P50K = (
    "ec7223a39ce59f226a68acc30dc1af2788490e15",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
)
#: The files that each encoding is built from: tiktoken's name for it in the cache (the SHA-1
#: of its address) and the SHA-256 of what it must hold.
FILES: dict[str, tuple[tuple[str, str], ...]] = {
    "cl100k_base": (_CL100K,),
    "o200k_base": (_O200K,),
    "o200k_harmony": (_O200K,),
    "p50k_base": (_P50K,),
    "p50k_edit": (_P50K,),
    "r50k_base": (
        (
            "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4",
            "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
        ),
    ),
    "gpt2": (
        (
            "6d1cbeee0f20b3d9449abfede4726ed8212e3aee",
            "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
        ),
        (
            "6c7ea1a7e38e3a7f062df639a5b80947f075ffe6",
            "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
        ),
    ),
}

#: tiktoken 0.14 panics on about a million blanks in a row, with a BaseException.
_LONGEST_BLANK = 100_000
_BLANK = re.compile(r"[^\S\r\n]{64,}")


def check_encoding(name: str) -> None:
    """Refuse an encoding that nobody can count with.

    >>> check_encoding("o200k_base")
    >>> check_encoding("o999k")
    Traceback (most recent call last):
    chatmem_lab.errors.EncodingError: there is no encoding 'o999k'; there are ...
    """
    if name not in BUNDLED:
        from tiktoken import list_encoding_names

        names = {*BUNDLED, *list_encoding_names()}
        if name not in names:
            raise EncodingError(f"there is no encoding {name!r}; there are {_listed(names)}")


def count_with_tiktoken(text: str, encoding: str) -> int:
    """The tokens of one text without lone surrogates, by tiktoken.

    Raises
    ------
    EncodingError
        At once, if the vocabulary is not in tiktoken's cache. The next call looks again.
    """
    reference = _built(encoding)
    if len(text) <= _LONGEST_BLANK or not any(
        found.end() - found.start() > _LONGEST_BLANK for found in _BLANK.finditer(text)
    ):
        return len(reference.encode_ordinary(text))
    # The panic is in the splitting into words, so that is done by another engine here.
    words = import_module("regex").findall(reference._pat_str, text)
    return sum(len(reference._encode_single_piece(word)) for word in words)


@cache
def _built(name: str) -> tiktoken.Encoding:
    import tiktoken

    check_encoding(name)
    _check_files(name)
    try:
        return tiktoken.get_encoding(name)
    except Exception as error:
        raise EncodingError(
            f"tiktoken could not build {name} ({type(error).__name__}: {error}). {_way_on(name)}"
        ) from error


def _check_files(name: str) -> None:
    """With whole files in place tiktoken reads them; without, it would go to the network."""
    folder = _cache_folder()
    for file, digest in FILES.get(name, ()):
        if folder is None:
            raise EncodingError(
                f"tiktoken's cache, which {name} is read from, is switched off "
                f"(TIKTOKEN_CACHE_DIR is empty): set it to the folder that holds {file}"
            )
        path = folder / file
        if not path.is_file():
            raise EncodingError(
                f"the vocabulary of {name} is not on this machine: there is no {file} in "
                f"{folder}, tiktoken's cache. {_way_on(name)}"
            )
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise EncodingError(
                f"the vocabulary of {name} is damaged: {path} is not what it should be. "
                f"Remove it. {_way_on(name)}"
            )


def _cache_folder() -> Path | None:
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir(), "data-gym-cache")


def _way_on(name: str) -> str:
    command = f"python -c \"import tiktoken; tiktoken.get_encoding('{name}')\""
    return (
        f"Nothing is downloaded here: run {command} once where there is a network, or count "
        f"with an encoding that needs no file ({_listed(BUNDLED)})"
    )


def _listed(names: set[str] | frozenset[str]) -> str:
    return ", ".join(sorted(names))
