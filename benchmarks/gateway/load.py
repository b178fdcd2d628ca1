"""Calls through one gateway, a fixed number of them in flight, and what they cost the process."""

import asyncio
import gc
import itertools
import time
from collections import Counter
from typing import NamedTuple

import psutil

from assayer.errors import AssayerError
from assayer.models import EvaluationId
from assayer.ports import ProgressEvent
from assayer.run.budget import Budget
from assayer.run.run import Run
from benchmarks.gateway.questions import JUDGING, a_statement
from cluster.clock import SystemClock
from workers.llm.gateway import LlmGateway

__all__ = ["Measured", "measure"]


class Measured(NamedTuple):
    calls: int
    seconds: float
    cpu_seconds: float
    """Of the process in which the gateway is."""
    bytes_in_flight: float
    """Growth of its memory for each call in flight."""
    faults: Counter[str]
    """Met on the way and got over, by kind; a pool of connections that is too small shows as timeouts."""
    failed: int

    def cpu_ms(self, seconds: float) -> float:
        """A call, of so many CPU seconds."""
        return 1000 * seconds / max(1, self.calls)


class _Quiet:
    def report(self, event: ProgressEvent) -> None:
        pass


class _Tally:
    def __init__(self) -> None:
        self.calls = self.failed = 0
        self.faults: Counter[str] = Counter()


async def measure(
    gateway: LlmGateway,
    in_flight: int,
    seconds: float,
    characters: int,
    first: int,
) -> Measured:
    """Questions are numbered from `first`, so that no two measurements ask the same."""
    numbers = itertools.count(first)
    tally, process, clock = _Tally(), psutil.Process(), SystemClock()
    gc.collect()
    before, started, used = process.memory_info().rss, time.monotonic(), _cpu(process)
    until = started + seconds
    most = before

    async def ask() -> None:
        run = Run(EvaluationId(f"bench-{first}"), None, clock, _Quiet(), Budget())
        while time.monotonic() < until:
            try:
                answer = await gateway.run(JUDGING, a_statement(next(numbers), characters), run)
            except AssayerError:
                tally.failed += 1
            else:
                tally.calls += 1
                tally.faults.update(fault.kind for fault in answer.record.faults)

    async def watch() -> None:
        nonlocal most
        while time.monotonic() < until:
            most = max(most, process.memory_info().rss)
            await asyncio.sleep(0.5)

    async with asyncio.TaskGroup() as group:
        group.create_task(watch())
        for _ in range(in_flight):
            group.create_task(ask())
    return Measured(
        tally.calls,
        time.monotonic() - started,
        _cpu(process) - used,
        (most - before) / in_flight,
        tally.faults,
        tally.failed,
    )


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
