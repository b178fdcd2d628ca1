"""Runs the service on a Ray cluster until it is told to stop.

Import it within the environment in which Ray is to run: Ray reads part of it when it is imported.
"""

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import NamedTuple

from ray import serve
from ray.serve.schema import ApplicationStatus

from assayer.errors import Defect
from cluster.serving.application import EVALUATOR_POOLS, NAME, build
from cluster.serving.evaluator_pool import EvaluatorReplica
from cluster.serving.replica import ReplicaConfig

__all__ = ["ListenAddress", "run_until_stopped"]


class ListenAddress(NamedTuple):
    host: str
    port: int


_POLL_SECONDS = 1.0
_MARGIN_SECONDS = 15.0
"""For the last answers after the drain."""


def run_until_stopped(
    config: ReplicaConfig,
    door: ListenAddress,
    drain_seconds: float,
    listening: Callable[[], None],
    say: Callable[[str], None],
) -> None:
    """Within a cluster. `listening` is called once requests are answered; `say` hears how far the start and the end
    have come. The first SIGTERM or SIGINT drains, the second ends at once. Raises ConfigurationError, and Defect when
    the service does not start or falls apart."""
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    with _stop_event() as told, ExitStack() as stack:
        serve.start(
            proxy_location="HeadOnly",
            http_options={"host": door.host, "port": door.port, "request_timeout_s": None},
            logging_config={"log_level": "WARNING", "enable_access_log": False},
        )
        stack.callback(serve.delete, NAME)
        with _start_narrated(say):
            serve.run(build(config), name=NAME, route_prefix="/")
        listening()
        while not told.wait(_POLL_SECONDS):
            status = serve.status().applications[NAME]
            if status.status is ApplicationStatus.DEPLOY_FAILED:
                raise Defect(f"The service fell apart: {status.message}")
        say("Letting what runs come to its end; interrupt again to stop at once.")
        drain = EvaluatorReplica.drain.__name__
        pools = EVALUATOR_POOLS & serve.status().applications[NAME].deployments.keys()
        drained = [serve.get_deployment_handle(pool, NAME).broadcast(drain, drain_seconds) for pool in pools]
        for answers in drained:
            # One that dies meanwhile has nothing left to give back: its leases expire.
            answers.results(timeout_s=drain_seconds + _MARGIN_SECONDS, return_exceptions=True)


@contextmanager
def _start_narrated(say: Callable[[str], None]) -> Iterator[None]:
    """Tells of every pool that has come up, meanwhile."""
    started = threading.Event()

    def narrate() -> None:
        told: set[str] = set()
        while not started.wait(_POLL_SECONDS):
            with suppress(Exception):  # it is told on the way, and the start itself tells what is wrong
                pools = serve.status().applications[NAME].deployments
                running = {name for name, one in pools.items() if one.status.value == "HEALTHY"}
                if running > told:
                    say(f"Starting the service: {', '.join(sorted(running))} ({len(running)} of {len(pools)}).")
                    told = running

    thread = threading.Thread(target=narrate, daemon=True)
    thread.start()
    try:
        yield
    finally:
        started.set()
        thread.join()


@contextmanager
def _stop_event() -> Iterator[threading.Event]:
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
