"""Measures the memory of this process."""

from pathlib import Path
from typing import NamedTuple

import psutil


def resident_mb() -> float:
    """Return the resident memory of this process in megabytes, mapped files included."""
    return float(psutil.Process().memory_info().rss) / 1e6


class Memory(NamedTuple):
    """Memory of this process in megabytes."""

    anonymous: float
    mapped: float
    """Pages of mapped files, which the operating system may drop and read again."""


def memory_mb() -> Memory:
    lines = Path("/proc/self/smaps_rollup").read_text("ascii").splitlines()[1:]
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 / 1e6 for line in lines}
    return Memory(sizes["Anonymous"], sizes["Rss"] - sizes["Anonymous"])
