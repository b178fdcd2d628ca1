"""Killing of processes one after another, each while the API answers and calls are in flight."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import psutil

from benchmarks.chaos.plan import NO_FAULTS, FaultPeriod, Kill
from benchmarks.processes import is_alive
from benchmarks.service import Service
from benchmarks.waiting import wait_until
from simulator.counters import Stats
from simulator.process import Simulator

_LOG = logging.getLogger(__name__)
_WAIT_SECONDS = 60.0
"""Maximum seconds to wait for a process to kill."""
_IDLE_SECONDS = 10.0
"""Maximum seconds to wait for calls in flight that the kill may affect."""
_RECOVERY_SECONDS = 240.0
_POLL_SECONDS = 0.1


class CallCounts(NamedTuple):
    """Counters of the simulator at one moment."""

    answered: int
    repeated: int
    """Number of answers to prompts that had already been answered, that is, paid for twice."""
    abandoned: int
    """Number of requests whose sender disconnected before the answer."""
    in_flight: int


class KillRecord(NamedTuple):
    kind: str
    at: float
    """Time in seconds since the start."""
    counts_before: CallCounts
    seconds_away: float
    """Seconds from the kill until the API answered from its database again."""
    faults: str
    seconds_until_whole: float = 0.0
    """Seconds until everything that died had been replaced, if the deployment reports this."""
    load: float = 0.0
    """Load average of the machine in the minute before the kill."""

    @property
    def times(self) -> tuple[float, float, float]:
        return self.at, self.seconds_away, self.seconds_until_whole


@dataclass
class Killer:
    service: Service
    simulator: Simulator
    began: float = field(default_factory=time.monotonic)
    faults: FaultPeriod = NO_FAULTS
    records: list[KillRecord] = field(default_factory=list)
    missed_kinds: list[str] = field(default_factory=list)
    """Kinds of which no process could be killed."""
    gave_up: str = ""
    """Reason why the killing stopped early: the service did not recover."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Lock held during each kill or incident."""

    async def run(self, plan: Iterator[Kill]) -> None:
        """Run the plan to its end, or until the service does not recover."""
        for kill in plan:
            await asyncio.sleep(kill.pause)
            async with self.lock:
                try:
                    await self._kill(kill.kind)
                except TimeoutError as error:
                    self.gave_up = f"After the death of {kill.kind}: {error}"
                    return

    async def _kill(self, kind: str) -> None:
        victim = await self._wait_for_victim(kind)
        if victim is None:
            self.missed_kinds.append(kind)
            return
        counts_before, living_nodes, load = (
            await count_calls(self.simulator),
            await self.service.list_living_nodes(),
            os.getloadavg()[0],
        )
        try:
            victim.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            self.missed_kinds.append(kind)
            return
        killed_at = time.monotonic()
        await wait_until(partial(_is_gone, victim), _WAIT_SECONDS, _POLL_SECONDS)
        await self.service.wait_until_answering(_RECOVERY_SECONDS)
        seconds_away = time.monotonic() - killed_at
        await self.service.wait_until_whole(living_nodes)
        seconds_until_whole = time.monotonic() - killed_at
        self.records.append(
            KillRecord(
                kind, killed_at - self.began, counts_before, seconds_away, self.faults.name, seconds_until_whole, load
            )
        )
        _LOG.info("%s died after %.0f s; answers after %.1f s, whole after %.1f s", kind, *self.records[-1].times)

    async def _wait_for_victim(self, kind: str) -> psutil.Process | None:
        """Return a process of this kind once calls are in flight, or after a while even without calls; None if there is
        none."""

        async def has_victim() -> bool:
            return await asyncio.to_thread(self.service.find_process, kind) is not None

        async def has_calls_in_flight() -> bool:
            return bool((await count_calls(self.simulator)).in_flight)

        with suppress(TimeoutError):
            await wait_until(has_victim, _WAIT_SECONDS, _POLL_SECONDS)
            await wait_until(has_calls_in_flight, _IDLE_SECONDS, _POLL_SECONDS)
        return await asyncio.to_thread(self.service.find_process, kind)


async def _is_gone(process: psutil.Process) -> bool:
    """Return whether the process has ended. It is not waited for, because it may not be a child of this process."""
    return not is_alive(process)


async def count_calls(simulator: Simulator) -> CallCounts:
    stats: Stats = await asyncio.to_thread(simulator.read_stats)
    return CallCounts(stats.answered, stats.repeated_answers, stats.abandoned, stats.in_flight)


async def apply_faults(killer: Killer, plan: Iterator[FaultPeriod]) -> None:
    """Run a plan of endpoint faults until its end or until cancelled; afterwards there are no faults."""
    try:
        for period in plan:
            killer.faults = period
            await asyncio.to_thread(lambda knobs: killer.simulator.configure(**knobs), period.knobs)
            await asyncio.sleep(period.seconds)
    finally:
        killer.faults = NO_FAULTS
        killer.simulator.configure(**NO_FAULTS.knobs)
