"""Vectors that texts have already, so that no text is embedded twice."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from index.dense import Dense
from index.ids import hashed
from index.layout import ABSTRACT, PassagePlace, paper_text, passage_text
from index.revision import RowsOf
from index.segment import Segment

__all__ = ["known_vectors"]


def known_vectors(papers: Iterable[RowsOf]) -> dict[int, tuple[Dense, int]]:
    """Where they lie, by the text's hash: of these papers, and of their passages."""
    found: dict[int, tuple[Dense, int]] = {}
    for segment, rows in papers:
        texts = (paper_text(*segment.store.text(row)) for row in rows.tolist())
        found |= {key: (segment.papers, row) for key, row in zip(hashed(texts).tolist(), rows.tolist(), strict=True)}
        if segment.passages is not None:
            own = segment.passages_of(rows)
            keys = hashed(_passage_texts(segment, own)).tolist()
            found |= {key: (segment.passages, row) for key, row in zip(keys, own.tolist(), strict=True)}
    return found


def _passage_texts(segment: Segment, passages: NDArray[np.int64]) -> Iterator[str]:
    """Those of a paper follow one another, so its sections are read once."""
    paper, texts = -1, {}
    for columns in segment.places[passages].tolist():
        spot = PassagePlace(*columns)
        if spot.paper != paper:
            paper, (title, abstract) = spot.paper, segment.store.text(spot.paper)
            texts = {ABSTRACT: abstract} | {n: one.text for n, one in enumerate(segment.store.sections(spot.paper))}
        yield passage_text(title, texts[spot.section], spot)
