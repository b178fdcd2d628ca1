"""One night: overnight ideas as one batch of a service that is killed while calls are out, and what came of it."""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from assayer_client import AsyncClient, BatchQuery, EvaluationBody, IdeaBody, RetryPolicy
from benchmarks.chaos.processes import family
from benchmarks.chaos.service import Service, serving
from benchmarks.simulator.counters import Stats
from benchmarks.simulator.process import Simulator

__all__ = ["PRICE", "ByHand", "Night", "Outcome", "spend_night"]

PRICE = (2.0, 8.0)
"""US dollars per million tokens, read and written: of nobody in particular."""
_LOOK_SECONDS = 1.0
_CALM_SECONDS = 20.0
"""After a kill, before somebody asks by hand: the service starts again meanwhile."""
_FAULTS: Mapping[str, float] = {
    "batch_line_error_rate": 0.02,
    "batch_stall_rate": 0.1,
    "batch_cancelled_rate": 0.1,
    "batch_failed_rate": 0.1,
    "batch_lost_reply_rate": 0.1,
    "answer_fault_rate": 0.03,
    "server_error_rate": 0.02,
}


class Night(NamedTuple):
    texts: Sequence[str]
    """Of the ideas; no two alike."""
    corpus: Path
    batch_seconds: float = 6.0
    window_seconds: float = 20.0
    """After which a batch that stalled expires."""
    faults: bool = True
    kill_after: Sequence[int] = (1, 8)
    """The service is killed once so many batches have been made."""
    most_seconds: float = 420.0


class ByHand(NamedTuple):
    """An idea for which somebody waited."""

    seconds: float
    cost_usd: float


class Outcome(NamedTuple):
    states: Mapping[str, int]
    cost_usd: float | None
    """As the service tells."""
    stats: Stats
    """Of the simulator, those of the batch alone."""
    seconds: float
    starts: int
    kills: int
    most_waiting: int
    """Ideas in hand at once."""
    idle_bytes: int
    """Of the service's processes before the batch, one idea done."""
    waiting_bytes: int
    """The most while the most ideas were in hand."""
    by_hand_before: "ByHand"
    by_hand_during: "ByHand | None"

    @property
    def billed_usd(self) -> float:
        return _usd(self.stats.billed_prompt_tokens, self.stats.billed_completion_tokens)

    @property
    def live_usd(self) -> float:
        """What the same calls would have cost at the live endpoint."""
        return _usd(self.stats.prompt_tokens, self.stats.completion_tokens)


def _usd(read: float, written: float) -> float:
    return (read * PRICE[0] + written * PRICE[1]) / 1e6


class _Watch:
    """What is seen from outside while the night goes on."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.most_waiting = 0
        self.most_bytes = 0
        self.kills = 0

    def memory(self) -> int:
        total = 0
        for process in family(self._service.roots):
            try:
                total += process.memory_full_info().pss
            except psutil.Error:
                continue
        return total

    def look(self, waiting: int) -> None:
        if waiting > self.most_waiting:
            self.most_waiting, self.most_bytes = waiting, 0
        if waiting == self.most_waiting:
            self.most_bytes = max(self.most_bytes, self.memory())

    def kill(self) -> None:
        victim = self._service.victim("service")
        if victim is not None:
            victim.kill()
            self.kills += 1


async def spend_night(night: Night, home: Path) -> Outcome:
    """In a fresh directory. Raises TimeoutError when not all ideas have ended in time."""
    with Simulator(latency_mean=0.3, batch_seconds=night.batch_seconds) as simulator:
        service = Service(home, (), _environment(night, simulator, home))
        async with serving(service), AsyncClient(service.address, service.key, retries=_PATIENT) as client:
            await _ask(client, night.texts[0], 0)  # what is loaded with the first idea is loaded once
            before = await _ask(client, night.texts[0], 1)
            await asyncio.to_thread(_begin, simulator, night)
            return await _watched(night, simulator, service, client, before)


async def _watched(
    night: Night, simulator: Simulator, service: Service, client: AsyncClient, before: ByHand
) -> Outcome:
    watch, kills = _Watch(service), list(night.kill_after)
    idle_bytes = watch.memory()
    began = time.monotonic()
    rows = [{"text": text, "source": f"{number}.txt"} for number, text in enumerate(night.texts)]
    batch = await client.submit_rows(rows, BatchQuery(priority="overnight"))
    asking: asyncio.Task[ByHand] | None = None
    calm_since = began
    async with asyncio.timeout(night.most_seconds):
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            found = await client.batch(batch.id)
            watch.look(found.states.get("running", 0))
            if found.finished_at is not None:
                break
            stats = await asyncio.to_thread(simulator.stats)
            if kills and stats.batches >= kills[0] and watch.most_waiting:
                kills.pop(0)
                watch.kill()
                calm_since = time.monotonic() + _CALM_SECONDS
            if asking is None and not kills and time.monotonic() >= calm_since:
                asking = asyncio.create_task(_ask(client, night.texts[0], 2))
    seconds = time.monotonic() - began
    during = None if asking is None else await asking
    return Outcome(
        states={str(state): count for state, count in found.states.items()},
        cost_usd=found.cost_usd,
        stats=await asyncio.to_thread(simulator.stats),
        seconds=seconds,
        starts=service.starts,
        kills=watch.kills,
        most_waiting=watch.most_waiting,
        idle_bytes=idle_bytes,
        waiting_bytes=watch.most_bytes,
        by_hand_before=before,
        by_hand_during=during,
    )


_PATIENT = RetryPolicy(attempts=100, seconds=300.0)


def _begin(simulator: Simulator, night: Night) -> None:
    if night.faults:
        simulator.configure(**_FAULTS, batch_window_seconds=night.window_seconds)
    simulator.reset()


async def _ask(client: AsyncClient, text: str, number: int) -> ByHand:
    began = time.monotonic()
    body = EvaluationBody(idea=IdeaBody(text=f"{text}\n\nAsked by hand, number {number}."))
    ended = await client.wait((await client.submit(body)).id)
    return ByHand(time.monotonic() - began, ended.cost_usd or 0.0)


def _environment(night: Night, simulator: Simulator, home: Path) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_"))}
    batch: dict[str, Any] = {
        "ENABLED": "true",
        "GATHER_SECONDS": "2",
        "LONGEST_GATHER_SECONDS": "10",
        "POLL_SECONDS": "0.5",
        "CANCEL_SECONDS": "30",
        "EVALUATIONS_AT_ONCE": str(len(night.texts)),
    }
    return own | {
        "HOME": str(home),
        "ASSAYER_HOME": str(home),
        "ASSAYER_CORPUS__PATH": str(night.corpus.absolute()),
        "ASSAYER_LLM__BASE_URL": simulator.base_url,
        "ASSAYER_LLM__MODEL": "simulated",
        "ASSAYER_LLM__PRICES": f'{{"simulated": [{PRICE[0]}, {PRICE[1]}]}}',
        "ASSAYER_LLM__BACKOFF_MAX_SECONDS": "4",
        "ASSAYER_QUEUE__LEASE_SECONDS": "15",
        "ASSAYER_WORK__EXPIRE_SECONDS": "2",
        **{f"ASSAYER_LLM__BATCH__{name}": value for name, value in batch.items()},
    }
