"""The local corpus as methods see it."""

import asyncio
import datetime as dt
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from assayer.models import Absent, CorpusFit, FullText, Hit, Paper, PaperId, Passage, Retraction
from assayer.ports import Embedder, Vectors
from index.filters import Filters
from index.fit import fit_passages, judge, nearness
from index.layout import paper_text
from index.manifest import Manifest, read_manifest
from index.opening import refuse_other_model
from index.passages import spans
from index.reader import Reader
from index.store import SOURCE
from index.versions import Versions

__all__ = ["Corpus", "CorpusFullTexts", "HoldsFullTexts"]

Out = TypeVar("Out")


class Corpus:
    """`assayer.ports.Literature`: one version. Searches run in a thread of their own, so the event loop stays free."""

    def __init__(self, reader: Reader, manifest: Manifest, embedder: Embedder, hold: int) -> None:
        """`hold` is the descriptor that keeps the version from being removed; it is closed with the corpus."""
        self.manifest = manifest
        self._reader = reader
        self._embedder = embedder
        self._release = weakref.finalize(self, os.close, hold)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="corpus")

    @classmethod
    def open(cls, directory: Path, embedder: Embedder) -> "Corpus":
        """The current version. Raises CorpusError when there is none, when a file is not as it was written, or
        when another embedding model made it."""
        versions = Versions(directory)
        manifest = read_manifest(versions.current())
        refuse_other_model(manifest, embedder, directory)
        hold = versions.hold(manifest.version)
        try:
            versions.verify(manifest)
            return cls(Reader.open(versions, manifest), manifest, embedder, hold)
        except BaseException:
            os.close(hold)
            raise

    def __len__(self) -> int:
        """Papers."""
        return self.manifest.papers

    @property
    def version(self) -> str:
        return self.manifest.version

    @property
    def source(self) -> str:
        return SOURCE

    async def search(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Hit]]:
        return await self.find(queries, limit, Filters(before=before))

    async def find(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Hit]]:
        """As `search`, of the papers that pass the filters."""
        vectors = await self._embedder.embed(queries, "query")
        return await self._run(lambda: self._reader.search(queries, vectors, limit, filters))

    async def snippets(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Passage]]:
        vectors, filters = await self._embedder.embed(queries, "query"), Filters(before=before)
        return await self._run(lambda: self._reader.snippets(queries, vectors, limit, filters))

    async def neighbours(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Hit]]:
        filters = Filters(before=before)
        return await self._run(lambda: self._reader.neighbours(self._reader.units(papers), limit, filters))

    async def references(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Paper]]:
        """In the order of the paper's own list. Papers whose references no source gave are missing."""
        filters = Filters(before=before)
        return await self._run(lambda: self._reader.references(self._reader.units(papers), limit, filters))

    async def citations(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Paper]]:
        """Papers of the corpus that cite each given one, the newest first."""
        filters = Filters(before=before)
        return await self._run(lambda: self._reader.citations(self._reader.units(papers), limit, filters))

    async def papers(self, ids: Sequence[PaperId], before: dt.date | None) -> dict[PaperId, Paper]:
        reader, filters = self._reader, Filters(before=before)
        return {one: reader.paper(unit) for one, unit in reader.units(ids).items() if reader.counts(unit, filters)}

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        known = self._reader.units(papers)
        (vector,) = await self.meanings([text])
        return dict(zip(known, self._reader.similarities(vector, list(known.values())), strict=True))

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

    def days(self) -> tuple[dt.date, ...]:
        """On which its papers were published, each once, in order."""
        return self._reader.days()

    def newest(self, before: dt.date | None) -> dt.date | None:
        """Day of the newest paper that counts; None when none is dated."""
        return self._reader.newest(before)

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """What its records say; it is as old as they are."""
        known = await self.papers([paper.id for paper in papers], None)
        return {one: paper.retraction for one, paper in known.items() if paper.retraction is not None}

    async def fit(self, text: str, before: dt.date | None) -> CorpusFit:
        """See `index.fit` for what is measured."""
        passages = await self._embedder.embed(fit_passages(text), "query")
        filters = Filters(before=before)
        papers = self._reader.counting(filters)
        value = await self._run(lambda: self._nearness(passages, filters)) if papers else 0.0
        return judge(value, self.manifest.fit, papers, before)

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return await self._run(lambda: self._full_texts(papers))

    def close(self) -> None:
        """Ends the thread; what waits for it is cancelled. The version may be removed then."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._release()

    async def _run(self, work: Callable[[], Out]) -> Out:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _nearness(self, passages: Vectors, filters: Filters) -> float:
        neighbours = self.manifest.fit.neighbours if self.manifest.fit else 1
        if not len(passages):
            return 0.0
        return nearness(passages, lambda asked, limit: self._reader.nearest(asked, limit, filters), neighbours)

    def _full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        units = self._reader.units(papers)
        found: dict[PaperId, FullText | Absent] = {}
        for paper in papers:
            if paper not in units:
                found[paper] = Absent(reason="the paper is not in the corpus")
            else:
                text = self._reader.full_text(units[paper])
                found[paper] = text or Absent(reason="the corpus holds only the abstract")
        return found


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
