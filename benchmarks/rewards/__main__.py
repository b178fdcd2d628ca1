"""`python -m benchmarks.rewards`: rewards an hour, seconds and CPU of one, and whether anything was paid twice.

The service is `assayer serve` in a process and a directory of its own, the language model the simulator in
another process on the same machine; items come over HTTP, several requests at once, as a trainer's steps do.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

import psutil

from assayer.methods.debate.composition import composition
from assayer_client import AsyncClient, RetryPolicy, RewardItemBody, RewardsBody
from assayer_client.rewards import RewardOutcome, RewardsResource
from benchmarks.chaos.processes import database_server, family
from benchmarks.chaos.service import Service, serving
from benchmarks.rewards.items import drawn_items
from benchmarks.simulator.process import Simulator
from benchmarks.throughput.machine import machine
from benchmarks.throughput.watching import Watch
from cluster.database import open_database
from cluster.settings import Settings

_PAID = """
    SELECT count(*) AS calls, count(*) - count(DISTINCT key) AS twice, coalesce(sum(cost_usd), 0) AS usd
    FROM ledger WHERE NOT cached AND outcome = 'answered'
"""
_PRICES = '{"simulated": [1.0, 4.0]}'
"""Dollars per million tokens of input and output."""


class _Measured(NamedTuple):
    outcomes: Sequence[RewardOutcome]
    turnaround: Sequence[float]
    """Seconds from a request to its last outcome."""
    wall_seconds: float
    cpu_seconds: float
    database_cpu_seconds: float
    calls: int
    paid_twice: int
    paid_usd: float


def main() -> None:
    options = _options()
    with (
        tempfile.TemporaryDirectory(prefix="assayer-", ignore_cleanup_errors=True) as folder,
        Simulator(latency_mean=options.latency, latency_spread=options.spread) as endpoint,
    ):
        home = Path(folder)
        home.chmod(0o711)  # as root the database's server runs as a user who has to pass through it
        measured = asyncio.run(_measure(options, home, endpoint))
    _show(options, measured)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rewards", description=__doc__)
    parser.add_argument("--rewards", type=int, default=200, help="items in all (default: %(default)s)")
    parser.add_argument("--items", type=int, default=100, help="of one request (default: %(default)s)")
    parser.add_argument("--at-once", type=int, default=1, help="requests in flight (default: %(default)s)")
    parser.add_argument("--concurrency", type=int, default=24, help="items of one request judged at once")
    parser.add_argument("--repeats", type=float, default=0.1, help="share of items that repeat an earlier one")
    parser.add_argument("--judge", default="two-analysts-evaluator", help="composition (default: %(default)s)")
    parser.add_argument("--latency", type=float, default=2.0, help="mean seconds of one LLM answer")
    parser.add_argument("--spread", type=float, default=0.25, help="standard deviation of the latency over its mean")
    return parser.parse_args()


async def _measure(options: argparse.Namespace, home: Path, endpoint: Simulator) -> _Measured:
    items = drawn_items(options.rewards, options.repeats)
    parts = [items[at : at + options.items] for at in range(0, len(items), options.items)]
    slots = asyncio.Semaphore(options.at_once)
    turnaround: list[float] = []
    async with (
        serving(Service(home, (), _environment(options, home, endpoint))) as service,
        AsyncClient(service.address, service.key, retries=RetryPolicy(attempts=20)) as client,
    ):

        async def one(part: Sequence[RewardItemBody]) -> RewardsResource:
            async with slots:
                began = time.monotonic()
                job = await client.rewards.submit(RewardsBody(items=tuple(part), judge=options.judge))
                found = await client.rewards.wait(job.id)
                turnaround.append(time.monotonic() - began)
                return found

        with Watch(lambda: family(service.roots)) as watch, Watch(lambda: _database(service)) as watched_database:
            began = time.monotonic()
            found = await asyncio.gather(*map(one, parts))
            wall = time.monotonic() - began
        async with open_database(Settings(home=home)) as database:
            (paid,) = await database.fetch(_PAID)
    return _Measured(
        outcomes=[outcome for one_request in found for outcome in one_request.items or ()],
        turnaround=turnaround,
        wall_seconds=wall,
        cpu_seconds=watch.cpu_seconds,
        database_cpu_seconds=watched_database.cpu_seconds,
        calls=paid["calls"],
        paid_twice=paid["twice"],
        paid_usd=paid["usd"],
    )


def _database(service: Service) -> list[psutil.Process]:
    server = database_server(service.home)
    return family([server.pid]) if server else []


def _environment(options: argparse.Namespace, home: Path, endpoint: Simulator) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_"))}
    return own | {
        "HOME": str(home),
        "ASSAYER_HOME": str(home),
        "ASSAYER_REWARDS__CONCURRENCY": str(options.concurrency),
        "ASSAYER_LLM__BASE_URL": endpoint.base_url,
        "ASSAYER_LLM__MODEL": "simulated",
        "ASSAYER_LLM__PRICES": _PRICES,
    }


def _show(options: argparse.Namespace, measured: _Measured) -> None:
    ended = Counter(map(_ended, measured.outcomes))
    judged = [one.seconds for one in measured.outcomes if one.same_as is None and one.reward and not one.reward.guard]
    half, most = _percentiles(judged)
    depth = composition(options.judge).depth
    count = max(len(measured.outcomes), 1)
    print(f"Machine: {machine()}; load {os.getloadavg()[0]:.1f}")
    print(
        f"{len(measured.outcomes):,} of {options.rewards:,} outcomes by {options.judge}, {options.latency:g} s mean "
        f"latency, {options.items} items a request, {options.at_once} requests at once; outcomes: {dict(ended)}"
    )
    print(f"rewards an hour            {3600 * len(measured.outcomes) / measured.wall_seconds:>12,.0f}")
    print(f"seconds a reward, p50      {half:>12.1f}")
    print(f"seconds a reward, p95      {most:>12.1f}")
    print(f"  1.5 x depth x latency    {1.5 * depth * options.latency:>12.1f}   (depth {depth}, every round held)")
    print(f"seconds a request, longest {max(measured.turnaround, default=0.0):>12.1f}")
    print(f"calls a reward             {measured.calls / count:>12.1f}")
    print(f"CPU ms a reward, service   {1e3 * measured.cpu_seconds / count:>12.1f}")
    print(f"CPU ms a reward, database  {1e3 * measured.database_cpu_seconds / count:>12.1f}")
    print(f"cost a reward, USD         {measured.paid_usd / count:>12.6f}")
    print(f"answers paid twice         {measured.paid_twice:>12}")


def _ended(outcome: RewardOutcome) -> str:
    if outcome.reward is None:
        return "problem"
    if outcome.reward.guard is not None:
        return "guard"
    return {1.0: "match", 0.0: "no match", None: "absent"}[outcome.value]


def _percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    if len(seconds) < 2:
        return (seconds[0], seconds[0]) if seconds else (0.0, 0.0)
    cuts = quantiles(seconds, n=20, method="inclusive")
    return cuts[9], cuts[18]


if __name__ == "__main__":
    main()
