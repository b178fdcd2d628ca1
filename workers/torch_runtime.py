"""Import torch, and choose device and precision, for all models on this machine. Importing this module does not import
torch."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from assayer.errors import ConfigurationError

Device = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "float32", "bfloat16", "float16"]
"""Floating-point precision. `auto`: bfloat16 if the processor is fast at it, float16 on older GPUs, otherwise
float32."""

INSTALL = "Install it with: pip install 'assayer-research[local]'"

_BFLOAT16_FEATURES = {"amx_bf16", "avx512_bf16"}
"""CPU features with which bfloat16 is three times as fast as float32. 8-bit integers are no faster there (ADR 15)."""


def import_torch(work: str, *names: str, threads: int | None = None) -> tuple[Any, ...]:
    """Import and return torch and the other named libraries, without progress bars. Raises ConfigurationError, which
    names the `work` that needs them, if one is not installed."""
    _make_waiting_threads_sleep()
    try:
        torch, *libraries = map(import_module, ("torch", *names))
    except ImportError as error:
        raise ConfigurationError(f"{work} needs {error.name}, which is not installed.", INSTALL) from None
    for library in libraries:
        if library.__name__ == "transformers":
            library.utils.logging.disable_progress_bar()
    if threads is not None:
        torch.set_num_threads(threads)
    return torch, *libraries


def import_torch_geometric(threads: int) -> Any:
    """Import and return torch, limited to `threads` threads. Raises ConfigurationError if the extra `gnn` is not
    installed."""
    for library in ("torch", "torch_geometric", "safetensors"):
        if find_spec(library) is None:
            raise ConfigurationError(
                f"GraphEval's network needs {library}, which is not installed.",
                "Install it with: pip install 'assayer-research[gnn]'",
            )
    _make_waiting_threads_sleep()
    torch = import_module("torch")
    torch.set_num_threads(threads)
    return torch


def _make_waiting_threads_sleep() -> None:
    """Make waiting OpenMP threads sleep. If they spin, everything becomes twenty times slower as soon as another task
    uses a core."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def choose_device(device: Device, torch: Any) -> str:
    """Return the device; `auto` selects a GPU if there is one."""
    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def choose_dtype(precision: Precision, device: str, torch: Any) -> Any:
    if precision != "auto":
        return getattr(torch, precision)
    if device == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    return torch.bfloat16 if device == "cpu" and _has_fast_bfloat16() else torch.float32


def _has_fast_bfloat16() -> bool:
    cpu = Path("/proc/cpuinfo")
    return cpu.is_file() and not _BFLOAT16_FEATURES.isdisjoint(cpu.read_text("ascii", "replace").split())


def get_first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
