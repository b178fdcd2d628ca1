"""`python -m benchmarks.gateway`: what one process that speaks to an LLM takes with thousands of calls in flight.

The same calls directly and through a Serve handle, in one run, beside a simulated endpoint on the same machine.
"""

import argparse
import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from assayer.models import CachedAnswer, LedgerRow
from benchmarks.gateway.load import Measured, measure
from benchmarks.simulator.counters import Stats
from benchmarks.simulator.process import Simulator
from benchmarks.throughput.machine import machine
from cluster.clock import SystemClock
from cluster.ray_cluster import private_environment
from workers.llm import LlmSettings
from workers.llm.chat_completion import LlmTransport
from workers.llm.client import EndpointTransport
from workers.llm.gateway import LlmGateway
from workers.llm.shared_requests import CoalescingTransport

_START = 256
"""Calls in flight at first: opening thousands of connections in one moment is not what is measured."""
_WARMING_LATENCIES = 6
"""For which all ask, unmeasured, until the transport has grown to its limit."""


class Forgetful:
    """Answers are neither looked up nor kept: the database is no part of this."""

    async def find(self, key: str) -> CachedAnswer | None:
        return None

    async def record(self, row: LedgerRow, answer: CachedAnswer | None, instead_of: CachedAnswer | None = None) -> None:
        pass


def main() -> None:
    options = _options()
    with Simulator(latency_mean=options.latency, latency_spread=0.25) as simulator:
        settings = LlmSettings.model_validate(
            {
                "base_url": simulator.base_url,
                "model": "simulated",
                "concurrency": {"start": min(_START, options.calls), "max": options.calls},
            }
        )
        direct = asyncio.run(_direct(settings, simulator, options))
        _show("direct", direct)
        if not options.direct:
            with _served(settings):
                handled = asyncio.run(_through_handle(settings, simulator, options))
            _show("through a Serve handle, asking process", handled)
            there, here = handled[0], direct[0]
            print(f"{'':4}transport's process: {there.cpu_ms(there.transport_cpu_seconds):.2f} ms CPU a call")
            both = there.cpu_ms(there.cpu_seconds + there.transport_cpu_seconds)
            print(f"ratio of CPU a call, both processes to direct: {both / here.cpu_ms(here.cpu_seconds):.2f}")
    print(machine())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gateway", description=__doc__)
    parser.add_argument("--calls", type=int, default=2_000, help="in flight (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=0.5, help="of each measurement (default: %(default)s)")
    parser.add_argument("--latency", type=float, default=2.0, help="mean seconds of an answer")
    parser.add_argument("--characters", type=int, default=12_000, help="of a prompt")
    parser.add_argument("--direct", action="store_true", help="without Ray")
    return parser.parse_args()


Outcome = tuple[Measured, Stats]


async def _direct(settings: LlmSettings, simulator: Simulator, options: argparse.Namespace) -> Outcome:
    clock = SystemClock()
    return await _ask(CoalescingTransport(EndpointTransport(settings, clock), clock), settings, simulator, options, 0)


async def _through_handle(settings: LlmSettings, simulator: Simulator, options: argparse.Namespace) -> Outcome:
    from ray import serve

    from cluster.serving.llm_pool import LlmReplica, PooledLlmTransport
    from cluster.serving.pool_client import PoolClient
    from cluster.serving.replica import ReplicaConfig

    deployment = serve.deployment(
        name="llm", max_ongoing_requests=2 * options.calls, logging_config={"enable_access_log": False}
    )(LlmReplica)
    handle = await asyncio.to_thread(serve.run, deployment.bind(ReplicaConfig()), name="bench", route_prefix=None)
    served = PooledLlmTransport(PoolClient(handle, 600.0, 60.0), settings.base_url)
    return await _ask(served, settings, simulator, options, 10**9, _transport_process())


async def _ask(
    transport: LlmTransport,
    settings: LlmSettings,
    simulator: Simulator,
    options: argparse.Namespace,
    first: int,
    process: psutil.Process | None = None,
) -> Outcome:
    async with LlmGateway(settings, Forgetful(), SystemClock(), transport) as gateway:
        warming = _WARMING_LATENCIES * options.latency
        await measure(gateway, options.calls, warming, options.characters, first + 10**8)
        simulator.reset()
        measured = await measure(gateway, options.calls, 60 * options.minutes, options.characters, first, process)
        return measured, simulator.stats()


@contextmanager
def _served(settings: LlmSettings) -> Iterator[None]:
    with private_environment() as folder:
        os.environ |= {
            "ASSAYER_LLM__BASE_URL": settings.base_url,
            "ASSAYER_LLM__MODEL": settings.model,
            "ASSAYER_LLM__CONCURRENCY": settings.concurrency.model_dump_json(),
        }
        from ray import serve

        from cluster.ray_cluster import service_cluster
        from cluster.serving.settings import ServingSettings

        with service_cluster(folder, ServingSettings()):
            serve.start(proxy_location="Disabled", logging_config={"log_level": "WARNING", "enable_access_log": False})
            yield
            serve.shutdown()  # type: ignore[no-untyped-call]


def _transport_process() -> psutil.Process:
    """The one replica among this process's children."""
    (found,) = [
        process
        for process in psutil.Process().children(recursive=True)
        if " ".join(process.cmdline()).strip().startswith("ray::ServeReplica:bench:llm")
    ]
    return found


def _show(how: str, outcome: Outcome) -> None:
    measured, stats = outcome
    kib = measured.bytes_in_flight / 1024
    print(
        f"{how}: {measured.calls:,} calls in {measured.seconds:.0f} s, at most {stats.peak_in_flight:,} in flight\n"
        f"{'':4}{measured.cpu_ms(measured.cpu_seconds):.2f} ms CPU a call, {kib:.0f} KiB a call in flight, "
        f"faults on the way: {dict(measured.faults) or 'none'}, {measured.failed} calls failed, "
        f"{stats.abandoned} abandoned"
    )


if __name__ == "__main__":
    main()
