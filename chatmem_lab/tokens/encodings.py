"""Texts to numbers of tokens: exact, offline, in batches.

toktok-rs carries OpenAI's newer vocabularies and counts them like tiktoken does (tests hold
both equal). tiktoken serves the encodings that it lacks, and stands in where it fails.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import cache, lru_cache

import tiktoken

from chatmem_lab.errors import ChatMemLabError

__all__ = ["EncodingError", "count_texts", "normalised"]

#: Encodings whose vocabulary toktok-rs carries.
BUNDLED = frozenset({"o200k_base", "cl100k_base", "o200k_harmony"})

_SURROGATE = re.compile("[\ud800-\udfff]")

#: tiktoken panics on about a million spaces in a row; a batch never hands it more at once.
_PIECE = 500_000


#: Single texts up to this length are remembered.
_SHORT = 200


class EncodingError(ChatMemLabError, RuntimeError):
    """A vocabulary that is neither in the package nor on this machine."""


def normalised(text: str) -> str:
    r"""`text` with lone surrogates replaced by U+FFFD, and pairs of them joined.

    >>> normalised("a\ud800b") == "a\ufffdb"
    True
    """
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def count_texts(texts: Sequence[str], encoding: str) -> list[int]:
    """The tokens of each text; special-token spellings are ordinary text.

    Parameters
    ----------
    texts : sequence of str
    encoding : str
        Such as ``"o200k_base"``.

    Returns
    -------
    list of int

    Raises
    ------
    EncodingError
        If the encoding's vocabulary cannot be had.

    Examples
    --------
    >>> count_texts(["hello world", "<|endoftext|>", ""], "o200k_base")
    [2, 7, 0]
    """
    if not texts:
        return []
    if len(texts) == 1 and len(texts[0]) <= _SHORT:
        return [_count_short(texts[0], encoding)]
    return _count_many(texts, encoding)


@lru_cache(maxsize=10_000)
def _count_short(text: str, encoding: str) -> int:
    """A stub or a marker is counted again and again; a call of the tokenizer is not free."""
    return _count_many([text], encoding)[0]


def _count_many(texts: Sequence[str], encoding: str) -> list[int]:
    if encoding in BUNDLED:
        counted = _count_bundled(texts, encoding)
        if counted is not None:
            return counted
    reference = _tiktoken(encoding)
    return [_count_with(reference, normalised(text)) for text in texts]


def _count_bundled(texts: Sequence[str], encoding: str) -> list[int] | None:
    """None where toktok-rs does not work on this machine; that is said once."""
    try:
        import toktok
    except Exception as error:  # a native module fails in many ways
        _say_fallback(f"{type(error).__name__}: {error}")
        return None
    try:
        return list(toktok.batch_count(texts, encoding))
    except UnicodeEncodeError:
        return list(toktok.batch_count([normalised(text) for text in texts], encoding))


@cache
def _say_fallback(why: str) -> None:
    warnings.warn(
        f"toktok-rs does not work here ({why}); tokens are counted with tiktoken, "
        "which is slower and may download a vocabulary",
        RuntimeWarning,
        stacklevel=4,
    )


@cache
def _tiktoken(encoding: str) -> tiktoken.Encoding:
    try:
        return tiktoken.get_encoding(encoding)
    except ValueError:
        raise EncodingError(
            f"there is no encoding {encoding!r}: tiktoken has "
            f"{', '.join(tiktoken.list_encoding_names())}"
        ) from None
    except Exception as error:
        raise EncodingError(
            f"the vocabulary of {encoding} is not on this machine and could not be fetched "
            f"({type(error).__name__}): set TIKTOKEN_CACHE_DIR to a folder that holds it, or "
            f"count with one that needs no download ({', '.join(sorted(BUNDLED))})"
        ) from None


def _count_with(reference: tiktoken.Encoding, text: str) -> int:
    """Texts too long for tiktoken go in pieces that end with a line where they can."""
    count = 0
    start = 0
    while len(text) - start > _PIECE:
        end = text.rfind("\n", start, start + _PIECE) + 1
        end = end if end > start else start + _PIECE
        count += len(reference.encode_ordinary(text[start:end]))
        start = end
    return count + len(reference.encode_ordinary(text[start:]))
