"""The service on a Ray of its own, or on one that runs already, until it is told to stop.

Import it within the environment in which Ray is to run: Ray reads part of it when it is imported.
"""

import logging
import math
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import ray
from ray import serve
from ray.serve.schema import ApplicationStatus

from assayer.errors import ConfigurationError, Defect
from cluster.serving.application import NAME, build
from cluster.serving.dispatcher import DispatcherReplica
from cluster.serving.settings import Pool, ServingSettings
from cluster.serving.where import Where

__all__ = ["Door", "cluster_at", "own_cluster", "serve_until_told"]

_NAMESPACE = "assayer"
_SHARED_MEMORY = 256 * 2**20
"""Bytes for what is too large to travel in a message: vectors, full texts."""
_LOOK_SECONDS = 1.0
_MARGIN_SECONDS = 15.0
"""For the last answers after the drain."""


class Door(NamedTuple):
    host: str
    port: int


@contextmanager
def own_cluster(folder: Path, serving: ServingSettings) -> Iterator[None]:
    """A Ray for this service alone, within a private environment; all of it ends with the context."""
    figures = folder / "figures"
    figures.mkdir(exist_ok=True)
    ray.init(
        address="local",
        # So that each process tells the figures of all; in Ray's own environment Ray's agents would add theirs.
        runtime_env={"env_vars": {"PROMETHEUS_MULTIPROC_DIR": str(figures)}},
        num_cpus=max(os.cpu_count() or 1, math.ceil(_cpus(serving))),
        object_store_memory=_SHARED_MEMORY,
        include_dashboard=False,
        namespace=_NAMESPACE,
        log_to_driver=False,
        logging_level=logging.WARNING,
        _temp_dir=str(folder),
    )
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def cluster_at(address: str) -> Iterator[None]:
    """Somebody else's Ray, which goes on afterwards. Raises ConfigurationError."""
    try:
        ray.init(address=address, namespace=_NAMESPACE, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ConfigurationError(
            f"There is no Ray cluster to join at {address}: {str(error).splitlines()[0]}",
            "Leave --address out to start one for this service alone.",
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def serve_until_told(where: Where, door: Door, drain_seconds: float, listening: Callable[[], None]) -> None:
    """Within a cluster. `listening` is called once requests are answered. The first SIGTERM or SIGINT drains, the
    second ends at once. Raises ConfigurationError, and Defect when the service does not start or falls apart."""
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    with _told() as told, ExitStack() as stack:
        serve.start(
            proxy_location="HeadOnly",
            http_options={"host": door.host, "port": door.port, "request_timeout_s": None},
            logging_config={"log_level": "WARNING", "enable_access_log": False},
        )
        stack.callback(serve.delete, NAME)
        serve.run(build(where), name=NAME, route_prefix="/")
        listening()
        while not told.wait(_LOOK_SECONDS):
            status = serve.status().applications[NAME]
            if status.status is ApplicationStatus.DEPLOY_FAILED:
                raise Defect(f"The service fell apart: {status.message}")
        dispatcher = serve.get_deployment_handle("dispatcher", NAME)
        drain = getattr(dispatcher, DispatcherReplica.drain.__name__)
        drain.remote(drain_seconds).result(timeout_s=drain_seconds + _MARGIN_SECONDS)


def _cpus(serving: ServingSettings) -> float:
    """What every process together asks for, so that a small machine is not refused what it can share."""
    pools = [pool for pool in vars(serving).values() if isinstance(pool, Pool)]
    return sum(pool.cpus * (pool.most or pool.replicas) for pool in pools)


@contextmanager
def _told() -> Iterator[threading.Event]:
    """Set by the first signal; the second interrupts whatever is going on."""
    told = threading.Event()

    def tell(_: int, __: FrameType | None) -> None:
        if told.is_set():
            raise KeyboardInterrupt
        told.set()

    before = {number: signal.signal(number, tell) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
