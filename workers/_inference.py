"""What models that run on this machine have in common. Importing this module does not import torch."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from assayer.errors import ConfigurationError

__all__ = ["INSTALL", "Device", "Precision", "chosen_device", "chosen_dtype", "first_line", "libraries"]

Device = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "float32", "bfloat16", "float16"]
"""`auto` is bfloat16 where the processor computes in it, on older GPUs float16, else float32."""

INSTALL = "Install it with: pip install 'assayer[local]'"

_BFLOAT16 = {"amx_bf16", "avx512_bf16"}
"""Processors with either are three times as fast in bfloat16 as in float32; eight-bit integers are no faster there (ADR
15)."""


def libraries(work: str, *names: str, threads: int | None = None) -> tuple[Any, ...]:
    """torch, transformers and the others named, quiet. Raises ConfigurationError that says which `work` needs them."""
    # Threads that spin while they wait make everything twenty times slower once a core is busy otherwise.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        torch, transformers, *others = map(import_module, ("torch", "transformers", *names))
    except ImportError as error:
        raise ConfigurationError(f"{work} needs {error.name}, which is not installed.", INSTALL) from None
    transformers.utils.logging.disable_progress_bar()
    if threads is not None:
        torch.set_num_threads(threads)
    return torch, transformers, *others


def chosen_device(device: Device, torch: Any) -> str:
    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def chosen_dtype(precision: Precision, device: str, torch: Any) -> Any:
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
