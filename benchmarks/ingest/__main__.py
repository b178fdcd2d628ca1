"""`python -m benchmarks.ingest PAPERS.jsonl.gz`: makes data sets, ingests them, prints what it took."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.ingest.made import CITED, make
from benchmarks.simulator.outside.records import read_records

_PROGRAM = "from cluster.cli.main import main; main()"


class Cost(NamedTuple):
    seconds: float
    cpu: float
    """Seconds, of the program and its children."""
    peak: float
    """MB, of the largest of its processes."""


def _run(arguments: Sequence[str], memory_mb: int, jobs: int) -> Cost:
    settings = {"ASSAYER_INGEST__MEMORY_MB": str(memory_mb), "ASSAYER_INGEST__JOBS": str(jobs)}
    started = time.monotonic()
    command = [sys.executable, "-c", _PROGRAM, "corpus", "ingest", *arguments]
    program = subprocess.Popen(command, env={**os.environ, **settings})
    _, status, usage = os.wait4(program.pid, 0)
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        raise SystemExit(f"ingest ended with {program.returncode}")
    return Cost(time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.ingest", description=__doc__)
    parser.add_argument("papers", type=Path, help="real papers, JSONL")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--vectors", type=int, default=0, help="papers with a vector of 768 numbers")
    parser.add_argument("--memory-mb", type=int, default=1024, help="of joining")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assayer-ingest-") as name:
        source, target = Path(name) / "source", Path(name) / "target"
        make(read_records(given.papers), given.count, given.vectors, source)
        lines = given.count * (2 + CITED) + given.vectors
        print(f"{given.count:,} papers, {lines:,} lines, {_size(source):,.0f} MB packed, load {os.getloadavg()[0]:.1f}")
        for what in ("all of it", "nothing new"):
            cost = _run(["s2", str(source), "--to", str(target)], given.memory_mb, given.jobs)
            print(
                f"{what}: {cost.seconds:.1f} s, {cost.cpu:.1f} s of CPU, {cost.peak:,.0f} MB at most, "
                f"{given.count / cost.cpu:,.0f} papers and {lines / cost.cpu:,.0f} lines a CPU second"
            )
        parts = {stage: _size(target / stage) for stage in ("raw", "records")}
        print(", ".join(f"{stage} {size:,.0f} MB" for stage, size in parts.items()))


if __name__ == "__main__":
    main()
