"""What the figures were measured on."""

import os
import platform
from pathlib import Path
from typing import NamedTuple

import psutil

__all__ = ["Memory", "machine", "memory_mb", "resident_mb"]


def machine() -> str:
    """Processor, cores, memory, and how busy it already was."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8", "replace").splitlines() if cpuinfo.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    amx = any("amx_bf16" in line for line in lines)
    memory = psutil.virtual_memory().total / 2**30
    return (
        f"{names[0] if names else platform.processor()}{' with AMX' if amx else ''}, {os.cpu_count()} cores, "
        f"{memory:.0f} GiB, load {os.getloadavg()[0]:.1f} at the start, Python {platform.python_version()}"
    )


def resident_mb() -> float:
    """Of this process, mapped files included."""
    return float(psutil.Process().memory_info().rss) / 1e6


class Memory(NamedTuple):
    """Of this process, in megabytes."""

    anonymous: float
    mapped: float
    """Pages of files, which the system may drop and read again."""


def memory_mb() -> Memory:
    lines = Path("/proc/self/smaps_rollup").read_text("ascii").splitlines()[1:]
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 / 1e6 for line in lines}
    return Memory(sizes["Anonymous"], sizes["Rss"] - sizes["Anonymous"])
