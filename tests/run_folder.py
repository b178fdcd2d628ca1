"""Folder shared by the workers of a test run; each part is created once, by the first worker that needs it."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

_FOLDER = pytest.StashKey[Path]()
_WORKER_INPUT_KEY = "run_folder"


def open_run_folder(config: pytest.Config) -> None:
    """Open the folder of the run; in a worker, use that of the process that started it.

    It is not pytest's temporary directory: as root, PostgreSQL servers run as a user who may not traverse that."""
    worker_input: dict[str, str] | None = getattr(config, "workerinput", None)
    folder = Path(
        worker_input[_WORKER_INPUT_KEY] if worker_input is not None else tempfile.mkdtemp(prefix="assayer-tests-")
    )
    folder.chmod(0o711)
    config.stash[_FOLDER] = folder


def share_run_folder(config: pytest.Config, workerinput: dict[str, str]) -> None:
    workerinput[_WORKER_INPUT_KEY] = str(config.stash[_FOLDER])


def close_run_folder(config: pytest.Config) -> None:
    """Delete the folder when the last worker has ended."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(config.stash[_FOLDER], ignore_errors=True)


def run_folder_of(config: pytest.Config) -> Path:
    return config.stash[_FOLDER]


def make_once(path: Path, make: Callable[[], None]) -> Path:
    """Make the path unless another worker did; the others wait. If a worker dies, the next one makes it."""
    done_path = path.with_name(f"{path.name}.done")
    handle = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if not done_path.exists():
            make()
            done_path.touch()
    finally:
        os.close(handle)
    return path
