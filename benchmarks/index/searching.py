"""A process that searches a corpus at a steady rate and switches to new versions."""

import asyncio
import contextlib
import multiprocessing as mp
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assayer.errors import AssayerError
from assayer.models import OPEN
from benchmarks.index.invented import InventedEmbedder, generate_questions
from index import Corpus, VersionStore

_CHECK_SECONDS = 0.5
"""Seconds between checks for a new version."""
_HITS = 20


class SearchStatistics(NamedTuple):
    search_count: int
    failed: int
    p50: float
    """Median in milliseconds, measured from when a search was due."""
    p95: float
    versions: int
    """Number of corpus versions that answered searches."""


class SearchHandle:
    """Handle of the searching process."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def collect(self, after: float) -> SearchStatistics:
        """Return the results of the first `after` seconds; later searches are counted separately."""
        self._pipe.send(after)
        return self._receive()

    def finish(self) -> SearchStatistics:
        self._pipe.send(None)
        return self._receive()

    def _receive(self) -> SearchStatistics:
        answer: SearchStatistics = self._pipe.recv()
        return answer


@contextmanager
def search_steadily(directory: Path, rate: float) -> Iterator[SearchHandle]:
    context = mp.get_context("spawn")
    parent_pipe, child_pipe = context.Pipe()
    process = context.Process(target=_run_searcher, args=(directory, rate, child_pipe), daemon=True)
    process.start()
    child_pipe.close()
    parent_pipe.recv()  # the process is ready
    try:
        yield SearchHandle(parent_pipe)
    finally:
        process.terminate()
        process.join()


def _run_searcher(directory: Path, rate: float, pipe: Connection) -> None:
    asyncio.run(_Searcher(directory, rate).run(pipe))


class _Searcher:
    def __init__(self, directory: Path, rate: float) -> None:
        self._directory, self._rate = directory, rate
        self._embedder = InventedEmbedder()
        self._corpus = Corpus.open(directory, self._embedder)
        self._queries = generate_questions(500, seed=9)
        self._times: list[float] = []
        self._failed = 0
        self._versions: set[str] = set()

    async def run(self, pipe: Connection) -> None:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._start_searches(group)), group.create_task(self._follow_versions())]
            await self._search(time.perf_counter(), 0)
            pipe.send("ready")
            while (seconds := await asyncio.to_thread(pipe.recv)) is not None:
                self._reset()
                await asyncio.sleep(seconds)
                pipe.send(self._summarise())
                self._reset()
            for task in tasks:
                task.cancel()
        pipe.send(self._summarise())

    def _reset(self) -> None:
        self._times, self._failed, self._versions = [], 0, set()

    def _summarise(self) -> SearchStatistics:
        times = np.array(self._times or [np.nan])
        p50, p95 = np.quantile(times, [0.5, 0.95]) * 1000
        return SearchStatistics(
            len(self._times) + self._failed, self._failed, float(p50), float(p95), len(self._versions)
        )

    async def _start_searches(self, group: asyncio.TaskGroup) -> None:
        started, number = time.perf_counter(), 0
        while True:
            number += 1
            due = started + number / self._rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(self._search(due, number))

    async def _search(self, due: float, number: int) -> None:
        corpus = self._corpus
        try:
            await corpus.search([self._queries[number % len(self._queries)]], _HITS, OPEN)
        except AssayerError:
            self._failed += 1
        else:
            self._times.append(time.perf_counter() - due)
            self._versions.add(corpus.version)

    async def _follow_versions(self) -> None:
        versions = VersionStore(self._directory)
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            if versions.read_current_version() != self._corpus.version:
                with contextlib.suppress(AssayerError):  # replaced in the meantime: the next check finds it
                    self._corpus = await asyncio.to_thread(Corpus.open, self._directory, self._embedder)
