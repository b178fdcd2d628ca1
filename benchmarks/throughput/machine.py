"""Names the machine that figures were measured on."""

import os
import platform
from pathlib import Path

import psutil

__all__ = ["machine"]


def machine() -> str:
    """Processor, cores, memory, system and Python, on one line."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.is_file() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    memory = psutil.virtual_memory().total / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"
