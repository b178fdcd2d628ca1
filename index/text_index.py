"""Texts searched by meaning and by words."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Vectors
from index.dense import Dense, DenseParameters, Nearest, build_dense
from index.lexical import Lexical, build_lexical

__all__ = ["Found", "TextIndex", "build_text_index"]

_WORDS = "words"


class Found(NamedTuple):
    """Two opinions on one query, each best first."""

    by_meaning: Nearest
    by_words: NDArray[np.int64]


class TextIndex:
    def __init__(self, directory: Path, parameters: DenseParameters, exact_up_to: int) -> None:
        self.dense = Dense(directory, parameters, exact_up_to)
        self.lexical = Lexical(directory / _WORDS)

    def find(self, queries: Sequence[str], vectors: Vectors, depth: int, rows: int) -> list[Found]:
        """Among the first `rows` texts, at most `depth` each way."""
        by_meaning = self.dense.nearest(vectors, depth, rows)
        return [
            Found(nearest, self.lexical.best(query, depth, rows))
            for query, nearest in zip(queries, by_meaning, strict=True)
        ]


def build_text_index(
    texts: Sequence[str], vectors: Vectors, directory: Path, tuning: Vectors, exact_up_to: int
) -> DenseParameters:
    """`vectors` are those in the directory's own file."""
    build_lexical(texts, directory / _WORDS)
    return build_dense(vectors, directory, tuning, exact_up_to)
