"""The local corpus as methods see it."""

import bisect
import datetime as dt
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Protocol

import numpy as np

from assayer.models import Absent, CorpusFit, FullText, Hit, Paper, PaperId, Passage, Retraction
from assayer.ports import Embedder, Vectors
from index.filters import Filters
from index.fit import fit_passages, judge, nearness
from index.searching.answering import Answering, Whole
from index.searching.asking import Asked
from index.segments.graphics import CPU
from index.segments.layout import paper_text
from index.segments.passages import spans
from index.segments.store import SOURCE
from index.shards.fanning import Fanned
from index.shards.parts import OfWhole, Part, whole_of
from index.versions.opening import refuse_other_model
from index.versions.proofs import Proofs

__all__ = ["Corpus", "CorpusFullTexts", "HoldsFullTexts"]


class Corpus:
    """`assayer.ports.Literature`: one version, open here or elsewhere, whole or in shards."""

    source = SOURCE

    def __init__(
        self,
        whole: OfWhole,
        days: Iterable[dt.date],
        parts: Sequence[Asked],
        embedder: Embedder,
        close: Callable[[], None] | None = None,
    ) -> None:
        """`days` on which papers of any part were published; `parts` are the shards in their order, or the whole."""
        self._whole = whole
        self._days = sorted(set(days))
        self._answers: Answering = Fanned(parts) if whole.shards else Whole(parts[0])
        self._embedder = embedder
        self._finish = weakref.finalize(self, close) if close is not None else None

    @classmethod
    def open(
        cls,
        directory: Path,
        embedder: Embedder,
        version: str | None = None,
        proofs: Proofs | None = None,
        device: str = CPU,
    ) -> "Corpus":
        """Here, the current version by default. Raises CorpusError when it is not there, when a file is not as it was
        written, or when another embedding model made it; ConfigurationError when there is no such device."""
        whole = whole_of(directory, version)
        refuse_other_model(whole, embedder, directory)
        with ExitStack() as stack:
            parts = [
                stack.enter_context(closing(Part.open(directory, whole, number, proofs or Proofs(), device)))
                for number in range(whole.parts)
            ]
            days = (day for part in parts for day in part.days)
            return cls(whole, days, parts, embedder, stack.pop_all().close)

    def __len__(self) -> int:
        """Papers."""
        return self._whole.papers

    @property
    def version(self) -> str:
        return self._whole.version

    async def search(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Hit]]:
        return await self.find(queries, limit, Filters(before=before))

    async def find(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Hit]]:
        """As `search`, of the papers that pass the filters."""
        return await self._answers.search(queries, await self._embedder.embed(queries, "query"), limit, filters)

    async def snippets(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Passage]]:
        return await self.find_passages(queries, limit, Filters(before=before))

    async def find_passages(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Passage]]:
        """As `snippets`, of the papers that pass the filters."""
        return await self._answers.snippets(queries, await self._embedder.embed(queries, "query"), limit, filters)

    async def neighbours(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Hit]]:
        return await self._answers.neighbours(papers, limit, Filters(before=before))

    async def references(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Paper]]:
        """In the order of the paper's own list. Papers whose references no source gave are missing."""
        return await self._answers.references(papers, limit, Filters(before=before))

    async def citations(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Paper]]:
        """Papers of the corpus that cite each given one, the newest first."""
        return await self._answers.citations(papers, limit, Filters(before=before))

    async def papers(self, ids: Sequence[PaperId], before: dt.date | None) -> dict[PaperId, Paper]:
        return await self._answers.papers(ids, Filters(before=before))

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        (vector,) = await self.meanings([text])
        return await self._answers.similarities(vector, papers)

    async def meanings(self, texts: Sequence[str]) -> Vectors:
        """What papers are held against: one unit vector a text. One longer than a passage counts as the mean of its
        passages."""
        return np.stack([await self._meaning(text) for text in texts])

    async def _meaning(self, text: str) -> Vectors:
        pieces = [text[span.start : span.end].strip() for span in spans(text)] or [text]
        mean: Vectors = (await self._embedder.embed(pieces, "query")).mean(axis=0)
        return mean / np.linalg.norm(mean)

    async def embed(self, titled: Sequence[tuple[str, str]]) -> Vectors:
        """Vectors of texts under their papers' titles, as the corpus's own abstracts and passages have them."""
        return await self._embedder.embed([paper_text(*one) for one in titled], "passage")

    def newest(self, before: dt.date | None) -> dt.date | None:
        """Day of the newest paper that counts; None when none is dated."""
        known = len(self._days) if before is None else bisect.bisect_right(self._days, before)
        return self._days[known - 1] if known else None

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """What its records say; it is as old as they are."""
        known = await self.papers([paper.id for paper in papers], None)
        return {one: paper.retraction for one, paper in known.items() if paper.retraction is not None}

    async def fit(self, text: str, before: dt.date | None) -> CorpusFit:
        """See `index.fit` for what is measured."""
        passages = await self._embedder.embed(fit_passages(text), "query")
        filters = Filters(before=before)
        papers = await self._answers.counting(filters)
        value = await self._nearness(passages, filters) if papers and len(passages) else 0.0
        return judge(value, self._whole.fit, papers, before)

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return await self._answers.full_texts(papers)

    def close(self) -> None:
        """What waits for an answer is cancelled. The version may be removed then. Nobody has to: it is closed when
        nothing refers to it any more."""
        if self._finish is not None:
            self._finish()

    async def _nearness(self, passages: Vectors, filters: Filters) -> float:
        neighbours = self._whole.fit.neighbours if self._whole.fit else 1
        found = await self._answers.nearest(passages, neighbours, filters)
        return nearness(passages, lambda *_: found, neighbours)


class HoldsFullTexts(Protocol):
    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        """Every asked paper is in the answer."""
        ...


class CorpusFullTexts:
    """`assayer.ports.FullTexts`: the sections that came with the records."""

    def __init__(self, corpus: HoldsFullTexts) -> None:
        self._corpus = corpus

    async def get(self, papers: Sequence[Paper]) -> Mapping[PaperId, FullText | Absent]:
        return await self._corpus.full_texts([paper.id for paper in papers])
