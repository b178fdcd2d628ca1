"""Measures search among millions of vectors: `python -m benchmarks.index speed`.

Every size is built in one fresh process and asked in another. What is compared takes turns in one run, so its ratios
hold on a busy machine too; absolute times are upper bounds there.
"""

import argparse
import json
import multiprocessing
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from assayer.ports import Vectors
from benchmarks.index.clusters import clustered
from benchmarks.index.growth import draw
from benchmarks.index.machine import machine, memory_mb
from benchmarks.index.rivals import graph_of, plain
from index.segments.allowed import Allowed
from index.segments.dense import EXACT_UP_TO, Dense, DenseParameters, Nearest, vectors_file
from index.segments.kinds import Kind
from index.segments.tuning import build_dense

Out = TypeVar("Out")
_DIMENSIONS, _LIMIT, _BATCH = 384, 10, 64
_SINGLE, _ROUNDS, _JUDGED = 400, 12, 300
"""Queries asked one by one, batches asked, and queries whose exact answer is known."""


class Built(NamedTuple):
    rows: int
    kind: Kind
    seconds: float
    index_mb: float
    parameters: str


class Timed(NamedTuple):
    """Milliseconds a call."""

    p50: float
    p95: float


class Asked(NamedTuple):
    rows: int
    kind: Kind
    recall: float
    recall_before: float
    """Of the first 30 % of the rows, as with a cutoff."""
    single: Timed
    batch: Timed
    plain_single: Timed
    plain_batch: Timed
    overhead_single: float
    """Median of the ratios of neighbouring calls."""
    overhead_batch: float
    anonymous_mb: float
    mapped_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 300_000, 1_000_000, 5_000_000])
    parser.add_argument("--kinds", nargs="+", default=["by size"], choices=["by size", "ivf_sq8", "ivf_pq"])
    parser.add_argument("--rival", type=int, default=300_000, help="largest size at which usearch is built as well")
    parser.add_argument("--directory", type=Path, help="for the files; a temporary one if not given")
    parser.add_argument("--out", type=Path, help="folder for figures.json and growth.svg")
    arguments = parser.parse_args()
    console = Console(highlight=False)
    console.print(machine(), soft_wrap=True)
    figures: list[tuple[Built, Asked]] = []
    for rows in arguments.sizes:
        for kind in arguments.kinds:
            with tempfile.TemporaryDirectory(dir=arguments.directory) as name:
                built = _apart(_build, Path(name), rows, None if kind == "by size" else kind)
                asked = _apart(_ask, Path(name), built)
                figures.append((built, asked))
                _print(console, built, asked)
                console.print(_apart(_graphics, Path(name), built), soft_wrap=True)
                if rows <= arguments.rival:
                    console.print(_apart(_rival, Path(name), asked), soft_wrap=True)
    if arguments.out is not None:
        kept = [{"built": built._asdict(), "asked": asked._asdict()} for built, asked in figures]
        (arguments.out / "figures.json").write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
        points = [(built.rows, asked.single.p50, built.seconds, built.index_mb) for built, asked in figures]
        draw(points, arguments.out / "growth.svg")


def _apart(work: Callable[..., Out], *given: object) -> Out:
    """In a fresh process, so that its memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def _build(directory: Path, rows: int, kind: Kind | None) -> Built:
    vectors, row = vectors_file(directory, rows, _DIMENSIONS), 0
    for block in clustered(rows, seed=1, dimensions=_DIMENSIONS):
        vectors[row : row + len(block)] = block
        row += len(block)
    tuning = np.concatenate(list(clustered(600, seed=3, dimensions=_DIMENSIONS)))
    start = perf_counter()
    parameters = build_dense(vectors, directory, tuning, EXACT_UP_TO, kind)
    seconds = perf_counter() - start
    (index,) = directory.glob("*.faiss")
    return Built(rows, parameters.kind, seconds, index.stat().st_size / 1e6, parameters.model_dump_json())


def _ask(directory: Path, built: Built) -> Asked:
    import faiss

    faiss.omp_get_max_threads()  # its libraries are in memory before that is measured
    parameters = DenseParameters.model_validate_json(built.parameters)
    queries = np.concatenate(list(clustered(_SINGLE + _ROUNDS * _BATCH, seed=2, dimensions=_DIMENSIONS)))
    exact = [_exact(directory, queries[:_JUDGED], rows) for rows in (built.rows, built.rows * 3 // 10)]
    before = memory_mb()
    dense, allowed = Dense(directory, parameters, EXACT_UP_TO), Allowed(built.rows)
    recalls = [
        _recall(dense.nearest(queries[:_JUDGED], _LIMIT, Allowed(rows)), best)
        for rows, best in zip((built.rows, built.rows * 3 // 10), exact, strict=True)
    ]
    after = memory_mb()
    asked_plainly = plain(directory, parameters)
    singles = [queries[one : one + 1] for one in range(_SINGLE)]
    batches = [queries[_SINGLE + one * _BATCH :][:_BATCH] for one in range(_ROUNDS)]
    ours: list[NDArray[np.float64]] = []
    theirs: list[NDArray[np.float64]] = []
    for some in (singles, batches):
        first, second = _in_turn(lambda asked: dense.nearest(asked, _LIMIT, allowed), asked_plainly, some)
        ours.append(first)
        theirs.append(second)
    return Asked(
        rows=built.rows,
        kind=built.kind,
        recall=recalls[0],
        recall_before=recalls[1],
        single=_timed(ours[0]),
        batch=_timed(ours[1]),
        plain_single=_timed(theirs[0]),
        plain_batch=_timed(theirs[1]),
        overhead_single=float(np.median(ours[0] / theirs[0])) - 1,
        overhead_batch=float(np.median(ours[1] / theirs[1])) - 1,
        anonymous_mb=after.anonymous - before.anonymous,
        mapped_mb=after.mapped - before.mapped,
    )


def _graphics(directory: Path, built: Built) -> str:
    """Exact search in a graphics processor's memory against the index on the processor, in turns."""
    import torch

    if not torch.cuda.is_available():
        return "  no graphics processor here: search on one is not measured"
    parameters = DenseParameters.model_validate_json(built.parameters)
    queries = np.concatenate(list(clustered(_ROUNDS * _BATCH, seed=2, dimensions=_DIMENSIONS)))
    here, there = (Dense(directory, parameters, EXACT_UP_TO) for _ in range(2))
    there.move("cuda")
    allowed = Allowed(built.rows)
    batches = [queries[one * _BATCH :][:_BATCH] for one in range(_ROUNDS)]
    ours, theirs = _in_turn(
        lambda asked: here.nearest(asked, _LIMIT, allowed), lambda asked: there.nearest(asked, _LIMIT, allowed), batches
    )
    name, ratio = torch.cuda.get_device_name(), float(np.median(ours / theirs))
    return f"  {name}, exact, batch {_BATCH}: p50 {np.median(theirs):.2f} ms; the processor takes {ratio:.1f} × as long"


def _rival(directory: Path, ours: Asked) -> str:
    vectors = np.load(directory / "vectors.npy", mmap_mode="r")
    queries = np.concatenate(list(clustered(_JUDGED, seed=2, dimensions=_DIMENSIONS)))
    found = graph_of(vectors, queries, _exact(directory, queries, len(vectors)), ours.recall)
    return (
        f"  usearch, graph of bytes: built in {found.seconds:.0f} s, {found.megabytes:,.0f} MB, "
        f"recall {found.recall:.3f}, single p50 {found.p50:.3f} ms against our {ours.single.p50:.3f} ms"
    )


def _in_turn(
    first: Callable[[Vectors], object], second: Callable[[Vectors], object], asked: Sequence[Vectors]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Milliseconds of each; who begins changes, so that neither always finds the other's memory warm."""
    for some in asked[:20]:
        first(some)
        second(some)
    times = np.empty((2, len(asked)))
    for number, some in enumerate(asked):
        order = ((0, first), (1, second)) if number % 2 else ((1, second), (0, first))
        for place, work in order:
            start = perf_counter()
            work(some)
            times[place, number] = (perf_counter() - start) * 1000
    return times[0], times[1]


def _timed(milliseconds: NDArray[np.float64]) -> Timed:
    return Timed(*np.quantile(milliseconds, [0.5, 0.95]).tolist())


def _exact(directory: Path, queries: Vectors, rows: int) -> list[NDArray[np.int64]]:
    exact = Dense(directory, DenseParameters(kind="exact", rows=rows), rows)
    return [one.rows for one in exact.nearest(queries, _LIMIT, Allowed(rows))]


def _recall(found: Sequence[Nearest], best: Sequence[NDArray[np.int64]]) -> float:
    shares = [len(np.intersect1d(one.rows, two)) / _LIMIT for one, two in zip(found, best, strict=True)]
    return float(np.mean(shares))


def _print(console: Console, built: Built, asked: Asked) -> None:
    lines = [
        f"{built.rows:,} × {_DIMENSIONS}, {built.kind}: built in {built.seconds:.0f} s; index {built.index_mb:,.0f} MB",
        f"  recall@10 {asked.recall:.4f}; among the first 30 % of the rows {asked.recall_before:.4f}",
        f"  memory: {asked.anonymous_mb:,.0f} MB of its own, {asked.mapped_mb:,.0f} MB of mapped files",
        f"  batch 1: p50 {asked.single.p50:.3f} ms, p95 {asked.single.p95:.3f} ms; FAISS alone p50 "
        f"{asked.plain_single.p50:.3f} ms; overhead {asked.overhead_single:+.1%}",
        f"  batch {_BATCH}: p50 {asked.batch.p50:.2f} ms, p95 {asked.batch.p95:.2f} ms, "
        f"{_BATCH / asked.batch.p50 * 1000:,.0f} queries/s; FAISS alone p50 {asked.plain_batch.p50:.2f} ms; "
        f"overhead {asked.overhead_batch:+.1%}",
    ]
    for line in lines:
        console.print(line, soft_wrap=True)


if __name__ == "__main__":
    main()
