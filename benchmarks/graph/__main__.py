"""Build, growth, propagation and verdicts at several sizes of the graph.

    python -m benchmarks.graph [--sizes 1000,10000,100000] [--store] [--out FOLDER]

Vectors are invented (see `invented`), so that a hundred thousand need no hours of embedding; embedding is measured
elsewhere and left out here. `--store` puts the graph into an embedded PostgreSQL too. Times are medians of wall time;
`scan_ms`, one exact pass of an idea's vectors over all others in the same run, is the unit to hold them against where
the machine is busy; `verdict_cpu_ms` is what a verdict costs in processor time, over all threads.
"""

import argparse
import asyncio
import gc
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from assayer.methods.grapheval import GraphEvalOptions
from assayer.methods.grapheval.explanation import explain_verdict
from assayer.methods.grapheval.graph.growth import edges_by_cosine
from assayer.methods.grapheval.graph.in_memory import InMemoryViewpointGraph
from assayer.methods.grapheval.graph.records import GraphContents
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation, propagate
from assayer.models import Absent
from benchmarks.graph.drawing import growth_svg
from benchmarks.graph.invented import SIZE, asked, ideas, plan, vectors
from benchmarks.index.machine import machine, resident_mb
from cluster.postgres import EmbeddedPostgres
from index.viewpoint_neighbours import FaissNeighbours
from orchestrator.store import Database, DatabaseSettings
from orchestrator.store.viewpoint_graph import PgViewpointGraph

Row = dict[str, float]
_ASKED, _ADDED = 30, 20


def main() -> None:
    options = _options()
    print(machine())
    rows = []
    for size in options.sizes:
        rows.append(asyncio.run(_measure(size, options.store)))
        print(json.dumps(rows[-1]), flush=True)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "graph.json").write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
        (options.out / "graph.svg").write_text(growth_svg(rows))
        print(f"Written to {options.out}.")


def _options() -> Any:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graph")
    parser.add_argument(
        "--sizes", type=lambda text: [int(one) for one in text.split(",")], default=[1000, 10000, 100000]
    )
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


async def _measure(size: int, store: bool) -> Row:
    gc.collect()
    before = resident_mb()
    rows = vectors(size, seed=1, among=size)
    new = list(ideas(0, rows))
    neighbours = FaissNeighbours()
    graph = InMemoryViewpointGraph("benchmark", neighbours)
    await graph.create(plan("benchmark"))
    measured: Row = {"viewpoints": size, "scan_ms": 1e3 * _median(lambda: rows @ rows[:SIZE].T, 20)}
    with _timed(measured, "build_s"):
        added = await graph.add(new)
    measured["edges"] = added.edges
    contents = await graph.load()
    measured["memory_mb"] = resident_mb() - before
    measured |= _propagation(contents) | _verdicts(contents, neighbours, size)
    extra = [list(ideas(10**7 + n, vectors(SIZE, 100 + n, size))) for n in range(_ADDED)]
    times = []
    for one in extra:
        start = time.perf_counter()
        await graph.add(one)
        times.append(time.perf_counter() - start)
    measured["add_idea_ms"] = 1e3 * float(np.median(times))
    if store:
        measured |= await _stored(new, extra)
    return {name: round(value, 3) for name, value in measured.items()}


def _propagation(contents: GraphContents) -> Row:
    spent, rounds = [], 0
    for _ in range(5):
        start = time.perf_counter()
        rounds = propagate(contents.arrays).rounds
        spent.append(time.perf_counter() - start)
    return {"propagation_ms": 1e3 * float(np.median(spent)), "round_ms": 1e3 * float(np.median(spent)) / rounds}


def _verdicts(contents: GraphContents, neighbours: FaissNeighbours, size: int) -> Row:
    """One idea after another as the pipeline asks, embedding apart; all the graph, then what was known halfway."""
    judge = GraphJudge(
        contents, neighbours, LabelPropagation(), GraphEvalOptions().reach, Absent(reason="not calibrated")
    )
    idea = asked()
    told = next(ideas(0, vectors(SIZE, 0, size))).viewpoints.viewpoints
    halfway = int(np.median(contents.arrays.dates))
    found: Row = {}
    for name, cutoff in (("verdict", None), ("verdict_with_cutoff", halfway)):
        spent, around, busy = [], [], 0.0
        for number in range(_ASKED):
            rows = vectors(SIZE, 1000 + number, size)
            start, working = time.perf_counter(), time.process_time()
            placed = judge.place(idea, rows, edges_by_cosine(rows, contents.plan.intra), cutoff, -1)
            scores = placed.subgraph.score(judge.scorer)
            explain_verdict(told, placed, scores, judge, most=8, shown=4)
            spent.append(time.perf_counter() - start)
            busy += time.process_time() - working
            around.append(len(placed.subgraph.graph.vectors))
        found |= {f"{name}_ms": 1e3 * float(np.median(spent)), f"{name}_p95_ms": 1e3 * float(np.quantile(spent, 0.95))}
        found[f"{name}_cpu_ms"] = 1e3 * busy / _ASKED
        found["viewpoints_around"] = float(np.median(around))
    return found


async def _stored(new: list[Any], extra: list[list[Any]]) -> Row:
    found: Row = {}
    with tempfile.TemporaryDirectory(prefix="assayer-graph-") as folder:
        async with EmbeddedPostgres(Path(folder)) as server, Database(DatabaseSettings(), server.ensure) as database:
            await database.migrate()
            graph = PgViewpointGraph(database, "benchmark", FaissNeighbours())
            await graph.create(plan("benchmark"))
            with _timed(found, "store_build_s"):
                await graph.add(new)
            times = []
            for one in extra:
                start = time.perf_counter()
                await graph.add(one)
                times.append(time.perf_counter() - start)
            found["store_add_idea_ms"] = 1e3 * float(np.median(times))
            with _timed(found, "store_load_s"):
                await graph.load()
    return found


@contextmanager
def _timed(row: Row, name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    row[name] = time.perf_counter() - start


def _median(work: Callable[[], object], times: int) -> float:
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return float(np.median(spent))


if __name__ == "__main__":
    main()
