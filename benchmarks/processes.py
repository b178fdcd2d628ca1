"""Finds the processes of a running service from outside, as an operator would."""

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
"""Below Linux's ephemeral ports (32768 and above), above the ports of Ray's workers (10002 to 19999)."""


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def list_process_tree(roots: Iterable[int]) -> list[psutil.Process]:
    """Return these processes and all their descendants that are alive."""
    processes: list[psutil.Process] = []
    for root in roots:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(root)
            processes += [process, *process.children(recursive=True)]
    return [process for process in processes if is_alive(process)]


def list_replicas(roots: Iterable[int], kind: str) -> list[psutil.Process]:
    """Return a pool's processes by the pool's name; `proxy` and `controller` are Serve's own processes. Ray writes the
    pool into the process title, with the current call if there is one."""
    title = rf"^ray::{_ACTORS[kind]}" if kind in _ACTORS else rf"^ray::.*[:#]{kind}(#|$|\.)"
    return [process for process in list_process_tree(roots) if re.match(title, _read_title(process), re.IGNORECASE)]


def find_raylet(root: int) -> psutil.Process | None:
    """Return the raylet of a node run by `ray start --block`, or None."""
    return next((process for process in list_process_tree([root]) if _read_name(process) == "raylet"), None)


def find_gcs_server(root: int) -> psutil.Process | None:
    """Return the GCS server of a head node, which holds the cluster's state, or None."""
    return next((process for process in list_process_tree([root]) if _read_name(process) == "gcs_server"), None)


def find_database_server(home: Path) -> psutil.Process | None:
    """Return the embedded PostgreSQL server of a data directory, or None."""
    postmaster_found = postmaster.find(home / "postgres" / "pgdata")
    try:
        return psutil.Process(postmaster_found.pid) if postmaster_found else None
    except psutil.NoSuchProcess:
        return None


def count_allocated_bytes(processes: Iterable[psutil.Process]) -> int:
    """Return the resident bytes that the processes have allocated. Pages of files do not count: the kernel reads them
    again and drops them as it sees fit."""
    total = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            memory = process.memory_info()
            total += memory.rss - memory.shared
    return total


def kill_processes(processes: Iterable[psutil.Process]) -> None:
    """Kill the processes and wait until they have ended."""
    process_list = list(processes)
    for process in process_list:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(process_list, timeout=_END_SECONDS)


def find_free_port() -> int:
    """Return a port that is free now, so that a restarted service can come back where its clients expect it. It is
    below the ephemeral ports, among which Ray also has fixed ones (44217 for its autoscaler's metrics) and programs of
    this run may have taken any."""
    ports = list(_PORTS)
    random.SystemRandom().shuffle(ports)
    for port in ports:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError(f"All ports from {_PORTS.start} to {_PORTS.stop - 1} on 127.0.0.1 are in use.")


def _read_title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline()).strip()  # Ray pads a title that is shorter than the command line with spaces
    except psutil.Error:
        return ""


def _read_name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return ""
