"""10,000 calls at once for 1,000 distinct papers: how often the source is asked, who waits how long, what it costs."""

import asyncio
import random
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import psutil

from benchmarks.remote.world import database, source_gateway
from benchmarks.simulator.outside.library import Library
from benchmarks.simulator.outside.process import OutsideWorld
from benchmarks.simulator.outside.records import read_records
from benchmarks.simulator.outside.sample import SAMPLE
from benchmarks.throughput.meter import Meter
from workers.remote.gateway import SourceGateway
from workers.remote.request import RequestContext, SourceRequest
from workers.remote.settings import SemanticScholarSettings

__all__ = ["Crowd", "measure"]

_PATIENCE = 900.0
_FIELDS = "title,abstract,authors,year,venue,externalIds,publicationDate"


@dataclass
class Crowd:
    calls: int
    askers: int
    distinct: int
    fetches: int = 0
    repeated: int = 0
    """Of the same paper, by the source's count."""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    rss_before: int = 0
    rss_waiting: int = 0
    """When all calls wait."""
    rss_peak: int = 0
    rss_after: int = 0
    bytes_delivered: int = 0
    waits: dict[str, list[float]] = field(default_factory=dict)
    """Seconds of every call, by asker."""
    latecomer: float = 0.0
    """Mean seconds of the calls of one who came when all the others were waiting, for papers that nobody else wants."""

    def mean_waits(self) -> list[float]:
        """By asker, ascending."""
        return sorted(statistics.fmean(each) for each in self.waits.values())

    def last_waits(self) -> list[float]:
        """When each asker had all of its answers, ascending."""
        return sorted(max(each) for each in self.waits.values())


async def measure(papers: Path | None, crowd: Crowd, spacing: float) -> Crowd:
    with OutsideWorld(papers, limits=False) as world:
        # In another process, so that the memory measured here is the gateway's.
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            names = await asyncio.wrap_future(pool.submit(_names, papers, crowd.distinct + 3))
        if len(names) < crowd.distinct + 3:
            raise SystemExit(f"{papers} has {len(names)} papers, {crowd.distinct + 3} are needed (--papers).")
        settings = SemanticScholarSettings(
            base_url=world.url("s2"), spacing_seconds=spacing, transit_seconds=0.0, connections=16
        )
        async with database() as (_, opened), source_gateway({"semantic_scholar": settings}, opened) as gateway:
            await _run(gateway, crowd, names)
        stats = world.stats("semantic_scholar")
        crowd.fetches, crowd.repeated = stats.requests - 3, stats.repeated
    return crowd


def _names(papers: Path | None, most: int) -> list[str]:
    """Ids that the simulated Semantic Scholar knows."""
    records = read_records(papers) if papers else SAMPLE
    return [entry.s2 for entry in Library(records[:most]).entries]


async def _run(gateway: SourceGateway, crowd: Crowd, names: list[str]) -> None:
    dice = random.Random(1)
    wanted = [names[number % crowd.distinct] for number in range(crowd.calls)]
    dice.shuffle(wanted)
    process = psutil.Process()
    crowd.rss_before = process.memory_info().rss

    async def ask(asker: str, name: str) -> float:
        began = time.monotonic()
        call = SourceRequest("semantic_scholar", "papers", f"graph/v1/paper/{name}", (("fields", _FIELDS),))
        reply = await gateway.fetch(call, RequestContext(asker, _PATIENCE))
        crowd.bytes_delivered += len(reply.body)
        return time.monotonic() - began

    with Meter() as meter:
        tasks: dict[str, list[asyncio.Task[float]]] = {}
        for number, name in enumerate(wanted):
            asker = f"ev_{number % crowd.askers}"
            tasks.setdefault(asker, []).append(asyncio.create_task(ask(asker, name)))
        # The latecomer asks once the others are all in and the first of them have been answered.
        await asyncio.wait([task for each in tasks.values() for task in each], return_when=asyncio.FIRST_COMPLETED)
        crowd.rss_waiting = process.memory_info().rss
        late = await asyncio.gather(*(ask("late", name) for name in names[crowd.distinct : crowd.distinct + 3]))
        crowd.waits = {asker: await asyncio.gather(*each) for asker, each in tasks.items()}
    tasks.clear()
    crowd.latecomer = statistics.fmean(late)
    crowd.wall_seconds, crowd.cpu_seconds, crowd.rss_peak = meter.wall_seconds, meter.cpu_seconds, meter.peak_rss_bytes
    crowd.rss_after = process.memory_info().rss
