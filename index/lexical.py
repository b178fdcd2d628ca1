"""Words: a BM25 index over stemmed words, memory-mapped.

Its documents are in the order of the dense rows, by date, so a cutoff cuts off the end of the scores.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN
from numpy.typing import NDArray

__all__ = ["WORD", "Lexical", "build_lexical", "words"]

WORD = r"\w\w+"
_STOPWORDS = frozenset(STOPWORDS_EN)
_NO_WORD = ""
"""Stands in documents without words; BM25 cannot do with none at all. No query holds it."""


def words(text: str) -> list[str]:
    """Stemmed words of two characters or more, without the most common English ones, in order."""
    found = [word for word in re.findall(WORD, text.lower()) if word not in _STOPWORDS]
    # A stemmer keeps state, so threads do not share one; making one takes microseconds.
    stemmed: list[str] = Stemmer.Stemmer("english").stemWords(found)
    return stemmed


class Lexical:
    def __init__(self, directory: Path) -> None:
        self._bm25 = bm25s.BM25.load(str(directory), mmap=True, show_progress=False)
        for name in ("data", "indices", "indptr"):
            # Plain arrays over the same mapped memory: slicing numpy's memmap class costs as much as the search.
            self._bm25.scores[name] = np.asarray(self._bm25.scores[name])

    def best(self, query: str, limit: int, rows: int) -> NDArray[np.int64]:
        """Of the first `rows` documents those that share the most telling words, best first."""
        known = self._bm25.get_tokens_ids(words(query))
        if not known or not rows:
            return np.empty(0, np.int64)
        scores = self._bm25.get_scores_from_ids(known)[:rows]
        top = np.arange(rows) if limit >= rows else np.argpartition(scores, -limit)[-limit:]
        top = top[scores[top] > 0]
        ordered: NDArray[np.int64] = top[np.lexsort((top, -scores[top]))].astype(np.int64)
        return ordered


def build_lexical(texts: Sequence[str], directory: Path) -> None:
    vocabulary: dict[str, int] = {_NO_WORD: 0}
    documents = [
        [vocabulary.setdefault(word, len(vocabulary)) for word in words(text) or (_NO_WORD,)] for text in texts
    ]
    bm25 = bm25s.BM25()
    bm25.index((documents, vocabulary), show_progress=False)
    bm25.save(str(directory), show_progress=False)
