"""Ray clusters: a private one for the service, one for a corpus build, or one that is already running.

Ray reads part of its environment when it is imported, so call `enter_private_environment` first. This module imports
Ray only when a cluster is requested."""

import gc
import logging
import math
import os
import secrets
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from assayer.errors import ConfigurationError
from cluster.serving.settings import PoolSettings, ServingSettings

_NAMESPACE = "assayer"
_SERVICE_OBJECT_STORE = 256 * 2**20
"""Object store size in bytes for the service and for training. The store holds data that is too large for a message,
such as vectors and full texts."""
_BUILD_OBJECT_STORE = 512 * 2**20
"""Object store size in bytes for a corpus build, in which texts pass through the store a few blocks at a time."""
_STARTUP_TIMEOUT = "timed out during startup"
"""Text in Ray's error message when startup takes too long."""
_OTHER_CLUSTERS = ("RAY_ADDRESS", "RAY_AUTH_TOKEN", "RAY_NAMESPACE")
"""Environment variables that would connect Ray to another cluster."""


_METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable that names the folder in which processes share their metrics, so that each can report totals."""
_ONE_MACHINE = {
    # Single-machine mode, in which all of Ray's ports listen on loopback only. It is named after the systems where it
    # is the default.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Ray's own metrics, which every user of the machine could read. The metrics of assayer are at /metrics.
    "RAY_enable_metrics_collection": "0",
}
_FEW_PROCESSES = {
    # Idle workers end after a second; by default, Ray keeps one per processor.
    "RAY_num_workers_soft_limit": "0",
    # Seconds between two rounds of Serve's controller, each of which queries Ray about its nodes. When idle, both
    # together use 3.6% of a core with the default of 0.1, and 1.2% with 0.5. Dead processes are replaced up to half a
    # second later.
    "RAY_SERVE_CONTROL_LOOP_INTERVAL_S": "0.5",
}
"""Environment for a Ray cluster with few processes that rarely change. Values set by the user take precedence."""


@contextmanager
def enter_private_environment(several_nodes: bool = False) -> Iterator[Path]:
    """Set a private cluster's environment variables and yield its folder, which is deleted afterwards. The cluster's
    processes authenticate to each other with a token, and other users of the machine cannot enter the folder. Unless
    `several_nodes` is set, all ports listen on loopback only."""
    # In /tmp rather than the default temporary directory, because socket paths must be short. This one is private too.
    temporary = tempfile.TemporaryDirectory(prefix="assayer-ray-", dir="/tmp", ignore_cleanup_errors=True)
    with temporary as name:
        # Ray makes its own folder accessible to everyone, so it is placed inside a private one.
        folder = Path(name, "ray")
        folder.mkdir()
        token = Path(name, "token")
        token.touch(mode=0o600)
        token.write_text(_get_token(), "ascii")
        with _set_environment_variables(
            {
                "RAY_TMPDIR": str(folder),
                "RAY_AUTH_MODE": "token",
                "RAY_AUTH_TOKEN_PATH": str(token),
                "RAY_USAGE_STATS_ENABLED": "0",
                # With Ray's default of 15, all other processes, including the database, would have priority.
                "RAY_worker_niceness": "0",
                **({} if several_nodes else _ONE_MACHINE),
            }
        ):
            yield folder


@cache
def _get_token() -> str:
    """Return the shared token. Ray reads it only once per process, so all clusters started by this process use the same
    one."""
    return secrets.token_hex(32)


@contextmanager
def _set_environment_variables(variables: Mapping[str, str]) -> Iterator[None]:
    previous_values = {name: os.environ.pop(name, None) for name in (*variables, *_OTHER_CLUSTERS)}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in previous_values.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _unset_variable(name: str) -> Iterator[None]:
    value = os.environ.pop(name, None)
    try:
        yield
    finally:
        if value is not None:
            os.environ[name] = value


def _create_metrics_folder(folder: Path) -> Path:
    metrics = folder / "figures"
    metrics.mkdir(exist_ok=True)
    return metrics


@contextmanager
def share_metrics(folder: Path) -> Iterator[None]:
    """Share this process's metrics with the cluster of `start_service_cluster`. Enter this context before importing any
    module that defines metrics."""
    with _set_environment_variables({_METRICS_FOLDER: str(_create_metrics_folder(folder))}):
        yield


@contextmanager
def start_service_cluster(folder: Path, serving: ServingSettings) -> Iterator[None]:
    """Start a Ray cluster used only by this service, inside a private environment. It ends with the context. Raises
    ConfigurationError if Ray does not start."""
    process_limits = {name: os.environ.get(name, value) for name, value in _FEW_PROCESSES.items()}
    # If the variable were set for Ray itself, its agents would add their own metrics.
    with _unset_variable(_METRICS_FOLDER), _set_environment_variables(process_limits):
        _start(
            folder,
            # So that each process can report the metrics of all processes.
            runtime_env={"env_vars": {_METRICS_FOLDER: str(_create_metrics_folder(folder))}},
            num_cpus=max(os.cpu_count() or 1, math.ceil(_count_cpus(serving))),
            object_store_memory=_SERVICE_OBJECT_STORE,
            namespace=_NAMESPACE,
        )
    with _shut_down_afterwards():
        yield


@contextmanager
def join_existing_cluster(address: str) -> Iterator[None]:
    """Join an existing Ray cluster, which continues to run afterwards. Raises ConfigurationError if it cannot be
    joined."""
    import ray

    try:
        ray.init(address=address, namespace=_NAMESPACE, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ConfigurationError(
            f"Cannot join a Ray cluster at {address}: {str(error).splitlines()[0]}",
            "Omit --address to start a private cluster for this service.",
        ) from None
    with _shut_down_afterwards():
        yield


def _count_cpus(serving: ServingSettings) -> float:
    """Return the total number of CPUs that all processes request. Ray is told that the machine has at least that many,
    so that processes share a small machine's CPUs instead of failing to start."""
    pools = [pool for pool in vars(serving).values() if isinstance(pool, PoolSettings)]
    return sum(pool.cpus * (pool.most or pool.replicas) for pool in pools)


@contextmanager
def start_corpus_build_cluster(folder: Path, cpus: int | None = None) -> Iterator[None]:
    """Start a Ray cluster for building a corpus, inside a private environment. It ends with the context. Raises
    ConfigurationError if Ray does not start."""
    # One more, for the readers, which spend most of their time waiting.
    _start(folder, num_cpus=(cpus or os.cpu_count() or 1) + 1, object_store_memory=_BUILD_OBJECT_STORE)
    with _shut_down_afterwards():
        yield


@contextmanager
def start_training_cluster(folder: Path, cpus: float, gpus: float) -> Iterator[None]:
    """Start a Ray cluster for a training run, inside a private environment. It ends with the context. Raises
    ConfigurationError if Ray does not start."""
    cpus, gpus = max(1, math.ceil(cpus)), math.ceil(gpus)
    _start(folder, num_cpus=cpus, num_gpus=gpus, object_store_memory=_SERVICE_OBJECT_STORE)
    with _shut_down_afterwards():
        yield


@contextmanager
def _shut_down_afterwards() -> Iterator[None]:
    import ray

    try:
        yield
    finally:
        ray.shutdown()


def _start(folder: Path, **options: Any) -> None:
    """Start Ray, and retry once after a timeout, because Ray's limit of 30 s can be too short on a busy machine. Raises
    ConfigurationError if the second attempt fails too."""
    for is_last_attempt in (False, True):
        previous_children = {child.pid for child in psutil.Process().children(recursive=True)}
        failure = _try_to_start({**options, "_temp_dir": str(folder)})
        if failure is None:
            return
        if is_last_attempt or _STARTUP_TIMEOUT not in str(failure):
            hint = "The machine may be too busy. Try again, or run without Ray (omit --ray, or build in one process)."
            raise ConfigurationError(f"Ray did not start: {str(failure).splitlines()[0]}", hint) from failure
        _kill([child for child in psutil.Process().children(recursive=True) if child.pid not in previous_children])
        with warnings.catch_warnings():  # Ray does not wait for its processes, and Python would warn about each
            warnings.simplefilter("ignore", ResourceWarning)
            del failure
            gc.collect()


def _try_to_start(options: Mapping[str, Any]) -> Exception | None:
    import ray

    try:
        ray.init(
            address="local", include_dashboard=False, log_to_driver=False, logging_level=logging.WARNING, **options
        )
    except Exception as error:  # noqa: BLE001 - Ray has no exception class for this
        return error
    return None


def _kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=10)
