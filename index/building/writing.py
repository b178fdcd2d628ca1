"""Writes the records of a segment, with their vectors, passages and citations, into an empty directory."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assayer.ports import Embedder, Vectors
from index.building.known import KnownVectors
from index.building.texts import paper_texts, passage_texts
from index.fit import SAMPLE, fit_passages
from index.ids import hashed
from index.segments.citations import write_citations
from index.segments.dense import DenseParameters, vectors_file
from index.segments.layout import PAPERS, PASSAGES, PassagePlace, passages_of, write_places
from index.segments.store import PaperStore, write_papers
from index.segments.tuning import build_dense

__all__ = ["Embedding", "OnProgress", "Written", "silent", "write_segment"]

OnProgress = Callable[[int, int], None]
"""Texts embedded, and texts to embed in all, as far as is known. Must not raise."""

_EMBEDDED_AT_ONCE = 128
_WINDOW = 16_384
"""Texts in memory at once, and sorted by their length."""


def silent(done: int, total: int) -> None:
    """Nobody watches."""


class Written(NamedTuple):
    """What became of a segment's records."""

    store: PaperStore
    passages: int
    paper_index: DenseParameters
    passage_index: DenseParameters | None


class Embedding:
    """Embeds in the order of length, which wastes the least padding; what has a vector already keeps it."""

    def __init__(self, embedder: Embedder, progress: OnProgress, *known: KnownVectors) -> None:
        """Of a text that several know, the first one's vector counts."""
        self.embedder = embedder
        self.embedded = 0
        """Texts that the model has read so far."""
        self._known = known
        self._progress = progress
        self._done = self._total = 0

    @property
    def signature(self) -> str:
        """Of the vectors that nobody can make again from the texts."""
        return "".join(known.signature for known in self._known)

    async def fill(self, vectors: Vectors, texts: Iterator[str]) -> None:
        """With the passages' vectors; there must be as many texts."""
        self._total += len(vectors)
        row = 0
        while some := await asyncio.to_thread(list, islice(texts, _WINDOW)):
            await self._fill(vectors[row : row + len(some)], some)
            row += len(some)

    async def queries(self, texts: Sequence[str]) -> Vectors:
        self._total += len(texts)
        vectors = np.empty((len(texts), self.embedder.dimensions), np.float32)
        await self._embed(vectors, texts, range(len(texts)), "query")
        return vectors

    async def _fill(self, vectors: Vectors, texts: Sequence[str]) -> None:
        missing = np.arange(len(texts))
        keys = hashed(texts if self._known else ())
        for known in self._known:
            missing = known.fill(vectors, keys, missing)
        self._advance(len(texts) - len(missing))
        await self._embed(vectors, texts, missing.tolist(), "passage")

    async def _embed(
        self, vectors: Vectors, texts: Sequence[str], rows: Sequence[int], kind: Literal["query", "passage"]
    ) -> None:
        order = sorted(rows, key=lambda row: len(texts[row]))
        for start in range(0, len(order), _EMBEDDED_AT_ONCE):
            some = order[start : start + _EMBEDDED_AT_ONCE]
            vectors[some] = await self.embedder.embed([texts[row] for row in some], kind)
            self.embedded += len(some)
            self._advance(len(some))

    def _advance(self, texts: int) -> None:
        self._done += texts
        if texts:
            self._progress(self._done, self._total)


async def write_segment(
    batches: Iterable[pa.RecordBatch], directory: Path, embedding: Embedding, exact_up_to: int
) -> Written:
    """`batches` as `write_papers` wants them. What is in memory at once does not grow with the papers, but for their
    places, some tens of bytes each."""
    store = await asyncio.to_thread(_write_records, batches, directory)
    places = await asyncio.to_thread(_places, store)
    tuning = np.empty((0, embedding.embedder.dimensions), np.float32)
    if max(len(store), len(places)) > exact_up_to:
        sample = np.linspace(0, len(store) - 1, min(len(store), SAMPLE)).astype(int).tolist()
        tuning = await embedding.queries([one for row in sample for one in fit_passages(store.text(row)[1])])

    async def index(name: str, count: int, texts: Iterator[str]) -> DenseParameters:
        (directory / name).mkdir()
        vectors = vectors_file(directory / name, count, embedding.embedder.dimensions)
        await embedding.fill(vectors, texts)
        return await asyncio.to_thread(build_dense, vectors, directory / name, tuning, exact_up_to)

    papers = await index(PAPERS, len(store), (one.text for one in paper_texts(store)))
    passages = None
    if len(places):
        passages = await index(PASSAGES, len(places), (one.text for one in passage_texts(store, places)))
        write_places(places, directory / PASSAGES)
    return Written(store, len(places), papers, passages)


def _write_records(batches: Iterable[pa.RecordBatch], directory: Path) -> PaperStore:
    write_papers(batches, directory)
    store = PaperStore(directory)
    write_citations(store.column("references").chunks, directory)
    return store


def _places(store: PaperStore) -> NDArray[np.int32]:
    """Of all passages, columns as in PassagePlace."""
    found = [np.empty((0, len(PassagePlace._fields)), np.int32)]
    for row, record in enumerate(store.records()):
        own = passages_of(row, record["abstract"], [one["text"] for one in record["sections"] or ()])
        if own:
            found.append(np.array(own, np.int32))
    return np.concatenate(found)
