"""What a build on Ray costs beside the same build in one process: same records, model and shards, each run in a process
of its own with nothing stored. Ray's start is told apart; the model's is in both.
"""

import argparse
import asyncio
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psutil
from rich.console import Console

from benchmarks.index.machine import machine
from cluster.ray_cluster import private_environment
from index import build_shards
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings

_KINDS = ("alone", "ray")


class Run(NamedTuple):
    version: str
    started: float
    """Seconds until Ray was there."""
    seconds: float
    """Of the build."""
    cpu: float
    """Seconds of the build, of all its processes, Ray's own included."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index on_ray", description=__doc__)
    parser.add_argument("papers", type=Path, help="records, .jsonl.gz")
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--once", choices=_KINDS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        print(json.dumps(_once(given.once, given.papers, given.shards)))
        return
    console = Console(highlight=False)
    console.print(machine(), soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="assayer-on-ray-") as name:
        records = _first(given.papers, given.count, Path(name) / "papers.jsonl")
        runs: dict[str, list[Run]] = {kind: [] for kind in _KINDS}
        for kind in _KINDS * given.repeats:
            runs[kind].append(_apart(kind, records, given.shards))
            _tell(console, kind, runs[kind][-1:])
    if len({run.version for some in runs.values() for run in some}) > 1:
        sys.exit("They are not the same corpus.")
    console.print("medians:")
    for kind, some in runs.items():
        _tell(console, kind, some)


def _first(papers: Path, count: int, path: Path) -> Path:
    with gzip.open(papers, "rt", encoding="utf-8") as lines, path.open("w", encoding="utf-8") as file:
        file.writelines(islice(lines, count))
    return path


def _apart(kind: str, records: Path, shards: int) -> Run:
    command = [sys.executable, "-m", "benchmarks.index", "on_ray", str(records), "--shards", str(shards)]
    ended = subprocess.run([*command, "--once", kind], stdout=subprocess.PIPE, text=True, check=True)
    return Run(*json.loads(ended.stdout.splitlines()[-1]))


def _once(kind: str, records: Path, shards: int) -> Run:
    with tempfile.TemporaryDirectory(prefix="assayer-on-ray-") as name:
        return (_alone if kind == "alone" else _on_ray)(records, Path(name), shards)


def _alone(records: Path, folder: Path, shards: int) -> Run:
    began, cpu = time.perf_counter(), _cpu()
    with closing(SentenceTransformerEmbedder(EmbedderSettings())) as embedder:
        built = asyncio.run(build_shards([records], shards, folder / "corpus", embedder))
    return Run(built.manifest.version, 0.0, time.perf_counter() - began, _cpu() - cpu)


def _on_ray(records: Path, folder: Path, shards: int) -> Run:
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    with ExitStack() as stack:
        ray_folder = stack.enter_context(private_environment())
        from cluster.corpora.ray_build import RayBuildPlan, build_on_ray
        from cluster.ray_cluster import corpus_build_cluster

        wanted = RayBuildPlan(
            sources=(records,),
            directory=folder / "corpus",
            vectors=str(folder / "vectors"),
            embedder=EmbedderSettings(),
            shards=shards,
        )
        began = time.perf_counter()
        stack.enter_context(corpus_build_cluster(ray_folder))
        there, cpu = time.perf_counter(), _cpu()
        built = asyncio.run(build_on_ray(wanted, lambda _: None))
        return Run(built.version, there - began, time.perf_counter() - there, _cpu() - cpu)


def _cpu() -> float:
    """Of this process and all below it, those that have ended included: whoever waited for them has their time."""
    here = psutil.Process()
    return sum(map(_spent, (here, *here.children(recursive=True))))


def _spent(process: psutil.Process) -> float:
    try:
        return float(sum(process.cpu_times()[:4]))
    except psutil.NoSuchProcess:
        return 0.0


def _tell(console: Console, kind: str, runs: Sequence[Run]) -> None:
    started, seconds, cpu = (median(figures) for figures in list(zip(*runs, strict=True))[1:])
    console.print(f"{kind:<6} {seconds:6.1f} s, {cpu:6.1f} s of CPU; Ray was there after {started:.1f} s")


if __name__ == "__main__":
    main()
