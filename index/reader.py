"""Answers questions about one version of a corpus, one after the other. `index.corpus` runs it in a thread."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.models import Hit, Paper, PaperId, Passage
from assayer.ports import Vectors
from index.fusion import fuse
from index.layout import ABSTRACT, PAPERS, PASSAGES, PassagePlace, read_places
from index.manifest import Manifest
from index.passages import spans
from index.store import PaperStore
from index.text_index import Found, TextIndex

__all__ = ["Reader"]

_DEPTH = 50
"""Least number of candidates of each ranking before they are fused."""


class Reader:
    """A unit is a paper, by its row, or a passage, by its number after all papers. `rows` says how many of the
    first papers count, which is how a cutoff arrives here."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.store = PaperStore(directory)
        self.papers = TextIndex(directory / PAPERS, manifest.paper_index, manifest.exact_up_to)
        self._passages: TextIndex | None = None
        self._places: NDArray[np.int32] = np.empty((0, len(PassagePlace._fields)), np.int32)
        if manifest.passage_index is not None:
            self._passages = TextIndex(directory / PASSAGES, manifest.passage_index, manifest.exact_up_to)
            self._places = read_places(directory / PASSAGES)

    def search(self, queries: Sequence[str], vectors: Vectors, limit: int, rows: int) -> list[list[Hit]]:
        found = self.papers.find(queries, vectors, _depth(limit), rows)
        return [
            [
                Hit(paper=self.store.paper(row), similarity=similarity)
                for row, similarity in self._fused(vector, [one.by_meaning.rows, one.by_words], limit)
            ]
            for vector, one in zip(vectors, found, strict=True)
        ]

    def snippets(self, queries: Sequence[str], vectors: Vectors, limit: int, rows: int) -> list[list[Passage]]:
        depth = _depth(limit)
        in_papers = self.papers.find(queries, vectors, depth, rows)
        in_passages = self._find_passages(queries, vectors, depth, rows)
        return [
            [
                self._passage(unit, similarity)
                for unit, similarity in self._fused(vector, _rankings(first, second, depth), limit)
            ]
            for vector, first, second in zip(vectors, in_papers, in_passages, strict=True)
        ]

    def neighbours(self, papers: Mapping[PaperId, int], limit: int, rows: int) -> dict[PaperId, list[Hit]]:
        own = list(papers.values())
        found = self.papers.dense.nearest(self.papers.dense.vectors[own], limit + 1, rows)
        answers = {}
        for (paper_id, row), nearest in zip(papers.items(), found, strict=True):
            others = [
                Hit(paper=self.store.paper(other), similarity=similarity)
                for other, similarity in zip(*map(np.ndarray.tolist, nearest), strict=True)
                if other != row
            ]
            answers[paper_id] = others[:limit]
        return answers

    def references(self, papers: Mapping[PaperId, int], limit: int, rows: int) -> dict[PaperId, list[Paper]]:
        answers = {}
        for paper_id, row in papers.items():
            cited = self.store.references(row)
            if cited is not None:
                known = [other for other in self.store.rows(cited).values() if other < rows]
                answers[paper_id] = [self.store.paper(other) for other in known[:limit]]
        return answers

    def _find_passages(self, queries: Sequence[str], vectors: Vectors, depth: int, rows: int) -> Sequence[Found | None]:
        """With units in place of the passages' own rows."""
        if self._passages is None:
            return [None] * len(queries)
        allowed = int(np.searchsorted(self._places[:, 0], rows))
        first = len(self.store)
        return [
            Found(one.by_meaning._replace(rows=one.by_meaning.rows + first), one.by_words + first)
            for one in self._passages.find(queries, vectors, depth, allowed)
        ]

    def _fused(
        self, query: NDArray[np.float32], rankings: Sequence[NDArray[np.int64]], limit: int
    ) -> list[tuple[int, float]]:
        """Units and cosines, best first; equal ranks by cosine, then by unit."""
        scores = fuse(ranking.tolist() for ranking in rankings)
        similarities = self._similarities(query, list(scores))
        best = sorted(scores, key=lambda unit: (-scores[unit], -similarities[unit], unit))[:limit]
        return [(unit, similarities[unit]) for unit in best]

    def _similarities(self, query: NDArray[np.float32], units: Sequence[int]) -> dict[int, float]:
        first = len(self.store)
        papers = [unit for unit in units if unit < first]
        found = dict(zip(papers, self.papers.dense.similarities(query, papers).tolist(), strict=True))
        if self._passages is not None:
            others = [unit for unit in units if unit >= first]
            own = self._passages.dense.similarities(query, [unit - first for unit in others])
            found |= zip(others, own.tolist(), strict=True)
        return found

    def _passage(self, unit: int, similarity: float) -> Passage:
        """Which papers a passage cites is not known: sources give references by paper."""
        if unit < len(self.store):
            paper, section, text = self.store.paper(unit), "abstract", self.store.paper(unit).abstract
            start, end = spans(text)[0]
        else:
            row, number, start, end = self._places[unit - len(self.store)].tolist()
            paper = self.store.paper(row)
            section, text = "abstract", paper.abstract
            if number != ABSTRACT:
                found = self.store.sections(row)[number]
                section, text = found.title, found.text
        return Passage(paper=paper, section=section, text=text[start:end].strip(), similarity=similarity)


def _depth(limit: int) -> int:
    return max(_DEPTH, 2 * limit)


def _rankings(papers: Found, passages: Found | None, depth: int) -> list[NDArray[np.int64]]:
    """One by meaning, as cosines can be compared; two by words, as BM25 scores of two indexes cannot."""
    if passages is None:
        return [papers.by_meaning.rows, papers.by_words]
    units = np.concatenate([papers.by_meaning.rows, passages.by_meaning.rows])
    similarities = np.concatenate([papers.by_meaning.similarities, passages.by_meaning.similarities])
    best = units[np.lexsort((units, -similarities))][:depth]
    return [best, papers.by_words, passages.by_words]
