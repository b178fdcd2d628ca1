"""Gateway with a batch tier and short waits, in front of the simulator."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from assayer.llm import Answer
from assayer.run.run import Run
from cluster.clock import SystemClock
from orchestrator.store import Database
from orchestrator.store.llm_batches import PgBatchBook
from simulator.process import Simulator
from tests.contract.simulated import QUESTION
from tests.contract.weighing import WEIGHING, Weighing, a_question, a_run
from workers.llm import LlmSettings
from workers.llm.batches.batch_book import BatchBook
from workers.llm.batches.batch_tier import make_batch_tier
from workers.llm.endpoint import LlmEndpoint
from workers.llm.gateway import LlmGateway
from workers.outbound.claims import Claims, InMemoryClaims
from workers.outbound.store import AnswerStore, InMemoryAnswerStore

HURRIED = {
    "enabled": True,
    "gather_seconds": 0.1,
    "poll_seconds": 0.05,
    "cancel_seconds": 10.0,
}


@dataclass(frozen=True)
class Stand:
    gateway: LlmGateway
    answers: AnswerStore
    book: BatchBook


@asynccontextmanager
async def open_stand(
    simulated: Simulator,
    database: Database,
    answers: AnswerStore | None = None,
    book: BatchBook | None = None,
    claims: Claims | None = None,
    **batch: Any,
) -> AsyncIterator[Stand]:
    clock = SystemClock()
    answers, book = answers or InMemoryAnswerStore(), book or PgBatchBook(database, "endpoint")
    settings = LlmSettings.model_validate(
        {
            "base_url": simulated.base_url,
            "api_key": "sk-test",
            "model": "simulated",
            "prices": {"simulated": (2.0, 10.0)},
            "backoff_initial_seconds": 0.01,
            "batch": HURRIED | batch,
        }
    )
    endpoint = LlmEndpoint(settings, clock)
    tier = make_batch_tier(settings, endpoint, book, claims or InMemoryClaims(), clock)
    async with LlmGateway(settings, answers, clock, endpoint, tier) as gateway, tier:
        yield Stand(gateway, answers, book)


def create_overnight_run(name: str = "run", seconds: float = 300.0) -> Run:
    return replace(a_run(name), waits_until=dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds))


def build_statement(number: int) -> str:
    return f"{QUESTION} (number {number})"


def ask_each(gateway: LlmGateway, runs: Sequence[Run], questions: int) -> list[Coroutine[None, None, Answer[Weighing]]]:
    """Return one LLM request for each question; every run has its own questions."""
    return [
        gateway.run(WEIGHING, a_question(build_statement(questions * number + item)), run)
        for number, run in enumerate(runs)
        for item in range(questions)
    ]


async def ask_all(gateway: LlmGateway, runs: Sequence[Run], questions: int) -> list[Answer[Weighing]]:
    """Ask all questions concurrently."""
    return await asyncio.gather(*ask_each(gateway, runs, questions))
