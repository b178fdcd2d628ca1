"""Sends the same ideas through the service: one batch over HTTP, and a client that requests one idea after another."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Literal, NamedTuple

import psutil

from assayer.models import Idea
from assayer_client import AsyncClient, BatchQuery, EvaluationBody, IdeaBody, RetryPolicy
from assayer_client.batches import BatchResource
from benchmarks.processes import find_database_server, list_process_tree
from benchmarks.service import Service, serving
from benchmarks.throughput.ideas import copies
from benchmarks.throughput.watching import Sample, Watch
from simulator.counters import Stats
from simulator.process import Simulator

Ground = Literal["one-process", "ray"]

_ASKED_LATER = 1_000
"""First copy number of interactive ideas; no batch has such numbers."""
_MOST_SECONDS = 7_200.0
_LOOK_SECONDS = 1.0


class Load(NamedTuple):
    ideas: Sequence[Idea]
    method: str
    concurrency: int
    idle: int
    """Number of interactive requests before the batch, one after another."""
    corpus: Path


class Served(NamedTuple):
    states: Mapping[str, int]
    """Number of jobs of the batch by state."""
    wall_seconds: float
    """Seconds from the request to the last verdict."""
    idle: Sequence[float]
    busy: Sequence[float]
    """Seconds from an interactive request to its verdict, without and with the batch."""
    looks: Sequence[float]
    """Seconds that each request for the batch's progress took."""
    cpu_seconds: float
    database_cpu_seconds: float
    samples: Sequence[Sample]
    database_samples: Sequence[Sample]
    processes: int
    stats: Stats
    """Simulator statistics from the start of the batch to its end."""


async def measured(ground: Ground, load: Load, endpoint: Simulator, home: Path) -> Served:
    """Measure a load on a separate service in an empty directory."""
    alone = () if ground == "one-process" else ("--ray",)
    async with (
        serving(Service(home, alone, _environment(load, endpoint, home))) as service,
        AsyncClient(service.address, service.key, retries=RetryPolicy(attempts=50)) as client,
    ):
        interactive = _Interactive(client, load)
        await interactive.ask()  # warms up everything that the first idea loads
        idle = [await interactive.ask() for _ in range(load.idle)]
        endpoint.reset()
        return await _loaded(service, client, interactive, load, endpoint, idle)


async def _loaded(
    service: Service,
    client: AsyncClient,
    interactive: "_Interactive",
    load: Load,
    endpoint: Simulator,
    idle: Sequence[float],
) -> Served:
    def own() -> list[psutil.Process]:
        return list_process_tree(service.roots)

    def database() -> list[psutil.Process]:
        server = find_database_server(service.home)
        return list_process_tree([server.pid]) if server else []

    rows = [{"title": idea.title, "text": idea.text, "source": idea.source, **_cutoff(idea)} for idea in load.ideas]
    with Watch(own) as watch, Watch(database) as watched_database:
        began = time.monotonic()
        batch = await client.batches.create(rows=rows, options=BatchQuery(method=load.method))
        asking = asyncio.create_task(interactive.ask_on())
        looks: list[float] = []
        states: Mapping[str, int] = {}
        async with asyncio.timeout(_MOST_SECONDS):
            async for found in _progress(client, batch.id, looks):
                states = {str(state): count for state, count in found.states.items()}
        wall = time.monotonic() - began
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    return Served(
        states=states,
        wall_seconds=wall,
        idle=idle,
        busy=interactive.busy,
        looks=looks,
        cpu_seconds=watch.cpu_seconds,
        database_cpu_seconds=watched_database.cpu_seconds,
        samples=watch.samples,
        database_samples=watched_database.samples,
        processes=len(own()),
        stats=endpoint.stats(),
    )


async def _progress(client: AsyncClient, batch: str, looks: list[float]) -> AsyncIterator[BatchResource]:
    """Yield the batch's state every second until it ends; append the time of each request to `looks`."""
    while True:
        looked = time.monotonic()
        found = await client.batches.get(batch)
        looks.append(time.monotonic() - looked)
        yield found
        if found.finished_at is not None:
            return
        await asyncio.sleep(_LOOK_SECONDS)


def _cutoff(idea: Idea) -> dict[str, str]:
    return {} if idea.cutoff is None else {"cutoff": idea.cutoff.isoformat()}


class _Interactive:
    """Requests one idea and waits for its verdict, as a person or an agent would."""

    def __init__(self, client: AsyncClient, load: Load) -> None:
        self._client = client
        self._load = load
        self._numbers = count(_ASKED_LATER)
        self.busy: list[float] = []

    async def ask(self) -> float:
        """Request an idea, and return the seconds until the verdict is reported."""
        number = next(self._numbers)
        base = self._load.ideas[number % min(len(self._load.ideas), max(self._load.idle, 1))]
        (idea,) = copies([base], number)
        words = IdeaBody(title=idea.title, text=idea.text)
        body = EvaluationBody(idea=words, method=self._load.method, cutoff=idea.cutoff)
        began = time.monotonic()
        job = (await self._client.evaluations.create(body)).id
        async for _ in self._client.evaluations.events(job):
            pass
        return time.monotonic() - began

    async def ask_on(self) -> None:
        """Request one idea after another until this is cancelled."""
        while True:
            self.busy.append(await self.ask())


def _environment(load: Load, endpoint: Simulator, home: Path) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_"))}
    return own | {
        "HOME": str(home),
        "ASSAYER_HOME": str(home),
        "ASSAYER_CORPUS__PATH": str(load.corpus.absolute()),
        "ASSAYER_EVALUATION__CONCURRENCY": str(load.concurrency),
        "ASSAYER_SERVING__EVALUATOR__ONGOING": str(load.concurrency),
        "ASSAYER_LLM__BASE_URL": endpoint.base_url,
        "ASSAYER_LLM__MODEL": "simulated",
    }
