"""Fast word search over titles and beginnings of abstracts; not suitable for measuring quality."""

import re
from collections.abc import Sequence

import bm25s
import numpy as np
from numpy.typing import NDArray

_INDEXED_CHARACTERS = 400
"""Number of characters of an abstract that are indexed, because tokenising takes most of the simulator's start-up
time."""
_WORD = re.compile(r"[^\W_]{2,}")
_STOPWORDS = """
    an and are as at be by can for from has have how in into is it its of on or our over than that the their them then
    there these this those to under up via was we were what when where which while who whose why will with within
    without would you your"""
_STOPWORD = frozenset(_STOPWORDS.split())
_NO_WORD = ""
"""Placeholder for papers without words, which BM25 does not support. No query contains it."""


class Lookup:
    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        """Build the index of titles and abstracts."""
        vocabulary: dict[str, int] = {_NO_WORD: 0}
        documents = [
            [
                vocabulary.setdefault(word, len(vocabulary))
                for word in split_words(f"{title} {abstract[:_INDEXED_CHARACTERS]}")
            ]
            or [0]
            for title, abstract in texts
        ]
        self._bm25 = bm25s.BM25() if documents else None
        if self._bm25 is not None:
            self._bm25.index((documents, vocabulary), show_progress=False)
        self._vocabulary = vocabulary
        self._size = len(texts)

    def compute_scores(self, query: str) -> NDArray[np.float32]:
        """Return the scores of all texts, in order; above 0 if a text shares a word with the query."""
        word_ids = [self._vocabulary[word] for word in split_words(query) if word in self._vocabulary]
        if not word_ids or self._bm25 is None:
            return np.zeros(self._size, np.float32)
        scores: NDArray[np.float32] = self._bm25.get_scores_from_ids(word_ids)
        return scores

    def rank(self, query: str) -> list[int]:
        """Return the numbers of all texts that share a word with the query, best first."""
        return rank_best_first(self.compute_scores(query))


def rank_best_first(scores: NDArray[np.float32]) -> list[int]:
    """Return the indices of the scores above 0, highest first; equal scores in index order."""
    numbers = np.flatnonzero(scores > 0)
    ranking: list[int] = numbers[np.lexsort((numbers, -scores[numbers]))].tolist()
    return ranking


def split_words(text: str) -> list[str]:
    """Return the words of a text in order, in lower case, without English stop words."""
    return [word for word in _WORD.findall(text.lower()) if word not in _STOPWORD]
