"""Measures search among millions of vectors: `python -m benchmarks.index speed`.

Each size is built in one fresh process and searched in another. The compared searches alternate within one run, so
their ratios are valid on a busy machine too; absolute times are upper bounds there.
"""

import json
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from assayer.models import Frozen
from benchmarks.index.collection import BATCH, DIMENSIONS, LIMIT, BuildRecord, Collection, build, draw_vectors
from benchmarks.index.memory import memory_mb
from benchmarks.index.plain_faiss import Plain
from benchmarks.index.timing import Compared, in_turn
from benchmarks.measuring import command_line, heading
from index.faiss_build import load_faiss

Out = TypeVar("Out")


class Asked(Frozen):
    recall: tuple[float, float, float]
    """Recall under each condition of a collection."""
    single: Compared
    """Comparison with FAISS alone for single queries; `batch` is the same for batches."""
    batch: Compared
    masked_single: Compared
    masked_batch: Compared
    anonymous_mb: float
    mapped_mb: float


def main() -> None:
    parser = command_line("index speed", __doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 300_000, 1_000_000, 5_000_000])
    parser.add_argument("--kinds", nargs="+", default=["by size"], choices=["by size", "ivf_sq8", "ivf_pq"])
    parser.add_argument("--directory", type=Path, help="keep built indexes here; deleted by default")
    parser.add_argument("--out", type=Path, help="folder to write figures.json to")
    arguments = parser.parse_args()
    console = Console(highlight=False, soft_wrap=True)
    console.print(heading())
    figures: list[tuple[BuildRecord, Asked]] = []
    with tempfile.TemporaryDirectory() as temporary:
        for rows in arguments.sizes:
            for kind in arguments.kinds:
                place = (arguments.directory or Path(temporary)) / f"{rows} {kind}".replace(" ", "-")
                _apart(draw_vectors, place, rows)
                built = _apart(build, place, None if kind == "by size" else kind)
                asked = _apart(_ask, place)
                figures.append((built, asked))
                for line in _told(built, asked):
                    console.print(line)
    if arguments.out is not None:
        figures_json = [{"built": built.model_dump(), "asked": asked.model_dump()} for built, asked in figures]
        (arguments.out / "figures.json").write_text(json.dumps(figures_json, indent=1) + "\n", "utf-8")


def _apart(work: Callable[..., Out], *arguments: object) -> Out:
    """Run the work in a fresh process, so that its memory is measured separately."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _ask(directory: Path) -> Asked:
    load_faiss().omp_get_max_threads()  # loads its libraries before memory is measured
    collection = Collection(directory)
    unfiltered, _, masked = collection.conditions
    _, before = collection.exact_rows, memory_mb()
    dense = collection.open_index()
    matches_by_condition = [
        dense.nearest(collection.judged_queries, LIMIT, allowed) for allowed in collection.conditions
    ]
    after = memory_mb()
    recalls = [
        collection.compute_recall([item.rows for item in batches], number)
        for number, batches in enumerate(matches_by_condition)
    ]
    if dense.approximate is None:
        raise SystemExit("There is nothing to compare: so few rows get no approximate index.")
    plain = Plain(dense.approximate.index, collection.vectors, collection.parameters)
    single, batch, masked_single, masked_batch = (
        in_turn(partial(dense.nearest, limit=LIMIT, row_filter=allowed), partial(plain.ask, allowed=allowed), batches)
        for allowed in (unfiltered, masked)
        for batches in (collection.single_queries, collection.query_batches)
    )
    return Asked(
        recall=(recalls[0], recalls[1], recalls[2]),
        single=single,
        batch=batch,
        masked_single=masked_single,
        masked_batch=masked_batch,
        anonymous_mb=after.anonymous - before.anonymous,
        mapped_mb=after.mapped - before.mapped,
    )


def _told(built: BuildRecord, asked: Asked) -> Iterator[str]:
    raw = built.rows * DIMENSIONS * 2 / 1e6
    memory = asked.anonymous_mb + asked.mapped_mb
    yield (
        f"{built.rows:,} × {DIMENSIONS}, {built.parameters.kind}: built in {built.seconds:.0f} s "
        f"({built.processor_seconds:.0f} s of CPU); index {built.index_mb:,.0f} MB"
    )
    first, second, third = asked.recall
    yield f"  recall@{LIMIT} {first:.4f}; among the first 30 % of the rows {second:.4f}; among nine tenths {third:.4f}"
    yield (
        f"  memory: {asked.anonymous_mb:,.0f} MB of its own, {asked.mapped_mb:,.0f} MB of mapped files; "
        f"{memory / (raw + built.index_mb):.2f} of vectors and index"
    )
    for name, count, item in (
        ("batch 1", 1, asked.single),
        (f"batch {BATCH}", BATCH, asked.batch),
        ("batch 1, a tenth masked", 1, asked.masked_single),
        (f"batch {BATCH}, a tenth masked", BATCH, asked.masked_batch),
    ):
        yield (
            f"  {name}: p50 {item.ours.p50:.3f} ms, p95 {item.ours.p95:.3f} ms, {count / item.ours.p50 * 1000:,.0f} "
            f"queries/s; FAISS alone p50 {item.theirs.p50:.3f} ms, p95 {item.theirs.p95:.3f} ms; "
            f"overhead {item.overhead:+.1%}"
        )


if __name__ == "__main__":
    main()
