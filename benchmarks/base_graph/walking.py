"""Walks from given seeds over a reader: the method's own walk, without the search that would find the seeds."""

import random
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from assayer.methods.scicompanion.walk import WalkOptions, walk
from assayer.models import OPEN, Filters, Hit, Paper, PaperId, Window
from assayer.ports import CitationIds
from index.search.version_reader import VersionReader

__all__ = ["Spent", "median_and_p95", "timed", "walked"]


class Spent(NamedTuple):
    """Milliseconds of each turn."""

    wall: Sequence[float]
    cpu: Sequence[float]


class _Given:
    """Of `assayer.ports.Literature` what a walk asks; seeds and cosines are given, drawn by lot."""

    def __init__(self, reader: VersionReader, seeds: Sequence[int]) -> None:
        self._reader, self._seeds = reader, seeds

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        papers = self._reader.papers_at(self._seeds[:limit])
        return [[Hit(paper=one, similarity=0.9 - 0.004 * rank) for rank, one in enumerate(papers)] for _ in queries]

    async def citations(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, CitationIds]:
        return self._reader.citations(papers, limit, Filters(window=window))

    async def papers(self, ids: Sequence[PaperId], window: Window) -> dict[PaperId, Paper]:
        return self._reader.papers(ids, Filters(window=window))

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        return {one: random.Random(one).uniform(0.3, 0.7) for one in papers}


async def walked(reader: VersionReader, starts: Sequence[Sequence[int]], hops: int) -> Spent:
    """One walk from each list of units."""
    wall, cpu = [], []
    for seeds in starts:
        given: Any = _Given(reader, seeds)
        began, working = time.perf_counter(), time.process_time()
        found = await walk(["a query"], given, OPEN, WalkOptions(hops=hops), exclude=())
        wall.append(1e3 * (time.perf_counter() - began))
        cpu.append(1e3 * (time.process_time() - working))
        if not found:
            raise ValueError("a walk found nothing")
    return Spent(wall, cpu)


def timed(turns: Sequence[Callable[[], object]]) -> Spent:
    wall, cpu = [], []
    for turn in turns:
        began, working = time.perf_counter(), time.process_time()
        turn()
        wall.append(1e3 * (time.perf_counter() - began))
        cpu.append(1e3 * (time.process_time() - working))
    return Spent(wall, cpu)


def median_and_p95(some: Sequence[float]) -> str:
    return f"{np.median(some):.1f} / {np.quantile(some, 0.95):.1f} ms"
