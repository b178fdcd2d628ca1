"""Find the PostgreSQL server that serves a directory, by checking its `postmaster.pid` against the running processes.

After a kill -9 or a reboot, `postmaster.pid` may name one of: a process that no longer exists; a zombie (permanently,
if no process reaps it, as in a container whose first process is assayer); an unrelated process that has reused the id.
A process counts only if it is alive and its working directory is this directory."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

import psutil
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed


@dataclass(frozen=True)
class Postmaster:
    """A running server process."""

    pid: int
    ready: bool
    """Whether `postmaster.pid` states that the server accepts connections."""


def find(cluster: Path) -> Postmaster | None:
    """Return the running server of a PostgreSQL data directory, or None if there is none."""
    try:
        lines = (cluster / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return None
    if not lines or not lines[0].strip().isdigit():
        return None
    pid = int(lines[0])
    if not _has_directory(pid, cluster):
        return None
    return Postmaster(pid=pid, ready=len(lines) >= 8 and lines[7].strip() == "ready")


def clear_remains(cluster: Path, sockets: Path, seconds: float) -> None:
    """Prepare a directory for a new server after its previous server has died.

    Waits until the children of a killed server have exited, because a new server cannot start before that, and kills
    those that remain after `seconds`. Deletes lock files, because the id in them, if it now belongs to a zombie or an
    unrelated process, would prevent the start permanently."""
    waiting = Retrying(
        retry=retry_if_result(bool),
        wait=wait_fixed(0.02),
        stop=stop_after_delay(seconds),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
    )
    for child in waiting(_list_children, cluster):
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    for stale in (cluster / "postmaster.pid", *sockets.glob(".s.PGSQL.*")):
        stale.unlink(missing_ok=True)


def _list_children(cluster: Path) -> list[psutil.Process]:
    processes = psutil.process_iter(["name"])
    return [
        process for process in processes if process.info["name"] == "postgres" and _has_directory(process.pid, cluster)
    ]


def _has_directory(pid: int, cluster: Path) -> bool:
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()).samefile(cluster)
    except (psutil.Error, OSError):
        return False
