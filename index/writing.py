"""Writes the records and indexes of one version into an empty directory."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from assayer.models import Frozen
from assayer.ports import Embedder, Vectors
from index.dense import Dense, DenseParameters, vectors_file
from index.fit import FEWEST, FitCalibration, calibrate, fit_passages, nearness, neighbours_for
from index.layout import PAPERS, PASSAGES, paper_text, passage_text, passages_of, write_places
from index.records import PaperRecord
from index.store import write_papers
from index.text_index import build_text_index

__all__ = ["FIT_SAMPLE", "Contents", "OnProgress", "write_version"]

OnProgress = Callable[[int, int], None]
"""Texts embedded, and texts to embed in all. Must not raise."""

_EMBEDDED_AT_ONCE = 128
FIT_SAMPLE = 500
"""Papers whose fit is measured."""


class Contents(Frozen):
    passages: int
    paper_index: DenseParameters
    passage_index: DenseParameters | None
    fit: FitCalibration | None


async def write_version(
    records: Sequence[PaperRecord],
    directory: Path,
    embedder: Embedder,
    exact_up_to: int,
    progress: OnProgress,
) -> Contents:
    """`records` sorted by date, undated last."""
    places = [place for row, record in enumerate(records) for place in passages_of(row, record)]
    sample = np.linspace(0, len(records) - 1, min(len(records), FIT_SAMPLE)).astype(int).tolist()
    windows = [fit_passages(records[row].abstract) for row in sample]
    queries = [window for some in windows for window in some]
    embedding = _Embedding(embedder, len(records) + len(places) + len(queries), progress)

    tuning = np.empty((len(queries), embedder.dimensions), np.float32)
    await embedding.fill(tuning, queries, "query")

    async def index(name: str, texts: Sequence[str]) -> DenseParameters:
        (directory / name).mkdir()
        vectors = vectors_file(directory / name, len(texts), embedder.dimensions)
        await embedding.fill(vectors, texts, "passage")
        return await asyncio.to_thread(build_text_index, texts, vectors, directory / name, tuning, exact_up_to)

    await asyncio.to_thread(write_papers, records, directory)
    papers = await index(PAPERS, [paper_text(record.title, record.abstract) for record in records])
    passages = None
    if places:
        passages = await index(PASSAGES, [passage_text(records[place.paper], place) for place in places])
        write_places(places, directory / PASSAGES)
    dense = Dense(directory / PAPERS, papers, exact_up_to)
    groups = np.split(tuning, np.cumsum([len(some) for some in windows])[:-1])
    fit = await asyncio.to_thread(_measure_fit, dense, sample, groups)
    return Contents(passages=len(places), paper_index=papers, passage_index=passages, fit=fit)


def _measure_fit(papers: Dense, sample: Sequence[int], passages: Sequence[Vectors]) -> FitCalibration | None:
    """The statistic of each sampled paper's own abstract, the paper itself left out."""
    rows = len(papers.vectors)
    if rows < FEWEST:
        return None
    neighbours = neighbours_for(rows)
    values = [nearness(some, papers, rows, neighbours, without=row) for row, some in zip(sample, passages, strict=True)]
    return calibrate(values, neighbours)


class _Embedding:
    """Embeds in the order of length, which wastes the least padding, and counts."""

    def __init__(self, embedder: Embedder, total: int, progress: OnProgress) -> None:
        self._embedder = embedder
        self._done, self._total = 0, total
        self._progress = progress

    async def fill(self, vectors: Vectors, texts: Sequence[str], kind: Literal["query", "passage"]) -> None:
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        for start in range(0, len(order), _EMBEDDED_AT_ONCE):
            rows = order[start : start + _EMBEDDED_AT_ONCE]
            vectors[rows] = await self._embedder.embed([texts[row] for row in rows], kind)
            self._done += len(rows)
            self._progress(self._done, self._total)
