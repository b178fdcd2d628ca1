"""Measures the memory of this process, and runs functions in fresh processes whose memory can be measured."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

import psutil

Result = TypeVar("Result")


def measure_resident_mb() -> float:
    """Return the resident memory of this process in megabytes, mapped files included."""
    return float(psutil.Process().memory_info().rss) / 1e6


class Memory(NamedTuple):
    """Memory of this process in megabytes."""

    anonymous: float
    mapped: float
    """Pages of mapped files, which the operating system may drop and read again."""


def measure_memory() -> Memory:
    lines = Path("/proc/self/smaps_rollup").read_text("ascii").splitlines()[1:]
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 / 1e6 for line in lines}
    return Memory(sizes["Anonymous"], sizes["Rss"] - sizes["Anonymous"])


def run_in_process(function: Callable[..., Result], *arguments: object) -> Result:
    """Run a function in a fresh process, so that its memory is measured separately."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()
