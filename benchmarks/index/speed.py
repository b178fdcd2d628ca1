"""Measures search among millions of vectors: `python -m benchmarks.index speed`.

Every size is built in one fresh process and asked in another. What is compared takes turns in one run, so its ratios
hold on a busy machine too; absolute times are upper bounds there.
"""

import argparse
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
from benchmarks.index.collection import BATCH, DIMENSIONS, LIMIT, Built, Collection, build, draw_vectors
from benchmarks.index.graphs import GRAPHS, GraphBuilt, build_graph, nearest
from benchmarks.index.growth import draw
from benchmarks.index.machine import machine, memory_mb
from benchmarks.index.rivals import Plain
from benchmarks.index.timing import Compared, in_turn
from index.faiss_build import load_faiss

Out = TypeVar("Out")
_BREADTHS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""Of a graph; the first that finds enough is taken."""
_ENOUGH = 0.995
"""Recall of a graph that counts as ours does; ours is tuned on harder questions, and higher on these."""


class Asked(Frozen):
    recall: tuple[float, float, float]
    """Under each condition of a collection."""
    single: Compared
    """With FAISS alone; batches too."""
    batch: Compared
    masked_single: Compared
    masked_batch: Compared
    anonymous_mb: float
    mapped_mb: float


class AskedGraph(Frozen):
    built: GraphBuilt
    breadth: int
    recall: float
    recall_before: float
    single: Compared
    """With us; batches too."""
    batch: Compared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 300_000, 1_000_000, 5_000_000])
    parser.add_argument("--kinds", nargs="+", default=["by size"], choices=["by size", "ivf_sq8", "ivf_pq"])
    parser.add_argument("--graphs-up-to", type=int, default=1_000_000, help="largest size at which graphs are built")
    parser.add_argument("--directory", type=Path, help="where what is built stays for the next run; else it goes")
    parser.add_argument("--out", type=Path, help="folder for figures.json and growth.svg")
    arguments = parser.parse_args()
    console = Console(highlight=False, soft_wrap=True)
    console.print(machine())
    figures: list[tuple[Built, Asked]] = []
    with tempfile.TemporaryDirectory() as temporary:
        for rows in arguments.sizes:
            for kind in arguments.kinds:
                place = (arguments.directory or Path(temporary)) / f"{rows} {kind}".replace(" ", "-")
                _apart(draw_vectors, place, rows)
                built = _apart(build, place, None if kind == "by size" else kind)
                asked = _apart(_ask, place)
                figures.append((built, asked))
                graphs = {name: _apart(_ask_graph, place, name) for name in GRAPHS if rows <= arguments.graphs_up_to}
                for line in (*_told(built, asked), *_told_graphs(graphs)):
                    console.print(line)
    if arguments.out is not None:
        kept = [{"built": built.model_dump(), "asked": asked.model_dump()} for built, asked in figures]
        (arguments.out / "figures.json").write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
        points = [
            (built.rows, asked.single.ours.p50, asked.batch.ours.p50 / BATCH, built.processor_seconds, built.index_mb)
            for built, asked in figures
        ]
        draw(points, arguments.out / "growth.svg")


def _apart(work: Callable[..., Out], *given: object) -> Out:
    """In a fresh process, so that its memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def _ask(directory: Path) -> Asked:
    load_faiss().omp_get_max_threads()  # its libraries are in memory before that is measured
    collection = Collection(directory)
    whole, _, masked = collection.conditions
    _, before = collection.true, memory_mb()
    dense = collection.dense()
    found = [dense.nearest(collection.judged, LIMIT, allowed) for allowed in collection.conditions]
    after = memory_mb()
    recalls = [collection.recall([one.rows for one in some], number) for number, some in enumerate(found)]
    if dense.approximate is None:
        raise SystemExit("So few rows have no index: there is nothing to compare.")
    plain = Plain(dense.approximate.index, collection.vectors, collection.parameters)
    single, batch, masked_single, masked_batch = (
        in_turn(partial(dense.nearest, limit=LIMIT, allowed=allowed), partial(plain.ask, allowed=allowed), some)
        for allowed in (whole, masked)
        for some in (collection.singles, collection.batches)
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


def _ask_graph(directory: Path, name: str) -> AskedGraph:
    collection = Collection(directory)
    vectors, dense, whole = collection.vectors, collection.dense(), collection.conditions[0]
    ask = partial(dense.nearest, limit=LIMIT, allowed=whole)
    graph, built = build_graph(name, vectors, directory)
    recall, breadth = 0.0, 0
    for breadth in _BREADTHS:
        recall = collection.recall(list(nearest(graph, vectors, collection.judged, breadth)))
        if recall >= _ENOUGH:
            break
    cut = collection.conditions[1].rows / len(vectors)
    single, batch = (
        in_turn(lambda asked: nearest(graph, vectors, asked, breadth), ask, some)
        for some in (collection.singles, collection.batches)
    )
    return AskedGraph(
        built=built,
        breadth=breadth,
        recall=recall,
        recall_before=collection.recall(list(nearest(graph, vectors, collection.judged, breadth, cut)), 1),
        single=single,
        batch=batch,
    )


def _told(built: Built, asked: Asked) -> Iterator[str]:
    raw = built.rows * DIMENSIONS * 2 / 1e6
    memory = asked.anonymous_mb + asked.mapped_mb
    yield (
        f"{built.rows:,} × {DIMENSIONS}, {built.parameters.kind}: built in {built.seconds:.0f} s "
        f"({built.processor_seconds:.0f} s of processor); index {built.index_mb:,.0f} MB"
    )
    first, second, third = asked.recall
    yield f"  recall@{LIMIT} {first:.4f}; among the first 30 % of the rows {second:.4f}; among nine tenths {third:.4f}"
    yield (
        f"  memory: {asked.anonymous_mb:,.0f} MB of its own, {asked.mapped_mb:,.0f} MB of mapped files; "
        f"{memory / (raw + built.index_mb):.2f} of vectors and index"
    )
    for name, count, one in (
        ("batch 1", 1, asked.single),
        (f"batch {BATCH}", BATCH, asked.batch),
        ("batch 1, a tenth masked", 1, asked.masked_single),
        (f"batch {BATCH}, a tenth masked", BATCH, asked.masked_batch),
    ):
        yield (
            f"  {name}: p50 {one.ours.p50:.3f} ms, p95 {one.ours.p95:.3f} ms, {count / one.ours.p50 * 1000:,.0f} "
            f"queries/s; FAISS alone p50 {one.theirs.p50:.3f} ms, p95 {one.theirs.p95:.3f} ms; "
            f"overhead {one.overhead:+.1%}"
        )


def _told_graphs(graphs: dict[str, AskedGraph]) -> Iterator[str]:
    for name, one in graphs.items():
        yield (
            f"  {name}, a graph of bytes: built in {one.built.seconds:.0f} s ({one.built.processor_seconds:.0f} s of "
            f"processor), {one.built.megabytes:,.0f} MB; recall {one.recall:.4f} at breadth {one.breadth}, "
            f"{one.recall_before:.4f} among the first 30 %"
        )
        for number, compared in (("1", one.single), (str(BATCH), one.batch)):
            yield (
                f"    batch {number}: p50 {compared.ours.p50:.3f} ms, p95 {compared.ours.p95:.3f} ms, "
                f"{1 + compared.overhead:.2f} × our time"
            )


if __name__ == "__main__":
    main()
