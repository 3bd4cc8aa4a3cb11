"""Texts to numbers of tokens: exact, offline, in batches.

toktok-rs carries OpenAI's newer vocabularies and counts them like tiktoken does (tests hold
both equal). tiktoken serves the encodings that it lacks, and stands in where it fails.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import lru_cache

from chatmem_lab.messages.surrogates import normalised
from chatmem_lab.tokens.vocabularies import BUNDLED, count_with_tiktoken

__all__ = ["count_texts"]

#: Single texts up to this length are remembered.
_SHORT = 200


#: Why toktok-rs did not count, so that each reason is said once.
_told: set[str] = set()


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
        If there is no such encoding, or its vocabulary is not on this machine.

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
        counted = _count_with_toktok(texts, encoding)
        if counted is not None:
            return counted
    return [count_with_tiktoken(normalised(text), encoding) for text in texts]


def _count_with_toktok(texts: Sequence[str], encoding: str) -> list[int] | None:
    """None where toktok-rs does not work on this machine; that is said once."""
    try:
        import toktok

        try:
            return list(toktok.batch_count(texts, encoding))
        except UnicodeEncodeError:  # looking for surrogates first would cost more than counting
            return list(toktok.batch_count([normalised(text) for text in texts], encoding))
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, TypeError):
        raise
    except BaseException as error:  # a panic of native code is no Exception
        _say_fallback(f"{type(error).__name__}: {error}")
        return None


def _say_fallback(why: str) -> None:
    if why not in _told and len(_told) < 10:
        _told.add(why)
        warnings.warn(
            f"toktok-rs does not work here ({why}): tokens are counted with tiktoken, which "
            "is slower and needs its vocabulary files in its cache. Install toktok-rs anew",
            RuntimeWarning,
            stacklevel=4,
        )
