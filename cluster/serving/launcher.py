"""Run the service on a Ray cluster until it is stopped.

Import this module inside the environment in which Ray is to run, because Ray reads part of it at import time."""

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import NamedTuple

from ray import serve
from ray.serve import Application
from ray.serve.schema import ApplicationStatus

from assayer.errors import Defect
from cluster.http_server import serve_http
from cluster.serving.application import EVALUATOR_POOLS, NAME, build, build_without_api
from cluster.serving.evaluator_pool import EvaluatorReplica
from cluster.serving.ingress_pool import open_api
from cluster.serving.replica import Replica, ReplicaConfig
from orchestrator.store import Database


class ListenAddress(NamedTuple):
    host: str
    port: int


_STARTING_SECONDS = 1.0
"""Seconds between two checks for pools that have started."""
_LOOK_SECONDS = 15.0
"""Seconds between two checks that the service is still running. Each check makes the controller describe its whole
state; one check per second used 5% of a core."""
_MARGIN_SECONDS = 15.0
"""Seconds allowed for the last responses after the drain."""
_DRAINING = "Waiting for running jobs to finish. Press Ctrl-C again to stop immediately."


def run_until_stopped(
    config: ReplicaConfig,
    address: ListenAddress,
    drain_seconds: float,
    listening: Callable[[], None],
    say: Callable[[str], None],
) -> None:
    """Run the service with an ingress inside a cluster until it is stopped. `listening` is called once requests are
    being answered; `say` receives progress messages. The first SIGTERM or SIGINT starts a drain; the second stops the
    service immediately. Raises ConfigurationError if the settings are invalid, RuntimeError if the service does not
    start, and Defect if it fails later."""
    with _run_application(build(config), address, say) as stopping:
        listening()
        while not stopping.wait(_LOOK_SECONDS):
            _check()
        say(_DRAINING)
        asyncio.run(_drain(drain_seconds))


def run_with_own_api(
    config: ReplicaConfig,
    listener: socket.socket,
    database: Database,
    runner: asyncio.Runner,
    listening: Callable[[], None],
    say: Callable[[str], None],
) -> None:
    """Run the service without an ingress: requests are answered on the runner's event loop, which the database also
    uses. Raises the same errors as `run_until_stopped`, and CancelledError on an immediate stop."""
    settings = Replica.begin(config)

    async def drain() -> None:
        say(_DRAINING)
        await _drain(settings.work.drain_seconds)

    async def answer() -> None:
        async with open_api(settings, database, serve.get_deployment_handle("evaluator", NAME)) as app:
            listening()
            await serve_http(app, listener, _check_regularly, drain)

    with _run_application(build_without_api(config), None, say) as stopping:
        runner.run(drain() if stopping.is_set() else answer())


@contextmanager
def _run_application(
    application: Application, address: ListenAddress | None, say: Callable[[str], None]
) -> Iterator[threading.Event]:
    """Run the pools, and Serve's proxy if there is a listen address. Yields an event that the first signal sets."""
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    with _stop_event() as stopping, ExitStack() as stack:
        serve.start(
            proxy_location="HeadOnly" if address else "Disabled",
            http_options={"host": address.host, "port": address.port, "request_timeout_s": None} if address else None,
            logging_config={"log_level": "WARNING", "enable_access_log": False},
        )
        stack.callback(serve.delete, NAME)
        with _report_started_pools(say):
            serve.run(application, name=NAME, route_prefix="/" if address else None)
        yield stopping


def _check() -> None:
    """Raise Defect if the service has failed."""
    status = serve.status().applications[NAME]
    if status.status is ApplicationStatus.DEPLOY_FAILED:
        raise Defect(f"The service failed: {status.message}")


async def _check_regularly() -> None:
    """Check regularly that the service has not failed. Raises Defect if it has."""
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        await asyncio.to_thread(_check)


async def _drain(seconds: float) -> None:
    status = await asyncio.to_thread(serve.status)
    method = EvaluatorReplica.drain.__name__
    pools = EVALUATOR_POOLS & status.applications[NAME].deployments.keys()
    responses = [serve.get_deployment_handle(pool, NAME).broadcast(method, seconds) for pool in pools]
    for answers in responses:
        # If an evaluator dies in the meantime, its leases expire, so its error can be ignored.
        await answers.results_async(timeout_s=seconds + _MARGIN_SECONDS, return_exceptions=True)


@contextmanager
def _report_started_pools(say: Callable[[str], None]) -> Iterator[None]:
    """Report each pool as it starts, until the context ends."""
    stop_reporting = threading.Event()
    reported_names: set[str] = set()

    def report() -> None:
        with suppress(Exception):  # only progress; errors of the start itself are raised elsewhere
            pools = serve.status().applications[NAME].deployments
            healthy_names = {name for name, pool in pools.items() if pool.status.value == "HEALTHY"}
            if healthy_names > reported_names:
                say(f"Starting the service: {', '.join(sorted(healthy_names))} ({len(healthy_names)} of {len(pools)}).")
                reported_names.update(healthy_names)

    def report_until_ended() -> None:
        while not stop_reporting.wait(_STARTING_SECONDS):
            report()

    thread = threading.Thread(target=report_until_ended, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop_reporting.set()
        thread.join()
    report()


@contextmanager
def _stop_event() -> Iterator[threading.Event]:
    """Yield an event that the first stop signal sets. The second signal interrupts the running code."""
    stopping = threading.Event()

    def on_signal(_: int, __: FrameType | None) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()

    previous_handlers = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stopping
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)
