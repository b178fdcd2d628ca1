"""The local corpus as methods see it."""

import asyncio
import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from assayer.errors import CorpusError
from assayer.models import Absent, CorpusFit, FullText, Hit, Paper, PaperId, Passage, Retraction
from assayer.ports import Embedder, Vectors
from index.fit import fit_passages, judge, nearness
from index.layout import paper_text
from index.manifest import Manifest, read_manifest, verify
from index.passages import spans
from index.reader import Reader
from index.store import SOURCE
from index.versions import Versions

__all__ = ["Corpus", "CorpusFullTexts", "HoldsFullTexts"]

Out = TypeVar("Out")


class Corpus:
    """`assayer.ports.Literature`. Searches run in one thread of their own, so the event loop stays free."""

    def __init__(self, reader: Reader, manifest: Manifest, embedder: Embedder) -> None:
        self.manifest = manifest
        self._reader = reader
        self._embedder = embedder
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="corpus")

    @classmethod
    def open(cls, directory: Path, embedder: Embedder) -> "Corpus":
        """The current version. Raises CorpusError when there is none, when a file is not as it was written, or
        when another embedding model made it."""
        path = Versions(directory).current()
        manifest = read_manifest(path)
        # The name first: to tell its dimensions a model may have to be fetched and loaded.
        if manifest.embedder != embedder.name or manifest.dimensions != embedder.dimensions:
            raise CorpusError(
                f"The corpus in {directory} was built with the embedding model {manifest.embedder} "
                f"({manifest.dimensions} dimensions), not with the present {embedder.name}.",
                "Configure that model (ASSAYER_EMBEDDER__MODEL), or build again: assayer corpus build PATH.",
            )
        verify(manifest, path)
        return cls(Reader(path, manifest), manifest, embedder)

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
        vectors, rows = await self._embedder.embed(queries, "query"), self._rows(before)
        return await self._run(lambda: self._reader.search(queries, vectors, limit, rows))

    async def snippets(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Passage]]:
        vectors, rows = await self._embedder.embed(queries, "query"), self._rows(before)
        return await self._run(lambda: self._reader.snippets(queries, vectors, limit, rows))

    async def neighbours(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Hit]]:
        known, rows = self._reader.store.rows(papers), self._rows(before)
        return await self._run(lambda: self._reader.neighbours(known, limit, rows))

    async def references(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Paper]]:
        """In the order of the paper's own list. Papers whose references no source gave are missing."""
        known, rows = self._reader.store.rows(papers), self._rows(before)
        return await self._run(lambda: self._reader.references(known, limit, rows))

    async def papers(self, ids: Sequence[PaperId], before: dt.date | None) -> dict[PaperId, Paper]:
        store, rows = self._reader.store, self._rows(before)
        return {one: store.paper(row) for one, row in store.rows(ids).items() if row < rows}

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        known = self._reader.store.rows(papers)
        (vector,) = await self.meanings([text])
        cosines = self._reader.papers.dense.similarities(vector, list(known.values()))
        return dict(zip(known, cosines.tolist(), strict=True))

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
        return self._reader.store.days()

    def newest(self, before: dt.date | None) -> dt.date | None:
        """Day of the newest paper that counts; None when none is dated."""
        return self._reader.store.newest(before)

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """A corpus is as old as its files and knows of none."""
        return {}

    async def fit(self, text: str, before: dt.date | None) -> CorpusFit:
        """See `index.fit` for what is measured."""
        passages = await self._embedder.embed(fit_passages(text), "query")
        rows = self._rows(before)
        value = await self._run(lambda: self._nearness(passages, rows))
        return judge(value, self.manifest.fit, rows, before)

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return await self._run(lambda: {paper: self._full_text(paper) for paper in papers})

    def close(self) -> None:
        """Ends the thread; what waits for it is cancelled."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[[], Out]) -> Out:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _rows(self, before: dt.date | None) -> int:
        return self._reader.store.until(before)

    def _nearness(self, passages: Vectors, rows: int) -> float:
        neighbours = self.manifest.fit.neighbours if self.manifest.fit else 1
        if not len(passages) or not rows:
            return 0.0
        return nearness(passages, self._reader.papers.dense, rows, neighbours)

    def _full_text(self, paper: PaperId) -> FullText | Absent:
        row = self._reader.store.row(paper)
        if row is None:
            return Absent(reason="the paper is not in the corpus")
        sections = self._reader.store.sections(row)
        if not sections:
            return Absent(reason="the corpus holds only the abstract")
        return FullText(paper_id=paper, sections=sections, parser="corpus")


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
