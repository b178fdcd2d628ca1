"""What the base graph costs: seconds of building, bytes a paper, milliseconds of walks and of reading contents.

    python -m benchmarks.base_graph [--simulated 1000000] [--walks 200] [--work FOLDER]

First the real papers beside the clone (titles and abstracts of 25,527, joined with 6,545 whose references are known),
embedded by hashed words, then as many simulated ones as asked (`simulated` says how).
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.base_graph.simulated import FIELD, HUB, simulated
from benchmarks.base_graph.walking import Spent, median_and_p95, timed, walked
from benchmarks.index.machine import machine, memory_mb
from benchmarks.quality.citations.records import Graph, read_graph
from benchmarks.quality.grapheval.data import DATA
from index import VersionStore, build_corpus, read_manifest
from index.search.version_reader import VersionReader
from index.segments.content_graph import CONTENT_FOLDER, write_content_graph
from workers.embedding.hashing_embedder import HashingEmbedder

__all__ = ["main", "real_papers", "simulated_papers"]

_SEEDS = 100
_READ = 36
"""Papers whose contents are read at once: those of a state graph after three steps."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.base_graph")
    parser.add_argument("--simulated", type=int, default=1_000_000)
    parser.add_argument("--walks", type=int, default=200)
    parser.add_argument("--work", type=Path, help="Where corpora are written; a temporary folder by default.")
    options = parser.parse_args()
    print(machine())
    graph = read_graph(DATA, "ml")
    with tempfile.TemporaryDirectory(prefix="assayer-base-graph-") as folder:
        work = options.work or Path(folder)
        for line in (*real_papers(graph, work / "real", options.walks), *simulated_papers(work, options)):
            print(line, flush=True)


def real_papers(graph: Graph, directory: Path, walks: int) -> Iterator[str]:
    source = directory / "records.jsonl"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text("".join(json.dumps(one) + "\n" for one in graph.records), "utf-8")
    asyncio.run(build_corpus([source], directory / "corpus", HashingEmbedder()))
    versions = VersionStore(directory / "corpus")
    manifest = read_manifest(versions.current_path())
    reader = VersionReader.open(versions, manifest)
    (segment,) = reader.segments
    yield f"{len(reader):,} real papers: {segment.entry.graph}"
    again = directory / "again"
    again.mkdir()
    began, working = time.perf_counter(), time.process_time()
    write_content_graph(segment.store, again)
    yield f"contents built: {time.perf_counter() - began:.1f} s, CPU {time.process_time() - working:.1f} s"
    yield from _kept(versions.segment_path(segment.entry.name), len(reader))
    draw = np.random.default_rng(1)
    starts = [draw.choice(len(reader), min(_SEEDS, len(reader)), replace=False).tolist() for _ in range(walks)]
    yield from _measured(reader, starts)
    yield from _contents_read(reader, draw, walks)


def simulated_papers(work: Path, options: argparse.Namespace) -> Iterator[str]:
    began = time.perf_counter()
    made = simulated(options.simulated, work / "simulated")
    seconds = time.perf_counter() - began
    yield f"{len(made.reader):,} simulated papers, {made.citations:,} citations: written in {seconds:.0f} s"
    yield from _kept(work / "simulated", len(made.reader))
    draw = np.random.default_rng(2)
    fields = draw.integers(0, len(made.reader) // FIELD, options.walks)
    starts = [(field * FIELD + draw.choice(FIELD, _SEEDS, replace=False)).tolist() for field in fields.tolist()]
    yield from _measured(made.reader, starts)
    hub = [[HUB, *some[1:]] for some in starts]
    told = _told(asyncio.run(walked(made.reader, hub, 2)))
    yield f"walk, 2 hops, with the work that everybody cites among the seeds: {told}"
    yield from _contents_read(made.reader, draw, options.walks)
    memory = memory_mb()
    yield f"memory: {memory.anonymous:,.0f} MB, and {memory.mapped:,.0f} MB of mapped files"


def _measured(reader: VersionReader, starts: list[list[int]]) -> Iterator[str]:
    for hops in (1, 2, 3):
        for again in ("first time", "again"):
            told = _told(asyncio.run(walked(reader, starts, hops)))
            yield f"walk, {hops} hops, {len(starts)} × {len(starts[0])} seeds, {again}: {told}"


def _contents_read(reader: VersionReader, draw: np.random.Generator, turns: int) -> Iterator[str]:
    asked = [
        [reader.paper(unit).id for unit in draw.choice(len(reader), min(_READ, len(reader)), replace=False).tolist()]
        for _ in range(turns)
    ]
    yield f"contents of {_READ} papers: {_told(timed([partial(reader.contents, some) for some in asked]))}"


def _kept(directory: Path, papers: int) -> Iterator[str]:
    parts = {
        "names and claims": sum(one.stat().st_size for one in (directory / CONTENT_FOLDER).iterdir()),
        "citations": sum(
            (directory / one).stat().st_size for one in ("cites-starts.npy", "cites.npy", "cited.npy", "citing.npy")
        ),
    }
    yield "; ".join(f"{name}: {size / 1e6:.1f} MB, {size / papers:.0f} bytes a paper" for name, size in parts.items())


def _told(spent: Spent) -> str:
    return f"wall {median_and_p95(spent.wall)}, CPU {median_and_p95(spent.cpu)} (median / p95)"


if __name__ == "__main__":
    main()
