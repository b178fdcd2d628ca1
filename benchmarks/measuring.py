"""Command line, header lines (date, machine, code version) and directory of all benchmarks."""

import argparse
import datetime as dt
import os
import platform
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

_ROOT = Path(__file__).resolve().parents[1]


def build_parser(module: str, description: str | None) -> argparse.ArgumentParser:
    """Return the parser of `python -m benchmarks.MODULE`, which prints the description without reformatting."""
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks.{module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def format_heading() -> str:
    """Return date, machine, load and commit on two lines, to be printed before the first measurement."""
    return f"{dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M} UTC, commit {_read_commit()}\n{describe_machine()}"


def describe_machine() -> str:
    """Return processor, cores, memory, load average over the last minute and Python version on one line."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text("utf-8", "replace").splitlines() if information.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    memory = psutil.virtual_memory().total / 2**30
    return (
        f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"load {os.getloadavg()[0]:.1f} at the start, Python {platform.python_version()}"
    )


def _read_commit() -> str:
    """Return the short hash of the checked-out commit, with `+` if files differ from it."""
    command = ("git", "-C", str(_ROOT), "describe", "--always", "--exclude=*", "--dirty=+")
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


@contextmanager
def open_directory(path: Path | None) -> Iterator[Path]:
    """Yield the directory, created if necessary, or a temporary one if no path is given."""
    if path is not None:
        path.mkdir(parents=True, exist_ok=True)
        yield path
        return
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)
