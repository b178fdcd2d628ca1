"""The processes of a cluster, found among the children of whoever started it."""

import re

import psutil

__all__ = ["family", "replica"]


def family(root: int) -> list[psutil.Process]:
    return psutil.Process(root).children(recursive=True)


def replica(root: int, deployment: str) -> psutil.Process | None:
    """A pool's process; None while there is none. Ray writes the pool into the title, with the call in work if any."""
    title = re.compile(rf"^ray::.*[:#]{deployment}(#|$|\.)", re.IGNORECASE)
    for process in family(root):
        try:
            if title.match(" ".join(process.cmdline()).strip()) and process.status() != psutil.STATUS_ZOMBIE:
                return process
        except psutil.NoSuchProcess:
            continue
    return None
