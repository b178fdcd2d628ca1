"""The Ray on which a corpus is built: one of its own, or one that runs already."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ray

from assayer.errors import ConfigurationError

__all__ = ["building_cluster"]

_OBJECT_STORE = 512 * 2**20
"""Bytes; texts pass through it a few portions at a time."""


@contextmanager
def building_cluster(folder: Path, cpus: int | None = None) -> Iterator[None]:
    """Within a private environment; all of it ends with the context. ConfigurationError where Ray does not start."""
    try:
        ray.init(
            address="local",
            num_cpus=(cpus or os.cpu_count() or 1) + 1,  # one for the readers, which mostly wait
            object_store_memory=_OBJECT_STORE,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.WARNING,
            _temp_dir=str(folder),
        )
    except Exception as error:  # Ray has no class of its own for it
        hint = "The machine may be too busy: try again, or build in one process with assayer corpus build."
        raise ConfigurationError(f"Ray has not started: {str(error).splitlines()[0]}", hint) from error
    try:
        yield
    finally:
        ray.shutdown()
