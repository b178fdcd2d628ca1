"""Writes the records of a segment, with their vectors, passages and citations, into an empty directory."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from assayer.ports import Embedder, Vectors
from index.citations import write_citations
from index.dense import Dense, DenseParameters, build_dense, vectors_file
from index.fit import SAMPLE, fit_passages
from index.ids import hashed
from index.layout import ABSTRACT, PAPERS, PASSAGES, PassagePlace, paper_text, passage_text, passages_of, write_places
from index.records import PaperRecord
from index.store import write_papers

__all__ = ["Embedding", "Known", "OnProgress", "Written", "write_segment"]

OnProgress = Callable[[int, int], None]
"""Texts embedded, and texts to embed in all, as far as is known. Must not raise."""
Known: TypeAlias = Mapping[int, tuple[Dense, int]]
"""Where the vector of a text lies already, by the text's hash."""

_EMBEDDED_AT_ONCE = 128


class Written:
    """What became of a segment's records."""

    def __init__(
        self, places: Sequence[PassagePlace], papers: DenseParameters, passages: DenseParameters | None
    ) -> None:
        self.places = places
        self.paper_index = papers
        self.passage_index = passages


class Embedding:
    """Embeds in the order of length, which wastes the least padding; what has a vector already keeps it."""

    def __init__(self, embedder: Embedder, progress: OnProgress, known: Known | None = None) -> None:
        self.embedder = embedder
        self.embedded = 0
        """Texts that the model has read so far."""
        self._known = known or {}
        self._progress = progress
        self._done = self._total = 0

    async def fill(self, vectors: Vectors, texts: Sequence[str]) -> None:
        """With the passages' vectors."""
        self._total += len(texts)
        missing = []
        for row, key in enumerate(hashed(texts).tolist() if self._known else []):
            if (place := self._known.get(key)) is None:
                missing.append(row)
            else:
                vectors[row] = place[0].vectors[place[1]]
        rows = missing if self._known else range(len(texts))
        self._advance(len(texts) - len(rows))
        await self._embed(vectors, texts, rows, "passage")

    async def queries(self, texts: Sequence[str]) -> Vectors:
        self._total += len(texts)
        vectors = np.empty((len(texts), self.embedder.dimensions), np.float32)
        await self._embed(vectors, texts, range(len(texts)), "query")
        return vectors

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
    records: Sequence[PaperRecord], directory: Path, embedding: Embedding, exact_up_to: int
) -> Written:
    """`records` sorted by date, undated last."""
    places = [place for row, record in enumerate(records) for place in passages_of(row, record)]
    tuning = np.empty((0, embedding.embedder.dimensions), np.float32)
    if max(len(records), len(places)) > exact_up_to:
        sample = np.linspace(0, len(records) - 1, min(len(records), SAMPLE)).astype(int).tolist()
        tuning = await embedding.queries([one for row in sample for one in fit_passages(records[row].abstract)])

    async def index(name: str, texts: Sequence[str]) -> DenseParameters:
        (directory / name).mkdir()
        vectors = vectors_file(directory / name, len(texts), embedding.embedder.dimensions)
        await embedding.fill(vectors, texts)
        return await asyncio.to_thread(build_dense, vectors, directory / name, tuning, exact_up_to)

    await asyncio.to_thread(write_papers, records, directory)
    await asyncio.to_thread(write_citations, records, directory)
    papers = await index(PAPERS, [paper_text(record.title, record.abstract) for record in records])
    passages = None
    if places:
        passages = await index(PASSAGES, [_passage_text(records[place.paper], place) for place in places])
        write_places(places, directory / PASSAGES)
    return Written(places, papers, passages)


def _passage_text(record: PaperRecord, place: PassagePlace) -> str:
    text = record.abstract if place.section == ABSTRACT else record.sections[place.section].text
    return passage_text(record.title, text, place)
