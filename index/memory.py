"""A corpus in memory: the twin of `index.Corpus` for tests and for a handful of papers."""

import datetime as dt
from collections.abc import Mapping, Sequence

import numpy as np

from assayer.errors import CorpusError
from assayer.models import Absent, CorpusFit, Filters, FullText, Hit, Paper, PaperId, Passage, Retraction
from assayer.ports import Embedder, Vectors

__all__ = ["MemoryCorpora", "MemoryCorpus"]


class MemoryCorpus:
    """Implements the Literature port by exact search over a few papers. `fit_level` is given, not measured."""

    source = "corpus"

    def __init__(
        self,
        papers: Sequence[Paper],
        embedder: Embedder,
        references: Mapping[PaperId, Sequence[PaperId]] | None = None,
        fit: CorpusFit | None = None,
    ) -> None:
        self._papers = {paper.id: paper for paper in papers}
        self._embedder = embedder
        self._references = references or {}
        self._fit = fit or CorpusFit(level="good", value=1.0, criterion="given, not measured")
        self._vectors: dict[PaperId, Vectors] = {}

    @property
    def version(self) -> str:
        return f"memory-{len(self._papers)}"

    async def search(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Hit]]:
        return await self.find(queries, limit, Filters(before=before))

    async def find(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Hit]]:
        """Fields are not known of a paper by itself: none is of any."""
        vectors = await self._embedder.embed(queries, "query")
        return [await self._nearest(vector, limit, filters) for vector in vectors]

    async def snippets(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Passage]]:
        return await self.find_passages(queries, limit, Filters(before=before))

    async def find_passages(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Passage]]:
        return [
            [
                Passage(paper=hit.paper, section="abstract", text=hit.paper.abstract, similarity=hit.similarity)
                for hit in hits
            ]
            for hits in await self.find(queries, limit, filters)
        ]

    async def neighbours(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Hit]]:
        await self._embed()
        known = [paper for paper in papers if paper in self._papers]
        filters = {paper: Filters(before=before, without=frozenset({paper})) for paper in known}
        return {paper: await self._nearest(self._vectors[paper], limit, filters[paper]) for paper in known}

    async def references(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Paper]]:
        return {
            paper: list((await self.papers(self._references[paper], before)).values())[:limit]
            for paper in papers
            if paper in self._references
        }

    async def papers(self, ids: Sequence[PaperId], before: dt.date | None) -> dict[PaperId, Paper]:
        return {one: self._papers[one] for one in ids if one in self._papers and _known(self._papers[one], before)}

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        await self._embed()
        (vector,) = await self._embedder.embed([text], "query")
        return {paper: float(self._vectors[paper] @ vector) for paper in papers if paper in self._vectors}

    async def meanings(self, texts: Sequence[str]) -> Vectors:
        return await self._embedder.embed(texts, "query")

    async def embed(self, titled: Sequence[tuple[str, str]]) -> Vectors:
        return await self._embedder.embed([f"{title}. {text}" for title, text in titled], "passage")

    def newest(self, before: dt.date | None) -> dt.date | None:
        dates = [one.publication_date for one in self._papers.values() if one.publication_date and _known(one, before)]
        return max(dates, default=None)

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        return {paper.id: paper.retraction for paper in papers if paper.retraction is not None}

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return {paper: Absent(reason="the corpus holds only the abstract") for paper in papers}

    async def fit(self, text: str, before: dt.date | None) -> CorpusFit:
        return self._fit

    async def _embed(self) -> None:
        if not self._vectors and self._papers:
            texts = [f"{paper.title}. {paper.abstract}" for paper in self._papers.values()]
            vectors = await self._embedder.embed(texts, "passage")
            self._vectors = dict(zip(self._papers, vectors, strict=True))

    async def _nearest(self, vector: Vectors, limit: int, filters: Filters) -> list[Hit]:
        await self._embed()
        candidates = [one for one in self._papers.values() if _counts(one, filters)]
        cosines = np.array([float(self._vectors[paper.id] @ vector) for paper in candidates])
        order = np.argsort(-cosines, kind="stable")[:limit]
        return [Hit(paper=candidates[index], similarity=float(cosines[index])) for index in order.tolist()]


class MemoryCorpora:
    """The twin of `index.Corpora`: the versions that it is given, the last the current one."""

    def __init__(self, *versions: MemoryCorpus) -> None:
        self._versions = {one.version: one for one in versions}

    async def current(self) -> MemoryCorpus:
        if not self._versions:
            raise CorpusError("There is no corpus in memory.")
        return list(self._versions.values())[-1]

    async def at(self, version: str) -> MemoryCorpus:
        if version not in self._versions:
            raise CorpusError(f"Version {version} of the corpus has been removed.")
        return self._versions[version]


def _known(paper: Paper, before: dt.date | None) -> bool:
    return before is None or (paper.publication_date is not None and paper.publication_date <= before)


def _counts(paper: Paper, filters: Filters) -> bool:
    day, retracted = paper.publication_date, paper.retraction is not None
    return (
        _known(paper, filters.before)
        and (filters.after is None or day is None or day >= filters.after)
        and (not filters.venues or paper.venue.lower() in {venue.lower() for venue in filters.venues})
        and not filters.fields
        and filters.retracted in (None, retracted)
        and paper.id not in filters.without
    )
