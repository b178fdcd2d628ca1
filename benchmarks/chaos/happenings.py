"""Incidents other than kills: the database is down for a minute, and the service is replaced by another version."""

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

from benchmarks.chaos.killing import Killer, Killing, spent
from benchmarks.processes import database_server, family

Kind = Literal["database away", "database silent", "upgrade"]
_WHOLE_SECONDS = 240.0


class Happening(NamedTuple):
    kind: Kind
    at: float
    """Seconds since the start."""


def happenings(seconds: float, outages: int, upgrade: bool) -> list[Happening]:
    """Outages spread over the time, away and silent by turns, and the upgrade in the middle between two of them."""
    kinds: tuple[Kind, Kind] = ("database away", "database silent")
    found = [Happening(kinds[number % 2], seconds * (number + 0.5) / outages) for number in range(outages)]
    return sorted([*found, *([Happening("upgrade", seconds / 2)] if upgrade else [])], key=lambda item: item.at)


async def happen(killer: Killer, plan: list[Happening], outage_seconds: float, newer: Mapping[str, str]) -> None:
    """One after another; nothing is killed meanwhile."""
    for item in plan:
        await asyncio.sleep(max(0.0, killer.began + item.at - time.monotonic()))
        async with killer.alone:
            before, began = await spent(killer.simulator), time.monotonic()
            match item.kind:
                case "database away":
                    await _away(killer.service.home, outage_seconds)
                case "database silent":
                    await _silent(killer.service.home, outage_seconds)
                case "upgrade":
                    await killer.service.upgrade(newer)
            await killer.service.until_it_answers(_WHOLE_SECONDS)
            away = time.monotonic() - began
            killer.done.append(Killing(item.kind, began - killer.began, before, away, killer.weather.name))


async def _away(home: Path, seconds: float) -> None:
    """Killed, and kept from being started again: by the lock that those who start it take."""
    with _held(home / "postgres" / "lock"):
        if (server := database_server(home)) is not None:
            with suppress(psutil.NoSuchProcess):
                server.kill()
        await asyncio.sleep(seconds)


async def _silent(home: Path, seconds: float) -> None:
    """There, and answers nothing."""
    server = database_server(home)
    those = family([server.pid]) if server is not None else []
    for process in those:
        _signalled(process, signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        for process in those:
            _signalled(process, signal.SIGCONT)


def _signalled(process: psutil.Process, what: signal.Signals) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(what)


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
