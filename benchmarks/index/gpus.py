"""Measures building and searching on GPUs against the CPU: `python -m benchmarks.index gpus`.

Where there is no GPU the CPU stands in for one: that shows that files and answers are the same, and what all but the
kernels costs; it says nothing of a GPU's speed.
"""

import argparse
import tempfile
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import perf_counter, process_time
from typing import get_args

import numpy as np
from rich.console import Console

from assayer.errors import ConfigurationError
from benchmarks.index.clusters import clustered
from benchmarks.index.collection import BATCH, DIMENSIONS, LIMIT, draw_vectors
from benchmarks.index.machine import machine
from benchmarks.index.timing import in_turn
from index.segments.approximate_index import ApproximateIndexKind
from index.segments.gpus import Gpus, GpuStandIn, open_gpus
from index.segments.row_filter import RowFilter
from index.segments.vector_index import INDEX_FILE, VectorIndex, VectorIndexParameters, build_vector_index

_SINGLES, _BATCHES = 40, 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--stand-in", type=int, default=1, help="GPUs that the CPU stands in for where there is none")
    arguments = parser.parse_args()
    console = Console(highlight=False, soft_wrap=True)
    console.print(machine())
    try:
        gpus = open_gpus("cuda") or GpuStandIn()
    except ConfigurationError as error:
        console.print(error.message)
        gpus = GpuStandIn(arguments.stand_in)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "vectors"
        draw_vectors(folder, arguments.rows)
        for line in (*_building(folder, gpus), *_searching(folder, gpus, arguments.rows)):
            console.print(line)


def _building(folder: Path, gpus: Gpus) -> Iterator[str]:
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    tuning = np.concatenate(list(clustered(600, seed=3, dimensions=DIMENSIONS)))
    for kind in get_args(ApproximateIndexKind):
        files = []
        for name, where in (("on the CPU", None), (_named(gpus), gpus)):
            begun, spent = perf_counter(), process_time()
            told = build_vector_index(vectors, folder, tuning, 0, kind, where)
            files.append(sha256((folder / INDEX_FILE).read_bytes()).hexdigest())
            yield (
                f"{kind} of {len(vectors):,} rows built {name}: {perf_counter() - begun:.1f} s, "
                f"{process_time() - spent:.1f} s of the CPU, recall@10 {told.recall_at_10}"
            )
        yield f"  files {'equal to the byte' if len(set(files)) == 1 else 'not equal'}"


def _searching(folder: Path, gpus: Gpus, rows: int) -> Iterator[str]:
    here, there = (VectorIndex(folder, VectorIndexParameters(kind="exact", rows=rows), rows) for _ in range(2))
    there.move_to(gpus)
    queries = np.concatenate(list(clustered(_SINGLES + _BATCHES * BATCH, seed=2, dimensions=DIMENSIONS)))
    singles = [queries[one : one + 1] for one in range(_SINGLES)]
    batches = [queries[_SINGLES + one * BATCH :][:BATCH] for one in range(_BATCHES)]
    for what, allowed in (
        ("all rows", RowFilter(rows)),
        ("the first 30 %", RowFilter(rows * 3 // 10)),
        ("nine tenths of them, by a mask", RowFilter(rows, np.arange(rows) % 10 != 0)),
    ):
        ask = [partial(one.nearest, limit=LIMIT, allowed=allowed) for one in (there, here)]
        same = all(
            one.rows.tolist() == two.rows.tolist() for one, two in zip(*(each(queries) for each in ask), strict=True)
        )
        for count, some in ((1, singles), (BATCH, batches)):
            found = in_turn(ask[0], ask[1], some)
            yield (
                f"{what}, batch {count}: p50 {found.ours.p50:.2f} ms {_named(gpus)}, {found.theirs.p50:.2f} ms by the "
                f"CPU's exact search; answers {'the same' if same else 'not the same'}"
            )


def _named(gpus: Gpus) -> str:
    return f"with the CPU in place of {gpus.count} GPUs" if isinstance(gpus, GpuStandIn) else f"on {gpus.count} GPUs"


if __name__ == "__main__":
    main()
