"""Folder shared by the workers of a test run; each part is created once, by the first worker that needs it."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

_FOLDER = pytest.StashKey[Path]()
_SHARED_AS = "run_folder"


def open_run_folder(config: pytest.Config) -> None:
    """Open the folder of the run; in a worker, use that of the process that started it.

    It is not pytest's temporary directory: as root, PostgreSQL servers run as a user who may not traverse that."""
    worker_input: dict[str, str] | None = getattr(config, "workerinput", None)
    folder = Path(worker_input[_SHARED_AS] if worker_input is not None else tempfile.mkdtemp(prefix="assayer-tests-"))
    folder.chmod(0o711)
    config.stash[_FOLDER] = folder


def share_run_folder(config: pytest.Config, workerinput: dict[str, str]) -> None:
    workerinput[_SHARED_AS] = str(config.stash[_FOLDER])


def close_run_folder(config: pytest.Config) -> None:
    """Deletes it when the last worker has ended."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(config.stash[_FOLDER], ignore_errors=True)


def run_folder_of(config: pytest.Config) -> Path:
    return config.stash[_FOLDER]


def made_once(path: Path, make: Callable[[], None]) -> Path:
    """Has `make` make the path unless another worker did; the others wait. A worker that dies leaves it to the next."""
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
