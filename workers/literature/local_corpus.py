"""Interface of the local corpus, which can also embed texts, and similarities computed with it.

Papers from remote sources are compared with queries in the same way as papers in the corpus. Their vectors are kept for
the duration of the evaluation."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from assayer.models import Paper, PaperId, Window
from assayer.ports import Literature, Vectors


class LocalCorpus(Literature, Protocol):
    """Literature that can also embed texts, so that papers from remote sources can be compared with its own."""

    def get_newest_date(self, window: Window) -> dt.date | None:
        """Return the date of the newest paper in the window, or None if no paper in it is dated."""
        ...

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per query, for comparison with papers and passages."""
        ...

    async def embed(self, titled: Sequence[tuple[str, str]]) -> Vectors:
        """Return one unit vector per pair of a paper's title and a text (its abstract or a passage)."""
        ...


class CorpusSimilarity:
    """Cosine similarities in the corpus's embedding space, rounded to six decimals as in the corpus."""

    def __init__(self, corpus: LocalCorpus) -> None:
        self._corpus = corpus
        self._vectors: dict[PaperId, Vectors] = {}

    async def compare_papers_to_query(self, query: str, papers: Sequence[Paper]) -> Mapping[PaperId, float]:
        """Return the query's similarity to each paper, by paper id."""
        if not papers:
            return {}
        (vector,) = await self._corpus.embed_queries([query])
        return dict(
            zip((paper.id for paper in papers), _compute_cosines(vector, await self._embed_papers(papers)), strict=True)
        )

    async def compare_papers_to_paper(self, paper: Paper, other_papers: Sequence[Paper]) -> Mapping[PaperId, float]:
        """Return the paper's similarity to each of the others, by paper id."""
        vectors = await self._embed_papers([paper, *other_papers])
        return dict(zip((other.id for other in other_papers), _compute_cosines(vectors[0], vectors[1:]), strict=True))

    async def compare_passages_to_query(self, query: str, titled: Sequence[tuple[str, str]]) -> list[float]:
        """Return the query's similarity to each passage, which is embedded with its paper's title."""
        (vector,) = await self._corpus.embed_queries([query])
        return _compute_cosines(vector, await self._corpus.embed(titled))

    async def _embed_papers(self, papers: Sequence[Paper]) -> Vectors:
        papers_by_id = {paper.id: paper for paper in papers if paper.id not in self._vectors}
        if papers_by_id:
            vectors = await self._corpus.embed([(paper.title, paper.abstract) for paper in papers_by_id.values()])
            self._vectors |= zip(papers_by_id, vectors, strict=True)
        return np.stack([self._vectors[paper.id] for paper in papers])


def _compute_cosines(vector: Vectors, other_vectors: Vectors) -> list[float]:
    cosines: list[float] = np.round(other_vectors.astype(np.float64) @ vector.astype(np.float64), 6).tolist()
    return cosines
