"""The processes of a running service, found from outside as an operator finds them."""

import random
import re
import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil

from cluster.postgres import postmaster

_ACTORS = {"proxy": "ProxyActor", "controller": "ServeController"}
_END_SECONDS = 20.0
_PORTS = range(21_000, 29_000)
"""Below those that Linux gives out (32768 and more), above those of Ray's workers (10002 to 19999)."""


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
    """Return the raylet of a node that `ray start --block` runs, or None."""
    return next((process for process in family([root]) if _name(process) == "raylet"), None)


def gcs_server(root: int) -> psutil.Process | None:
    """Return the GCS server of a head, which holds the cluster's state, or None."""
    return next((process for process in family([root]) if _name(process) == "gcs_server"), None)


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
    """Free a moment ago: a service that is started again has to come back where its clients look for it. Below the
    ports that systems give out by themselves, where Ray, too, takes fixed ones (44217 for the figures of its
    autoscaler) and programs of this run may have taken any."""
    ports = list(_PORTS)
    random.SystemRandom().shuffle(ports)
    for port in ports:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError(f"Every port from {_PORTS.start} to {_PORTS.stop - 1} of 127.0.0.1 is taken.")


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
