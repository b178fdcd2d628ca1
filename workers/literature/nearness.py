"""How near papers from elsewhere are, measured as the corpus measures its own; vectors are kept for the evaluation."""

from collections.abc import Mapping, Sequence

import numpy as np

from assayer.models import Paper, PaperId
from assayer.ports import Vectors
from workers.literature.local import LocalCorpus

__all__ = ["Nearness"]


class Nearness:
    """Cosines, rounded to six decimals as the corpus's are."""

    def __init__(self, corpus: LocalCorpus) -> None:
        self._corpus = corpus
        self._vectors: dict[PaperId, Vectors] = {}

    async def of(self, text: str, papers: Sequence[Paper]) -> Mapping[PaperId, float]:
        """Of a text with papers."""
        if not papers:
            return {}
        (vector,) = await self._corpus.meanings([text])
        return dict(zip((paper.id for paper in papers), _cosines(vector, await self._of(papers)), strict=True))

    async def between(self, paper: Paper, others: Sequence[Paper]) -> Mapping[PaperId, float]:
        """Of a paper with others."""
        vectors = await self._of([paper, *others])
        return dict(zip((other.id for other in others), _cosines(vectors[0], vectors[1:]), strict=True))

    async def of_texts(self, text: str, titled: Sequence[tuple[str, str]]) -> list[float]:
        """Of a text with passages, each under its paper's title."""
        (vector,) = await self._corpus.meanings([text])
        return _cosines(vector, await self._corpus.embed(titled))

    async def _of(self, papers: Sequence[Paper]) -> Vectors:
        new = {paper.id: paper for paper in papers if paper.id not in self._vectors}
        if new:
            vectors = await self._corpus.embed([(paper.title, paper.abstract) for paper in new.values()])
            self._vectors |= zip(new, vectors, strict=True)
        return np.stack([self._vectors[paper.id] for paper in papers])


def _cosines(vector: Vectors, others: Vectors) -> list[float]:
    cosines: list[float] = np.round(others.astype(np.float64) @ vector.astype(np.float64), 6).tolist()
    return cosines
