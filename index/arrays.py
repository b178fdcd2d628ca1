"""Read NumPy arrays from files, safely from several threads, and create memory-mapped files."""

import os
import threading
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

_LOCK = threading.Lock()
"""Held while an array is opened. NumPy parses a file's header with `ast.literal_eval`, whose recursion counter CPython
shares between threads: if the garbage collector switches threads while a syntax tree is built, the parser fails with
"SystemError: AST constructor recursion depth mismatch" (see CPython issue 106905)."""


def load_array(file: Path | IO[bytes], mmap_mode: Literal["r"] | None = "r") -> NDArray[Any]:
    """Return the array in a .npy file, memory-mapped unless `mmap_mode` is None. An open file is read from its current
    position, and copied to memory. Raises OSError, ValueError or EOFError if it cannot be read or is damaged."""
    with _LOCK:
        return np.asarray(np.load(file, mmap_mode if isinstance(file, Path) else None))


def load_arrays(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    """Return all arrays in a .npz archive. Raises OSError, ValueError, EOFError or zipfile.BadZipFile if it cannot be
    read or is damaged."""
    with _LOCK, np.load(file) as archive:
        return dict(archive)


def create_memory_map(path: Path, kind: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Create a memory-mapped .npy file to be filled. Its disk space is allocated at once, because the process is killed
    if the disk is full when a mapped page is written."""
    file: NDArray[Any] = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=shape)
    with path.open("r+b") as handle:
        os.posix_fallocate(handle.fileno(), 0, path.stat().st_size)
    return file
