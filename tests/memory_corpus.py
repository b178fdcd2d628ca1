"""In-memory replacement of `index.Corpus` for a handful of papers."""

import datetime as dt
from collections.abc import Mapping, Sequence

import numpy as np

from assayer.cutoff import admits
from assayer.literature.citation_ids import collect_citation_ids
from assayer.models import (
    Absent,
    CorpusFit,
    Filters,
    FullText,
    Hit,
    Paper,
    PaperContents,
    PaperId,
    Passage,
    Retraction,
    Window,
)
from assayer.ports import CitationIds, Embedder, Vectors
from index.segments.content_graph import extract_contents


class MemoryCorpus:
    """Implements the Literature port with an exact search of a few papers. `fit` is passed in, not measured."""

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

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        return await self.find(queries, limit, Filters(window=window))

    async def find(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Hit]]:
        """Search among papers that pass the filters. Papers have no fields of study here, so a filter by fields
        matches none."""
        vectors = await self._embedder.embed(queries, "query")
        return [await self._nearest(vector, limit, filters) for vector in vectors]

    async def snippets(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Passage]]:
        return await self.find_passages(queries, limit, Filters(window=window))

    async def find_passages(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Passage]]:
        return [
            [
                Passage(paper=hit.paper, section="abstract", text=hit.paper.abstract, similarity=hit.similarity)
                for hit in hits
            ]
            for hits in await self.find(queries, limit, filters)
        ]

    async def neighbours(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Hit]]:
        await self._embed()
        known_papers = [paper for paper in papers if paper in self._papers]
        filters = {paper: Filters(window=window, without=frozenset({paper})) for paper in known_papers}
        return {paper: await self._nearest(self._vectors[paper], limit, filters[paper]) for paper in known_papers}

    async def references(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        return {
            paper: list((await self.papers(self._references[paper], window)).values())[:limit]
            for paper in papers
            if paper in self._references
        }

    async def citing(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        answers = {}
        for paper in papers:
            if paper in self._papers:
                citing_ids = [item for item, cited_ids in self._references.items() if paper in cited_ids]
                papers_citing = (await self.papers(citing_ids, window)).values()
                newest = sorted(papers_citing, key=lambda item: item.publication_date or dt.date.min, reverse=True)
                answers[paper] = newest[:limit]
        return answers

    async def citations(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, CitationIds]:
        return await collect_citation_ids(self, papers, limit, window)

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        known_papers = [self._papers[paper] for paper in papers if paper in self._papers]
        return {item.id: extract_contents(item.title, item.abstract) for item in known_papers}

    async def papers(self, ids: Sequence[PaperId], window: Window) -> dict[PaperId, Paper]:
        return {
            item: self._papers[item]
            for item in ids
            if item in self._papers and _passes_filters(self._papers[item], Filters(window=window))
        }

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        await self._embed()
        (vector,) = await self._embedder.embed([text], "query")
        return {paper: float(self._vectors[paper] @ vector) for paper in papers if paper in self._vectors}

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embedder.embed(texts, "query")

    async def embed(self, titles_and_abstracts: Sequence[tuple[str, str]]) -> Vectors:
        return await self._embedder.embed([f"{title}. {text}" for title, text in titles_and_abstracts], "passage")

    def get_newest_date(self, window: Window) -> dt.date | None:
        dates = (paper.publication_date for paper in self._papers.values())
        return max((day for day in dates if day is not None and window.contains(day)), default=None)

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        return {paper.id: paper.retraction for paper in papers if paper.retraction is not None}

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return {paper: Absent(reason="the corpus contains only the abstract") for paper in papers}

    async def fit(self, text: str, window: Window) -> CorpusFit:
        return self._fit

    async def _embed(self) -> None:
        if not self._vectors and self._papers:
            texts = [f"{paper.title}. {paper.abstract}" for paper in self._papers.values()]
            vectors = await self._embedder.embed(texts, "passage")
            self._vectors = dict(zip(self._papers, vectors, strict=True))

    async def _nearest(self, vector: Vectors, limit: int, filters: Filters) -> list[Hit]:
        await self._embed()
        candidates = [item for item in self._papers.values() if _passes_filters(item, filters)]
        cosines = np.array([float(self._vectors[paper.id] @ vector) for paper in candidates])
        order = np.argsort(-cosines, kind="stable")[:limit]
        return [Hit(paper=candidates[index], similarity=float(cosines[index])) for index in order.tolist()]


def _passes_filters(paper: Paper, filters: Filters) -> bool:
    is_retracted = paper.retraction is not None
    return (
        admits(filters.window, paper.publication_date, undated=filters.window.before is None)
        and (not filters.venues or paper.venue.lower() in {venue.lower() for venue in filters.venues})
        and not filters.fields
        and filters.retracted in (None, is_retracted)
        and paper.id not in filters.without
    )
