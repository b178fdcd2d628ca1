"""Ray clusters: a private one for the service, one for a corpus build, or one that is already running.

Ray reads part of its environment when it is imported: enter `private_environment` first. This module imports Ray only
when a cluster is requested."""

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
"""Object store size in bytes, for data too large for a message: vectors and full texts."""
_BUILD_OBJECT_STORE = 512 * 2**20
"""Object store size in bytes; texts pass through it a few portions at a time."""
_TOO_SLOW = "timed out during startup"
"""Part of Ray's error message when startup is too slow."""
_OTHER_CLUSTERS = ("RAY_ADDRESS", "RAY_AUTH_TOKEN", "RAY_NAMESPACE")
"""Environment variables that would connect Ray to another cluster."""


_FIGURES = "PROMETHEUS_MULTIPROC_DIR"
"""Variable naming the folder in which processes combine their metrics, so that each of them can report the totals."""
_ONE_MACHINE = {
    # Ray's own mode for one machine, named after where it is the default: every port of it listens on loopback alone.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Figures of Ray itself, which anybody on the machine could read; ours are at /metrics.
    "RAY_enable_metrics_collection": "0",
}
_FEW_PROCESSES = {
    # Workers that Ray began ahead of need go a second after they were not needed; it would keep one for each processor.
    "RAY_num_workers_soft_limit": "0",
    # Seconds between two rounds of Serve's controller, each of which asks Ray after its nodes. At Serve's own 0.1 both
    # together take 3.6 % of a core when nothing happens, so 1.2 %. What died is replaced half a second later.
    "RAY_SERVE_CONTROL_LOOP_INTERVAL_S": "0.5",
}
"""Environment of a Ray cluster with few processes that seldom change. Values set by the user take precedence."""


@contextmanager
def private_environment(several_nodes: bool = False) -> Iterator[Path]:
    """Create the environment of a private cluster and yield its folder, which is deleted afterwards. The cluster's
    processes authenticate to each other with a token stored beside it. Other users of the machine cannot enter the
    folder, and other machines cannot reach any port: only a cluster of several nodes listens on all addresses."""
    # Not the usual place for such folders: sockets need a short path. This one is private too.
    temporary = tempfile.TemporaryDirectory(prefix="assayer-ray-", dir="/tmp", ignore_cleanup_errors=True)
    with temporary as name:
        # Ray opens its own folder to everybody: it lies in one that stays closed.
        folder = Path(name, "ray")
        folder.mkdir()
        token = Path(name, "token")
        token.touch(mode=0o600)
        token.write_text(_token(), "ascii")
        with _environment_variables(
            {
                "RAY_TMPDIR": str(folder),
                "RAY_AUTH_MODE": "token",
                "RAY_AUTH_TOKEN_PATH": str(token),
                "RAY_USAGE_STATS_ENABLED": "0",
                # Ray's default is 15: behind every ordinary process of the machine, the database included.
                "RAY_worker_niceness": "0",
                **({} if several_nodes else _ONE_MACHINE),
            }
        ):
            yield folder


@cache
def _token() -> str:
    """Return the shared token. Ray reads it only once per process, so all clusters started by a process have the same
    token."""
    return secrets.token_hex(32)


@contextmanager
def _environment_variables(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.pop(name, None) for name in (*variables, *_OTHER_CLUSTERS)}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _without(name: str) -> Iterator[None]:
    value = os.environ.pop(name, None)
    try:
        yield
    finally:
        if value is not None:
            os.environ[name] = value


def _figures(folder: Path) -> Path:
    figures = folder / "figures"
    figures.mkdir(exist_ok=True)
    return figures


@contextmanager
def shared_figures(folder: Path) -> Iterator[None]:
    """Combine the metrics of this process with those of its `service_cluster`. Enter the context before importing any
    module that defines metrics."""
    with _environment_variables({_FIGURES: str(_figures(folder))}):
        yield


@contextmanager
def service_cluster(folder: Path, serving: ServingSettings) -> Iterator[None]:
    """Start a Ray cluster used only by this service, inside a private environment; it ends with the context. Raises
    ConfigurationError if Ray does not start."""
    chosen = {name: os.environ.get(name, value) for name, value in _FEW_PROCESSES.items()}
    # In Ray's own environment Ray's agents would add their figures.
    with _without(_FIGURES), _environment_variables(chosen):
        _start(
            folder,
            # So that each process can tell the metrics of all.
            runtime_env={"env_vars": {_FIGURES: str(_figures(folder))}},
            num_cpus=max(os.cpu_count() or 1, math.ceil(_cpus(serving))),
            object_store_memory=_SERVICE_OBJECT_STORE,
            namespace=_NAMESPACE,
        )
    with _ended_after():
        yield


@contextmanager
def existing_cluster(address: str) -> Iterator[None]:
    """Join an existing Ray cluster, which continues to run afterwards. Raises ConfigurationError."""
    import ray

    try:
        ray.init(address=address, namespace=_NAMESPACE, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ConfigurationError(
            f"There is no Ray cluster to join at {address}: {str(error).splitlines()[0]}",
            "Leave --address out to start one for this service alone.",
        ) from None
    with _ended_after():
        yield


def _cpus(serving: ServingSettings) -> float:
    """Return the total number of CPUs that all processes request, so that on a small machine the processes share its
    CPUs instead of being refused."""
    pools = [pool for pool in vars(serving).values() if isinstance(pool, PoolSettings)]
    return sum(pool.cpus * (pool.most or pool.replicas) for pool in pools)


@contextmanager
def corpus_build_cluster(folder: Path, cpus: int | None = None) -> Iterator[None]:
    """Start a Ray cluster for building a corpus, inside a private environment; it ends with the context. Raises
    ConfigurationError if Ray does not start."""
    # One for the readers, which mostly wait.
    _start(folder, num_cpus=(cpus or os.cpu_count() or 1) + 1, object_store_memory=_BUILD_OBJECT_STORE)
    with _ended_after():
        yield


@contextmanager
def training_cluster(folder: Path, cpus: float, gpus: float) -> Iterator[None]:
    """Start a Ray cluster for one training, inside a private environment; it ends with the context. Raises
    ConfigurationError if Ray does not start."""
    cpus, gpus = max(1, math.ceil(cpus)), math.ceil(gpus)
    _start(folder, num_cpus=cpus, num_gpus=gpus, object_store_memory=_SERVICE_OBJECT_STORE)
    with _ended_after():
        yield


@contextmanager
def _ended_after() -> Iterator[None]:
    import ray

    try:
        yield
    finally:
        ray.shutdown()


def _start(folder: Path, **options: Any) -> None:
    """Start Ray, retrying once after a timeout: Ray allows its node 30 s to start, which can be too little on a busy
    machine. Raises ConfigurationError."""
    for last in (False, True):
        before = {child.pid for child in psutil.Process().children(recursive=True)}
        failure = _failure_of_start({**options, "_temp_dir": str(folder)})
        if failure is None:
            return
        if last or _TOO_SLOW not in str(failure):
            hint = "The machine may be too busy: try again, or do without Ray (no --ray, or a build in one process)."
            raise ConfigurationError(f"Ray has not started: {str(failure).splitlines()[0]}", hint) from failure
        _end([child for child in psutil.Process().children(recursive=True) if child.pid not in before])
        with warnings.catch_warnings():  # Ray forgets about its processes, and Python would warn of each
            warnings.simplefilter("ignore", ResourceWarning)
            del failure
            gc.collect()


def _failure_of_start(options: Mapping[str, Any]) -> Exception | None:
    import ray

    try:
        ray.init(
            address="local", include_dashboard=False, log_to_driver=False, logging_level=logging.WARNING, **options
        )
    except Exception as error:  # noqa: BLE001 - Ray has no class of its own for it
        return error
    return None


def _end(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=10)
