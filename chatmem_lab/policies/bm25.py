"""`Bm25`: how well texts fit a query, by the words that they share."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable

__all__ = ["Bm25", "words_of"]

_K1, _B = 1.5, 0.75
#: A word in scripts that part them, one sign in those that do not.
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+|[^\W_]+")
_UNPARTED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")


def words_of(text: str) -> list[str]:
    """The words of `text` in small letters; of Chinese, Japanese and Korean pairs of signs.

    >>> words_of("Order A-117, please"), words_of("退款申请")
    (['order', 'a', '117', 'please'], ['退款', '款申', '申请'])
    """
    words: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        if not _UNPARTED.match(token) or len(token) == 1:
            words.append(token)
        else:
            words.extend(token[i : i + 2] for i in range(len(token) - 1))
    return words


class Bm25:
    """An index of texts by key, each added once; a query costs the postings of its words.

    Okapi BM25 (Robertson and Zaragoza 2009) with k1 = 1.5 and b = 0.75, and the inverse
    document frequency ``ln(1 + (N - n + 0.5) / (n + 0.5))``, which is never negative.

    Examples
    --------
    >>> index = Bm25()
    >>> index.add("a", "The reservation is R-2207.")
    >>> index.add("b", "The Garden Room seats ten.")
    >>> list(index.scores("Which reservation?"))
    ['a']
    """

    def __init__(self) -> None:
        self._postings: dict[str, dict[Hashable, int]] = {}
        self._lengths: dict[Hashable, int] = {}
        self._total = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._lengths

    def add(self, key: Hashable, text: str) -> None:
        """`text` can be found under `key` from now on; more text for a key it has is added."""
        words = words_of(text)
        self._lengths[key] = self._lengths.get(key, 0) + len(words)
        self._total += len(words)
        for word, n in Counter(words).items():
            postings = self._postings.setdefault(word, {})
            postings[key] = postings.get(key, 0) + n

    def remove(self, key: Hashable, text: str) -> None:
        """Take back what was added under `key`, which was `text`."""
        self._total -= self._lengths.pop(key, 0)
        for word in set(words_of(text)):
            self._postings.get(word, {}).pop(key, None)

    def scores(self, query: str) -> dict[Hashable, float]:
        """The score of each text that shares a word with `query`."""
        found: dict[Hashable, float] = {}
        documents = len(self._lengths)
        mean = self._total / documents if documents else 1.0
        for word in sorted(set(words_of(query))):
            postings = self._postings.get(word, {})
            rarity = math.log(1 + (documents - len(postings) + 0.5) / (len(postings) + 0.5))
            for key, n in postings.items():
                length = _K1 * (1 - _B + _B * self._lengths[key] / mean)
                found[key] = found.get(key, 0.0) + rarity * n * (_K1 + 1) / (n + length)
        return found
