"""Kills processes one after another, each time when the API answers and calls are in flight."""

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

from benchmarks.chaos.plan import CALM, Kill, Weather
from benchmarks.processes import alive
from benchmarks.service import Service
from benchmarks.waiting import until
from simulator.counters import Stats
from simulator.process import Simulator

_LOG = logging.getLogger(__name__)
_WAIT_SECONDS = 60.0
"""Maximum seconds to wait for a process to kill."""
_IDLE_SECONDS = 10.0
"""Maximum seconds to wait for calls in flight that the kill may affect."""
_WHOLE_SECONDS = 240.0
_LOOK_SECONDS = 0.1


class Spent(NamedTuple):
    """Counters of the simulator at one moment."""

    answered: int
    repeated: int
    """Answers to prompts that had been answered: paid twice."""
    abandoned: int
    """Requests whose sender went away before the answer."""
    in_flight: int


class Killing(NamedTuple):
    kind: str
    at: float
    """Seconds since the start."""
    before: Spent
    away: float
    """Seconds until the API answered from its database again, from the kill."""
    weather: str
    whole: float = 0.0
    """Seconds until all that died with it had been replaced, where that is waited for."""
    load: float = 0.0
    """Load average of the machine over the minute before the kill."""

    @property
    def times(self) -> tuple[float, float, float]:
        return self.at, self.away, self.whole


@dataclass
class Killer:
    service: Service
    simulator: Simulator
    began: float = field(default_factory=time.monotonic)
    weather: Weather = CALM
    done: list[Killing] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """Kinds of which no process was found."""
    gave_up: str = ""
    """Why nothing more was killed: the service did not come back."""
    alone: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by whoever does something to the service."""

    async def run(self, plan: Iterator[Kill]) -> None:
        """To its end, until it is cancelled, or until the service does not come back."""
        for kill in plan:
            await asyncio.sleep(kill.pause)
            async with self.alone:
                try:
                    await self._kill(kill.kind)
                except TimeoutError as error:
                    self.gave_up = f"After the death of {kill.kind}: {error}"
                    return

    async def _kill(self, kind: str) -> None:
        victim = await self._found(kind)
        if victim is None:
            self.missed.append(kind)
            return
        before, living, load = await spent(self.simulator), await self.service.living(), os.getloadavg()[0]
        try:
            victim.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            self.missed.append(kind)
            return
        killed = time.monotonic()
        await until(partial(_is_gone, victim), _WAIT_SECONDS, _LOOK_SECONDS)
        await self.service.until_it_answers(_WHOLE_SECONDS)
        away = time.monotonic() - killed
        await self.service.until_whole(living)
        whole = time.monotonic() - killed
        self.done.append(Killing(kind, killed - self.began, before, away, self.weather.name, whole, load))
        _LOG.info("%s died after %.0f s; answers after %.1f s, whole after %.1f s", kind, *self.done[-1].times)

    async def _found(self, kind: str) -> psutil.Process | None:
        """One of those, once calls are in flight; without any after a while, all the same."""

        async def lives() -> bool:
            return await asyncio.to_thread(self.service.victim, kind) is not None

        async def works() -> bool:
            return bool((await spent(self.simulator)).in_flight)

        with suppress(TimeoutError):
            await until(lives, _WAIT_SECONDS, _LOOK_SECONDS)
            await until(works, _IDLE_SECONDS, _LOOK_SECONDS)
        return await asyncio.to_thread(self.service.victim, kind)


async def _is_gone(process: psutil.Process) -> bool:
    """Not waited for as a child: that is for whoever started it."""
    return not alive(process)


async def spent(simulator: Simulator) -> Spent:
    stats: Stats = await asyncio.to_thread(simulator.stats)
    return Spent(stats.answered, stats.repeated_answers, stats.abandoned, stats.in_flight)


async def change_weather(killer: Killer, plan: Iterator[Weather]) -> None:
    """To the end of the plan, or until it is cancelled; then it is calm."""
    try:
        for item in plan:
            killer.weather = item
            await asyncio.to_thread(lambda knobs: killer.simulator.configure(**knobs), item.knobs)
            await asyncio.sleep(item.seconds)
    finally:
        killer.weather = CALM
        killer.simulator.configure(**CALM.knobs)
