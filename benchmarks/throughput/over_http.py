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
from benchmarks.service import Service, run_service
from benchmarks.throughput.ideas import make_copies
from benchmarks.throughput.watching import Sample, Watch
from simulator.counters import Stats
from simulator.process import Simulator

Ground = Literal["one-process", "ray"]

_FIRST_INTERACTIVE_NUMBER = 1_000
"""First copy number of interactive ideas; no batch has such numbers."""
_MAX_SECONDS = 7_200.0
_POLL_SECONDS = 1.0


class Load(NamedTuple):
    ideas: Sequence[Idea]
    method: str
    concurrency: int
    idle: int
    """Number of interactive requests before the batch, one after another."""
    corpus: Path


class ServiceResult(NamedTuple):
    states: Mapping[str, int]
    """Number of jobs of the batch by state."""
    wall_seconds: float
    """Seconds from the request to the last verdict."""
    idle: Sequence[float]
    busy: Sequence[float]
    """Seconds from an interactive request to its verdict, without and with the batch."""
    poll_seconds: Sequence[float]
    """Seconds that each request for the batch's progress took."""
    cpu_seconds: float
    database_cpu_seconds: float
    samples: Sequence[Sample]
    database_samples: Sequence[Sample]
    processes: int
    stats: Stats
    """Simulator statistics from the start of the batch to its end."""


async def measure_service(ground: Ground, load: Load, endpoint: Simulator, home: Path) -> ServiceResult:
    """Measure a load on a separate service in an empty directory."""
    arguments = () if ground == "one-process" else ("--ray",)
    async with (
        run_service(Service(home, arguments, _build_environment(load, endpoint, home))) as service,
        AsyncClient(service.address, service.key, retries=RetryPolicy(attempts=50)) as client,
    ):
        interactive = _Interactive(client, load)
        await interactive.request_idea()  # warms up everything that the first idea loads
        idle = [await interactive.request_idea() for _ in range(load.idle)]
        endpoint.reset()
        return await _measure_load(service, client, interactive, load, endpoint, idle)


async def _measure_load(
    service: Service,
    client: AsyncClient,
    interactive: "_Interactive",
    load: Load,
    endpoint: Simulator,
    idle: Sequence[float],
) -> ServiceResult:
    def list_own_processes() -> list[psutil.Process]:
        return list_process_tree(service.roots)

    def list_database_processes() -> list[psutil.Process]:
        server = find_database_server(service.home)
        return list_process_tree([server.pid]) if server else []

    rows = [
        {"title": idea.title, "text": idea.text, "source": idea.source, **_format_cutoff(idea)} for idea in load.ideas
    ]
    with Watch(list_own_processes) as watch, Watch(list_database_processes) as watched_database:
        began = time.monotonic()
        batch = await client.batches.create(rows=rows, options=BatchQuery(method=load.method))
        request_task = asyncio.create_task(interactive.request_continuously())
        poll_seconds: list[float] = []
        states: Mapping[str, int] = {}
        async with asyncio.timeout(_MAX_SECONDS):
            async for batch_state in _poll_progress(client, batch.id, poll_seconds):
                states = {str(state): count for state, count in batch_state.states.items()}
        wall_seconds = time.monotonic() - began
        request_task.cancel()
        await asyncio.gather(request_task, return_exceptions=True)
    return ServiceResult(
        states=states,
        wall_seconds=wall_seconds,
        idle=idle,
        busy=interactive.busy,
        poll_seconds=poll_seconds,
        cpu_seconds=watch.cpu_seconds,
        database_cpu_seconds=watched_database.cpu_seconds,
        samples=watch.samples,
        database_samples=watched_database.samples,
        processes=len(list_own_processes()),
        stats=endpoint.read_stats(),
    )


async def _poll_progress(client: AsyncClient, batch: str, poll_seconds: list[float]) -> AsyncIterator[BatchResource]:
    """Yield the batch's state every second until it ends; append the time of each request to `poll_seconds`."""
    while True:
        polled_at = time.monotonic()
        batch_state = await client.batches.get(batch)
        poll_seconds.append(time.monotonic() - polled_at)
        yield batch_state
        if batch_state.finished_at is not None:
            return
        await asyncio.sleep(_POLL_SECONDS)


def _format_cutoff(idea: Idea) -> dict[str, str]:
    return {} if idea.cutoff is None else {"cutoff": idea.cutoff.isoformat()}


class _Interactive:
    """Requests one idea and waits for its verdict, as a person or an agent would."""

    def __init__(self, client: AsyncClient, load: Load) -> None:
        self._client = client
        self._load = load
        self._numbers = count(_FIRST_INTERACTIVE_NUMBER)
        self.busy: list[float] = []

    async def request_idea(self) -> float:
        """Request an idea, and return the seconds until the verdict is reported."""
        number = next(self._numbers)
        base_idea = self._load.ideas[number % min(len(self._load.ideas), max(self._load.idle, 1))]
        (idea,) = make_copies([base_idea], number)
        idea_body = IdeaBody(title=idea.title, text=idea.text)
        body = EvaluationBody(idea=idea_body, method=self._load.method, cutoff=idea.cutoff)
        began = time.monotonic()
        job = (await self._client.evaluations.create(body)).id
        async for _ in self._client.evaluations.events(job):
            pass
        return time.monotonic() - began

    async def request_continuously(self) -> None:
        """Request one idea after another until this is cancelled."""
        while True:
            self.busy.append(await self.request_idea())


def _build_environment(load: Load, endpoint: Simulator, home: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_"))}
    return inherited | {
        "HOME": str(home),
        "ASSAYER_HOME": str(home),
        "ASSAYER_CORPUS__PATH": str(load.corpus.absolute()),
        "ASSAYER_EVALUATION__CONCURRENCY": str(load.concurrency),
        "ASSAYER_SERVING__EVALUATOR__ONGOING": str(load.concurrency),
        "ASSAYER_LLM__BASE_URL": endpoint.base_url,
        "ASSAYER_LLM__MODEL": "simulated",
    }
