"""Several processes on one source: whether its limits are kept by its own clock, and how much of them is used."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.remote.world import database, settings
from benchmarks.simulator.outside.process import OutsideWorld

__all__ = ["Kept", "measure"]

_ROOT = Path(__file__).resolve().parents[2]
_BASES = {"semantic_scholar": "s2", "arxiv": "arxiv/api"}


class Kept(NamedTuple):
    source: str
    processes: int
    requests: int
    failed: int
    over_limit: int
    """By the source's own count."""
    least_spacing: float | None
    peak_concurrency: int
    per_second: float
    """From the first arrival to the last."""
    allowed_per_second: float
    cpu_ms: float
    """Of all asking processes, a request."""
    transactions: float
    """In the database, a request."""
    waits: tuple[float, ...]
    """Mean of each process."""


async def measure(source: str, processes: int, calls: int, papers: Path | None, knobs: dict[str, Any]) -> Kept:
    with OutsideWorld(papers, knobs={source: knobs}) as world:
        async with database() as (url, opened):
            base_url = world.url(_BASES[source])
            each = max(1, calls // processes)
            members = await asyncio.gather(
                *(_start(url, source, base_url, f"p{number}", each) for number in range(processes))
            )
            before = await opened.fetch("SELECT sum(xact_commit)::int AS done FROM pg_stat_database")
            for member in members:
                assert member.stdin is not None  # noqa: S101 - it was opened as a pipe
                member.stdin.write(b"go\n")
            told = [(await member.communicate())[0].decode().split() for member in members]
            await opened.execute("SELECT pg_stat_force_next_flush()")
            after = await opened.fetch("SELECT sum(xact_commit)::int AS done FROM pg_stat_database")
        stats = world.stats(source)
    spread = stats.arrivals[-1] - stats.arrivals[0]
    return Kept(
        source=source,
        processes=processes,
        requests=stats.requests,
        failed=sum(int(one[0]) for one in told),
        over_limit=stats.over_limit,
        least_spacing=stats.least_spacing,
        peak_concurrency=stats.peak_concurrency,
        per_second=(stats.requests - 1) / spread if spread else 0.0,
        allowed_per_second=1 / settings(source).spacing_seconds,
        cpu_ms=1e3 * sum(float(one[1]) for one in told) / stats.requests,
        transactions=(after[0]["done"] - before[0]["done"]) / stats.requests,
        waits=tuple(sorted(float(one[2]) for one in told)),
    )


async def _start(url: str, source: str, base_url: str, name: str, calls: int) -> Process:
    member = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.remote.member", url, source, base_url, name, str(calls)),
        cwd=_ROOT,
        stdin=PIPE,
        stdout=PIPE,
    )
    assert member.stdout is not None  # noqa: S101 - it was opened as a pipe
    if await member.stdout.readline() != b"ready\n":
        raise RuntimeError(f"{name} did not start.")
    return member
