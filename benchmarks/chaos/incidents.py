"""Incidents other than kills: database outages, and an upgrade of the service."""

import asyncio
import fcntl
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

import psutil

from benchmarks.chaos.killing import Killer, KillRecord, spent
from benchmarks.processes import database_server, family

Kind = Literal["database away", "database silent", "upgrade"]
_WHOLE_SECONDS = 240.0


class Incident(NamedTuple):
    kind: Kind
    at: float
    """Time in seconds since the start."""


def plan_incidents(seconds: float, outages: int, with_upgrade: bool) -> list[Incident]:
    """Return database outages spread over the time, alternately `away` and `silent`, and the upgrade in the middle."""
    kinds: tuple[Kind, Kind] = ("database away", "database silent")
    outages_planned = [Incident(kinds[number % 2], seconds * (number + 0.5) / outages) for number in range(outages)]
    return sorted(
        [*outages_planned, *([Incident("upgrade", seconds / 2)] if with_upgrade else [])], key=lambda item: item.at
    )


async def run_incidents(
    killer: Killer, plan: list[Incident], outage_seconds: float, new_settings: Mapping[str, str]
) -> None:
    """Cause the incidents one after another; nothing is killed during an incident."""
    for item in plan:
        await asyncio.sleep(max(0.0, killer.began + item.at - time.monotonic()))
        async with killer.alone:
            before, began = await spent(killer.simulator), time.monotonic()
            match item.kind:
                case "database away":
                    await _stop_database(killer.service.home, outage_seconds)
                case "database silent":
                    await _suspend_database(killer.service.home, outage_seconds)
                case "upgrade":
                    await killer.service.upgrade(new_settings)
            await killer.service.until_it_answers(_WHOLE_SECONDS)
            seconds_away = time.monotonic() - began
            killer.done.append(KillRecord(item.kind, began - killer.began, before, seconds_away, killer.weather.name))


async def _stop_database(home: Path, seconds: float) -> None:
    """Kill the database server, and prevent its restart by holding the lock that starting it requires."""
    with _held(home / "postgres" / "lock"):
        if (server := database_server(home)) is not None:
            with suppress(psutil.NoSuchProcess):
                server.kill()
        await asyncio.sleep(seconds)


async def _suspend_database(home: Path, seconds: float) -> None:
    """Suspend the database server's processes, so that it runs but does not respond."""
    server = database_server(home)
    processes = family([server.pid]) if server is not None else []
    for process in processes:
        _send_signal(process, signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        for process in processes:
            _send_signal(process, signal.SIGCONT)


def _send_signal(process: psutil.Process, signal_number: signal.Signals) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(signal_number)


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
