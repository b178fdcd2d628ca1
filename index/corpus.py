"""Give evaluation methods access to one version of the local corpus: papers, search, full texts and corpus fit."""

import bisect
import datetime as dt
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Protocol

import numpy as np

from assayer.models import OPEN, Absent, CorpusFit, Filters, FullText, Hit, Paper, PaperId, Passage, Retraction, Window
from assayer.ports import Embedder, LexicalEmbedder, Vectors
from index.corpus_fit import compute_mean_nearness, judge_fit, select_fit_passages
from index.corpus_parts import CorpusInfo, CorpusPart, describe_corpus
from index.search.hybrid_search import Query, WeighedQuery
from index.search.local_reader import ReaderHandle
from index.segments.gpus import Device
from index.segments.paper_store import SOURCE
from index.segments.passages import build_paper_text, split_passages
from index.shards.sharded_queries import CorpusQueries
from index.versions.manifest import check_embedder
from index.versions.verification_cache import VerificationCache


class Corpus(CorpusQueries):
    """Implements `assayer.ports.Literature` with a single version of a corpus, local or remote, sharded or not."""

    source = SOURCE

    def __init__(
        self,
        info: CorpusInfo,
        days: Iterable[dt.date],
        parts: Sequence[ReaderHandle],
        embedder: Embedder,
        close: Callable[[], None] | None = None,
    ) -> None:
        """Create a corpus. `days` are the publication days of all its papers. `parts` are its shards in order; for a
        corpus without shards, its only reader."""
        super().__init__(parts)
        self._info = info
        self._days = sorted(set(days))
        self._embedder = embedder
        self._finish = weakref.finalize(self, close) if close is not None else None

    @classmethod
    def open(
        cls,
        directory: Path,
        embedder: Embedder,
        version: str | None = None,
        proofs: VerificationCache | None = None,
        device: Device = "cpu",
    ) -> "Corpus":
        """Open a version on this machine, by default the current version. Raises CorpusError if it is missing, was
        built with another embedding model, or has a file that changed since it was written. Raises ConfigurationError
        if `device` needs a GPU and there is none or it has too little memory."""
        info = describe_corpus(directory, version)
        check_embedder(info, embedder, directory)
        with ExitStack() as stack:
            parts = [
                stack.enter_context(
                    closing(CorpusPart.open(directory, info, number, proofs or VerificationCache(), device))
                )
                for number in range(info.part_count)
            ]
            days = (day for part in parts for day in part.days)
            return cls(info, days, parts, embedder, stack.pop_all().close)

    def __len__(self) -> int:
        """Return the number of papers."""
        return self._info.papers

    @property
    def version(self) -> str:
        return self._info.version

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        return await self.find(queries, limit, Filters(window=window))

    async def find(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Hit]]:
        """Search as `search` does, but only among papers that pass the filters."""
        return await self.find_embedded(*await self._embed_for_search(queries), limit, filters)

    async def snippets(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Passage]]:
        return await self.find_passages(queries, limit, Filters(window=window))

    async def find_passages(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Passage]]:
        """Find passages as `snippets` does, but only in papers that pass the filters."""
        return await self.find_passages_embedded(*await self._embed_for_search(queries), limit, filters)

    async def _embed_for_search(self, queries: Sequence[str]) -> tuple[Sequence[Query], Vectors]:
        """Embed the queries, with lexical weights if the corpus has any. `check_embedder` ensures that the embedder
        then provides them."""
        if self._info.lexical and isinstance(self._embedder, LexicalEmbedder):
            vectors, lexical = await self._embedder.embed_with_weights(queries, "query")
            return list(map(WeighedQuery, queries, lexical)), vectors
        return queries, await self._embedder.embed(queries, "query")

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        (vector,) = await self.embed_queries([text])
        return await self.compute_similarities(vector, papers)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a query vector of length 1 for each text. For a text longer than a passage, it is the normalized mean
        of its passages' vectors."""
        return np.stack([await self._embed_query(text) for text in texts])

    async def _embed_query(self, text: str) -> Vectors:
        pieces = [text[span.start : span.end].strip() for span in split_passages(text)] or [text]
        mean: Vectors = (await self._embedder.embed(pieces, "query")).mean(axis=0)
        return mean / np.linalg.norm(mean)

    async def embed(self, titles_and_abstracts: Sequence[tuple[str, str]]) -> Vectors:
        """Return the passage vector for each (title, text) pair, computed in the same way as for the corpus's own
        abstracts and passages."""
        return await self._embedder.embed(
            [build_paper_text(*title_and_abstract) for title_and_abstract in titles_and_abstracts], "passage"
        )

    def get_newest_date(self, window: Window) -> dt.date | None:
        """Return the publication day of the newest paper in the window; None if the window contains no dated paper."""
        days_until_end = len(self._days) if window.before is None else bisect.bisect_right(self._days, window.before)
        return (
            self._days[days_until_end - 1]
            if days_until_end and window.contains(self._days[days_until_end - 1])
            else None
        )

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """Return the retractions in the corpus's records."""
        papers_by_id = await self.papers([paper.id for paper in papers], OPEN)
        return {paper_id: paper.retraction for paper_id, paper in papers_by_id.items() if paper.retraction is not None}

    async def fit(self, text: str, window: Window) -> CorpusFit:
        """Measure how well the corpus covers the text; see `index.corpus_fit` for the statistic."""
        passages = await self._embedder.embed(select_fit_passages(text), "query")
        filters = Filters(window=window)
        papers = await self.count_passing(filters)
        value = await self._measure_nearness(passages, filters) if papers and len(passages) else 0.0
        return judge_fit(value, self._info.fit, papers, window)

    def close(self) -> None:
        """Cancel pending calls, so that the version can be removed. Calling this is optional: the corpus closes itself
        once nothing refers to it."""
        if self._finish is not None:
            self._finish()

    async def _measure_nearness(self, passages: Vectors, filters: Filters) -> float:
        neighbours = self._info.fit.neighbours if self._info.fit else 1
        nearest = await self.find_nearest(passages, neighbours, filters)
        return compute_mean_nearness(passages, lambda *_: nearest, neighbours)


def create_empty_corpus(embedder: Embedder) -> Corpus:
    """Return a corpus without papers, for methods that read no literature."""
    return Corpus(CorpusInfo("none", "", 0, 0, None, 0), (), (), embedder)


class FullTextLookup(Protocol):
    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        """Return an entry for every requested paper."""
        ...


class CorpusFullTexts:
    """Implements `assayer.ports.FullTexts` with the sections in the corpus's records."""

    def __init__(self, corpus: FullTextLookup) -> None:
        self._corpus = corpus

    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        return await self._corpus.full_texts([paper.id for paper in papers])
