"""Find a cluster's processes among the children of the process that started it."""

import re

import psutil


def list_child_processes(root: int) -> list[psutil.Process]:
    return psutil.Process(root).children(recursive=True)


def find_replica(root: int, deployment: str) -> psutil.Process | None:
    """A pool's process; None while there is none."""
    return next(iter(find_replicas(root, deployment)), None)


def find_replicas(root: int, deployment: str) -> list[psutil.Process]:
    """Ray writes the pool into a process's title, with the call in work if any."""
    title = re.compile(rf"^ray::.*[:#]{deployment}(#|$|\.)", re.IGNORECASE)
    replica_processes = []
    for process in list_child_processes(root):
        try:
            if title.match(" ".join(process.cmdline()).strip()) and process.status() != psutil.STATUS_ZOMBIE:
                replica_processes.append(process)
        except psutil.NoSuchProcess:
            continue
    return replica_processes
