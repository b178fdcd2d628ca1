"""The processes of a running service, found from outside as an operator finds them."""

import re
import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil

from cluster.postgres import postmaster

__all__ = ["alive", "database_server", "end", "family", "free_port", "raylet", "replicas"]

_ACTORS = {"proxy": "ProxyActor", "controller": "ServeController"}
_END_SECONDS = 20.0


def alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def family(roots: Iterable[int]) -> list[psutil.Process]:
    """These processes and all that they started, as far as they live."""
    found: list[psutil.Process] = []
    for root in roots:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(root)
            found += [process, *process.children(recursive=True)]
    return [process for process in found if alive(process)]


def replicas(roots: Iterable[int], kind: str) -> list[psutil.Process]:
    """A pool's processes, by the pool's name; `proxy` and `controller` are Serve's own. Ray writes the pool into the
    title, with the call in work if any."""
    title = rf"^ray::{_ACTORS[kind]}" if kind in _ACTORS else rf"^ray::.*[:#]{kind}(#|$|\.)"
    return [process for process in family(roots) if re.match(title, _title(process), re.IGNORECASE)]


def raylet(root: int) -> psutil.Process | None:
    """Of a node that `ray start --block` runs."""
    return next((process for process in family([root]) if _name(process) == "raylet"), None)


def database_server(home: Path) -> psutil.Process | None:
    """The embedded PostgreSQL of a data directory."""
    found = postmaster.find(home / "postgres" / "pgdata")
    try:
        return psutil.Process(found.pid) if found else None
    except psutil.NoSuchProcess:
        return None


def end(processes: Iterable[psutil.Process]) -> None:
    """Kills and waits."""
    those = list(processes)
    for process in those:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(those, timeout=_END_SECONDS)


def free_port() -> int:
    """Free a moment ago: a service that is started again has to come back where its clients look for it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline()).strip()  # Ray leaves blanks where the command line was longer
    except psutil.Error:
        return ""


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return ""
