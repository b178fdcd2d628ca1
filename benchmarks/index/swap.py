"""Searches at a steady rate while versions are published by another process: how many fail or mix two versions, and how
long they take before and meanwhile; in one process, and through pools on a Ray of its own.

Every version replaces every paper, so that one of another version shows: a night changes far less.
"""

import argparse
import asyncio
import multiprocessing as mp
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from benchmarks.index.machine import machine
from benchmarks.index.traffic import Editions, InFlight, Traffic, edition
from index import BuildOptions, CorpusVersionCache, Delta, VersionStore, build_shards, update_corpus, update_shards
from index.building.build import build_corpus
from index.records.parquet_records import RecordWriter
from workers.embedding.hashing_embedder import HashingEmbedder

_EMBEDDER = HashingEmbedder(384)
_KEEP = BuildOptions(keep=1)
_WARM_SECONDS = 3.0
_LONGEST_SWAP_SECONDS = 120.0


class Load(NamedTuple):
    papers: int
    versions: int
    per_second: float
    quiet_seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index swap", description=__doc__)
    parser.add_argument("--papers", type=int, default=2_000)
    parser.add_argument("--versions", type=int, default=4, help="published one after the other")
    parser.add_argument("--rate", type=float, default=50, help="searches a second")
    parser.add_argument("--quiet", type=float, default=15, help="seconds of searches before the first is published")
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--where", choices=("alone", "ray", "both"), default="both")
    options = parser.parse_args()
    console = Console(highlight=False)
    console.print(machine(), soft_wrap=True)
    load = Load(options.papers, options.versions, options.rate, options.quiet)
    for shards in (0, options.shards):
        if options.where != "ray":
            console.print(asyncio.run(_alone(load, shards)), soft_wrap=True)
    if options.where != "alone":
        with _ray():
            for shards in (0, options.shards):
                console.print(asyncio.run(_on_ray(load, shards)), soft_wrap=True)


async def _alone(load: Load, shards: int) -> str:
    async with _built(load, shards) as directory:
        corpora = CorpusVersionCache(directory, _EMBEDDER)
        told = await _measured(f"one process, {shards or 'no'} shards", corpora, directory, load)
        await corpora.aclose()
    return told


async def _on_ray(load: Load, shards: int) -> str:
    from benchmarks.index.pools import pools

    async with _built(load, shards) as directory, pools(directory, shards, _EMBEDDER, replicas=2) as corpora:
        return await _measured(f"Ray, {shards or 'no'} shards, 2 processes each", corpora, directory, load)


@contextmanager
def _ray() -> Iterator[None]:
    from cluster.ray_cluster import private_environment

    with tempfile.TemporaryDirectory() as home, private_environment() as folder:
        os.environ["ASSAYER_HOME"] = home
        from ray import serve

        from cluster.ray_cluster import service_cluster
        from cluster.serving.settings import ServingSettings

        with service_cluster(folder, ServingSettings()):
            serve.start(proxy_location="Disabled", logging_config={"log_level": "WARNING"})
            yield
            serve.shutdown()  # type: ignore[no-untyped-call]


@asynccontextmanager
async def _built(load: Load, shards: int) -> AsyncIterator[Path]:
    with tempfile.TemporaryDirectory(prefix="assayer-swap-") as folder:
        source, directory = Path(folder) / "papers.parquet", Path(folder) / "corpus"
        with RecordWriter(source) as writer:
            for record in edition(0, load.papers):
                writer.write(record)
        if shards:
            await build_shards([source], shards, directory, _EMBEDDER)
        else:
            await build_corpus([source], directory, _EMBEDDER)
        yield directory


def _publish(directory: Path, number: int, papers: int, shards: bool) -> str:
    """In another process, as a night does."""
    delta = Delta(edition(number, papers))
    if shards:
        return asyncio.run(update_shards(delta, directory, _EMBEDDER, options=_KEEP)).manifest.version
    return asyncio.run(update_corpus(delta, directory, _EMBEDDER, options=_KEEP)).manifest.version


async def _measured(name: str, corpora: InFlight, directory: Path, load: Load) -> str:
    editions, stop, loop = Editions(), asyncio.Event(), asyncio.get_running_loop()
    editions.note(VersionStore(directory).current_version(), 0)
    traffic = Traffic(corpora, load.per_second)
    began = time.monotonic()
    asking = asyncio.create_task(traffic.run(stop))
    await asyncio.sleep(load.quiet_seconds)
    first, sharded = time.monotonic() - began, (directory / "shards").is_dir()
    with ProcessPoolExecutor(1, mp_context=mp.get_context("spawn")) as nights:
        for number in range(1, load.versions + 1):
            version = await loop.run_in_executor(nights, _publish, directory, number, load.papers, sharded)
            editions.note(version, number)
            await _swapped(traffic, version)
    last = time.monotonic() - began
    stop.set()
    await asking
    swaps = len({one.version for one in traffic.answers}) - 1
    return (
        f"{name}: {len(traffic.answers):,} searches, {swaps} swaps, {len(traffic.failed())} failed, "
        f"{len(traffic.mixed(editions))} of mixed versions; p95 before {traffic.p95(_WARM_SECONDS, first):.1f} ms, "
        f"while versions were made and swapped {traffic.p95(first, last):.1f} ms"
    )


async def _swapped(traffic: Traffic, version: str) -> None:
    async with asyncio.timeout(_LONGEST_SWAP_SECONDS):
        while traffic.answers[-1].version != version:  # noqa: ASYNC110 - searches bring it about
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    main()
