"""`python -m benchmarks.gateway`: what one process that speaks to an LLM takes with thousands of calls in flight.

The same calls within a limit of its own and with permits that processes share through PostgreSQL, in one run, beside a
simulated endpoint on the same machine.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from assayer.models import CachedAnswer, LedgerRow
from benchmarks.gateway.load import Measured, measure
from benchmarks.simulator.counters import Stats
from benchmarks.simulator.process import Simulator
from benchmarks.throughput.machine import machine
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.settings import Settings
from orchestrator.store import PgRateLimits
from workers.llm import LlmSettings
from workers.llm.chat_completion import LlmTransport
from workers.llm.client import EndpointTransport
from workers.llm.gateway import LlmGateway
from workers.llm.shared_admission import shared_transport

_START = 256
"""Calls in flight at first: opening thousands of connections in one moment is not what is measured."""
_WARMING_LATENCIES = 6
"""For which all ask, unmeasured, until the transport has grown to its limit."""


class Forgetful:
    """Answers are neither looked up nor kept: the database is no part of this."""

    async def find(self, key: str) -> CachedAnswer | None:
        return None

    async def find_or_claim(self, key: str, seconds: float) -> Literal["claimed"]:
        return "claimed"

    async def renew_claims(self, keys: Collection[str], seconds: float) -> None:
        pass

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
        alone = asyncio.run(_alone(settings, simulator, options))
        _show("limit of its own", alone)
        if not options.alone:
            shared = asyncio.run(_shared(settings, simulator, options))
            _show("permits shared through PostgreSQL", shared)
            ratio = shared[0].cpu_ms(shared[0].cpu_seconds) / alone[0].cpu_ms(alone[0].cpu_seconds)
            print(f"ratio of CPU a call, shared to its own: {ratio:.2f}")
    print(machine())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gateway", description=__doc__)
    parser.add_argument("--calls", type=int, default=2_000, help="in flight (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=0.5, help="of each measurement (default: %(default)s)")
    parser.add_argument("--latency", type=float, default=2.0, help="mean seconds of an answer")
    parser.add_argument("--characters", type=int, default=12_000, help="of a prompt")
    parser.add_argument("--alone", action="store_true", help="without permits and PostgreSQL")
    return parser.parse_args()


Outcome = tuple[Measured, Stats]


async def _alone(settings: LlmSettings, simulator: Simulator, options: argparse.Namespace) -> Outcome:
    return await _ask(EndpointTransport(settings, SystemClock()), settings, simulator, options, 0)


async def _shared(settings: LlmSettings, simulator: Simulator, options: argparse.Namespace) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="assayer-gateway-") as folder:
        async with open_database(Settings(home=Path(folder))) as database:
            transport = shared_transport(settings, PgRateLimits(database), SystemClock())
            return await _ask(transport, settings, simulator, options, 10**9)


async def _ask(
    transport: LlmTransport, settings: LlmSettings, simulator: Simulator, options: argparse.Namespace, first: int
) -> Outcome:
    async with LlmGateway(settings, Forgetful(), SystemClock(), transport) as gateway:
        warming = _WARMING_LATENCIES * options.latency
        await measure(gateway, options.calls, warming, options.characters, first + 10**8)
        simulator.reset()
        measured = await measure(gateway, options.calls, 60 * options.minutes, options.characters, first)
        return measured, simulator.stats()


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
