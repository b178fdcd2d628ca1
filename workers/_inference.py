"""What models that run on this machine have in common. Importing this module does not import torch."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from assayer.errors import ConfigurationError

__all__ = ["INSTALL", "Device", "Precision", "chosen_device", "chosen_dtype", "first_line", "libraries"]

Device = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "float32", "bfloat16"]
"""`auto` is bfloat16 on a GPU and on a CPU with AMX, else float32."""

INSTALL = "Install it with: pip install 'assayer[local]'"


def libraries(work: str, *names: str) -> tuple[Any, ...]:
    """torch, transformers and the others named, quiet. Raises ConfigurationError that says which `work` needs them."""
    # Threads that spin while they wait make everything twenty times slower once a core is busy otherwise.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        torch, transformers, *others = map(import_module, ("torch", "transformers", *names))
    except ImportError as error:
        raise ConfigurationError(f"{work} needs {error.name}, which is not installed.", INSTALL) from None
    transformers.utils.logging.disable_progress_bar()
    return torch, transformers, *others


def chosen_device(device: Device, torch: Any) -> str:
    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"


def chosen_dtype(precision: Precision, device: str, torch: Any) -> Any:
    half = precision == "bfloat16" or (precision == "auto" and _fast_bfloat16(device))
    return torch.bfloat16 if half else torch.float32


def _fast_bfloat16(device: str) -> bool:
    """GPUs, and CPUs with AMX, where it is three times as fast as fp32."""
    if device == "cuda":
        return True
    cpu = Path("/proc/cpuinfo")
    return device == "cpu" and cpu.is_file() and "amx_bf16" in cpu.read_text("ascii", "replace")


def first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
