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

from benchmarks.chaos.killing import Killer, KillRecord, count_calls
from benchmarks.processes import find_database_server, list_process_tree

IncidentKind = Literal["database away", "database silent", "upgrade"]
_RECOVERY_SECONDS = 240.0


class Incident(NamedTuple):
    kind: IncidentKind
    at: float
    """Time in seconds since the start."""


def plan_incidents(seconds: float, outages: int, with_upgrade: bool) -> list[Incident]:
    """Return database outages spread over the time, alternately `away` and `silent`, and the upgrade in the middle."""
    kinds: tuple[IncidentKind, IncidentKind] = ("database away", "database silent")
    planned_outages = [Incident(kinds[number % 2], seconds * (number + 0.5) / outages) for number in range(outages)]
    return sorted(
        [*planned_outages, *([Incident("upgrade", seconds / 2)] if with_upgrade else [])],
        key=lambda incident: incident.at,
    )


async def run_incidents(
    killer: Killer, plan: list[Incident], outage_seconds: float, new_settings: Mapping[str, str]
) -> None:
    """Cause the incidents one after another; nothing is killed during an incident."""
    for incident in plan:
        await asyncio.sleep(max(0.0, killer.began + incident.at - time.monotonic()))
        async with killer.lock:
            counts_before, began = await count_calls(killer.simulator), time.monotonic()
            match incident.kind:
                case "database away":
                    await _stop_database(killer.service.home, outage_seconds)
                case "database silent":
                    await _suspend_database(killer.service.home, outage_seconds)
                case "upgrade":
                    await killer.service.upgrade(new_settings)
            await killer.service.wait_until_answering(_RECOVERY_SECONDS)
            seconds_away = time.monotonic() - began
            killer.records.append(
                KillRecord(incident.kind, began - killer.began, counts_before, seconds_away, killer.faults.name)
            )


async def _stop_database(home: Path, seconds: float) -> None:
    """Kill the database server, and prevent its restart by holding the lock that starting it requires."""
    with _hold_lock(home / "postgres" / "lock"):
        if (server := find_database_server(home)) is not None:
            with suppress(psutil.NoSuchProcess):
                server.kill()
        await asyncio.sleep(seconds)


async def _suspend_database(home: Path, seconds: float) -> None:
    """Suspend the database server's processes, so that it runs but does not respond."""
    server = find_database_server(home)
    processes = list_process_tree([server.pid]) if server is not None else []
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
def _hold_lock(lock: Path) -> Iterator[None]:
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
