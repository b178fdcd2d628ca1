"""How torch is loaded and where it runs, for all models on this machine. Importing this module imports no torch."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from assayer.errors import ConfigurationError

__all__ = [
    "INSTALL",
    "Device",
    "Precision",
    "choose_device",
    "choose_dtype",
    "first_line",
    "import_torch",
    "import_torch_geometric",
]

Device = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "float32", "bfloat16", "float16"]
"""`auto` is bfloat16 where the processor computes in it, on older GPUs float16, else float32."""

INSTALL = "Install it with: pip install 'assayer[local]'"

_BFLOAT16 = {"amx_bf16", "avx512_bf16"}
"""Processors with either are three times as fast in bfloat16 as in float32; eight-bit integers are no faster there (ADR
15)."""


def import_torch(work: str, *names: str, threads: int | None = None) -> tuple[Any, ...]:
    """torch and the others named, quiet. Raises ConfigurationError that says which `work` needs them."""
    _let_waiting_threads_sleep()
    try:
        torch, *others = map(import_module, ("torch", *names))
    except ImportError as error:
        raise ConfigurationError(f"{work} needs {error.name}, which is not installed.", INSTALL) from None
    for library in others:
        if library.__name__ == "transformers":
            library.utils.logging.disable_progress_bar()
    if threads is not None:
        torch.set_num_threads(threads)
    return torch, *others


def import_torch_geometric(threads: int) -> Any:
    """torch, limited to `threads` threads. Raises ConfigurationError without the extra `gnn`."""
    for library in ("torch", "torch_geometric", "safetensors"):
        if find_spec(library) is None:
            raise ConfigurationError(
                f"GraphEval's network needs {library}, which is not installed.",
                "Install it with: pip install 'assayer[gnn]'",
            )
    _let_waiting_threads_sleep()
    torch = import_module("torch")
    torch.set_num_threads(threads)
    return torch


def _let_waiting_threads_sleep() -> None:
    """Threads that spin while they wait make everything twenty times slower once a core is busy otherwise."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def choose_device(device: Device, torch: Any) -> str:
    """`auto` is a GPU where there is one."""
    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def choose_dtype(precision: Precision, device: str, torch: Any) -> Any:
    if precision != "auto":
        return getattr(torch, precision)
    if device == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    return torch.bfloat16 if device == "cpu" and _fast_bfloat16() else torch.float32


def _fast_bfloat16() -> bool:
    cpu = Path("/proc/cpuinfo")
    return cpu.is_file() and not _BFLOAT16.isdisjoint(cpu.read_text("ascii", "replace").split())


def first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
