"""Several gateways before one endpoint: one limit, one order, one payment, whatever happens to one of them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from assayer.errors import StorageError
from assayer.run.context_variables import urgency
from cluster.clock import SystemClock
from orchestrator.store import Database, PgAnswerCache, PgSharedState
from tests.contract.llm_gateways import build_settings
from tests.contract.scripted_llm import Script, ScriptedLlm, refuse, say
from tests.contract.weighing import WEIGHING, a_question, a_run, an_answer
from tests.polling import wait_until_async
from workers.llm.endpoint import LlmEndpoint
from workers.llm.gateway import LlmGateway
from workers.outbound.store import AnswerStore, InMemoryAnswerStore, InMemorySharedState, SharedState

GOOD = say(an_answer())


@pytest.fixture(params=["memory", "postgres"])
def state(request: pytest.FixtureRequest) -> SharedState:
    if request.param == "memory":
        return InMemorySharedState(SystemClock())
    return PgSharedState(request.getfixturevalue("database"))


@asynccontextmanager
async def open_gateways(
    llm: ScriptedLlm,
    states: Sequence[SharedState],
    answers: Sequence[AnswerStore] | None = None,
    **changes: Any,
) -> AsyncIterator[list[LlmGateway]]:
    """Open one gateway for each of the processes that share a limit."""
    settings, clock = build_settings(llm, **changes), SystemClock()
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                LlmGateway(
                    settings,
                    answers[number] if answers else InMemoryAnswerStore(),
                    clock,
                    LlmEndpoint(settings, clock, state),
                )
            )
            for number, state in enumerate(states)
        ]


async def ask(gateway: LlmGateway, *names: str) -> None:
    await asyncio.gather(*(gateway.run(WEIGHING, a_question(name), a_run(name)) for name in names))


async def test_processes_share_and_fully_use_the_concurrency_limit(state: SharedState) -> None:
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm:
        llm.seconds = 0.05
        async with open_gateways(llm, [state] * 3, concurrency={"start": 6, "max": 6}) as three:
            all_requests = (ask(item, *(f"{name} {n}" for n in range(40))) for name, item in enumerate(three))
            await asyncio.gather(*all_requests)
    assert llm.peak == 6
    assert len(llm.requests) == 120


async def test_new_process_shares_the_concurrency_limit_with_the_old(state: SharedState) -> None:
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm:
        llm.seconds = 0.05
        async with open_gateways(llm, [state], concurrency={"max": 4}) as (old,):
            first = asyncio.create_task(ask(old, *(f"old {n}" for n in range(300))))

            async def is_busy() -> bool:
                return llm.in_flight == 4

            await wait_until_async(is_busy)
            async with open_gateways(llm, [state], concurrency={"max": 4}) as (new,):
                await ask(new, *(f"new {n}" for n in range(20)))
                assert not first.done(), "the new one got its share while the old one had more to ask"
            await first
    assert llm.peak == 4


async def test_shared_limit_adapts_to_endpoint_capacity(state: SharedState) -> None:
    def cap_requests(_: dict[str, Any]) -> Script:
        return refuse(429, "Too many.", None, retry_after="0.05") if llm.in_flight > 24 else GOOD

    llm = ScriptedLlm(otherwise=cap_requests)
    llm.seconds = 0.02
    limits = {"start": 8, "max": 512}
    async with llm, open_gateways(llm, [state] * 2, concurrency=limits, max_attempts=50) as both:
        await asyncio.gather(*(ask(item, *(f"{name} {n}" for n in range(250))) for name, item in enumerate(both)))
    assert llm.peak > 8
    assert len(llm.requests) - 500 < 500


async def test_urgent_request_overtakes_queue_of_another_process(state: SharedState) -> None:
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm:
        llm.seconds = 0.1
        async with open_gateways(llm, [state] * 2, concurrency={"max": 2}) as (batch, asked):
            waiting = asyncio.create_task(ask(batch, *(f"batch {n}" for n in range(100))))

            async def is_busy() -> bool:
                return llm.in_flight == 2

            await wait_until_async(is_busy)
            with urgency(urgent=True):
                await ask(asked, "urgent")
            assert len(llm.requests) < 50
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)


async def test_identical_request_in_two_processes_is_paid_once(database: Database) -> None:
    state = PgSharedState(database)
    stores = [PgAnswerCache(database), PgAnswerCache(database)]
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm:
        llm.seconds = 0.3
        async with open_gateways(llm, [state] * 2, stores) as both:
            answers_received = await asyncio.gather(
                *(item.run(WEIGHING, a_question("same"), a_run(f"{n}")) for n, item in enumerate(both))
            )
    assert len(llm.requests) == 1
    assert sorted(item.record.cached for item in answers_received) == [False, True]


async def test_failed_request_is_retried_by_the_waiting_process(database: Database) -> None:
    state = PgSharedState(database)
    stores = [PgAnswerCache(database), PgAnswerCache(database)]
    async with ScriptedLlm(refuse(400, "No."), otherwise=lambda _: GOOD) as llm:
        llm.seconds = 0.2
        async with open_gateways(llm, [state] * 2, stores) as both:
            answers_received = await asyncio.gather(
                *(item.run(WEIGHING, a_question("same"), a_run(f"{n}")) for n, item in enumerate(both)),
                return_exceptions=True,
            )
    assert len(llm.requests) == 2
    assert sum(isinstance(item, Exception) for item in answers_received) == 1


class _Cut(InMemorySharedState):
    """A shared state that may be out of reach."""

    away = False

    async def change(self, key: str, work: Callable[[str, float], tuple[str, Any]]) -> Any:
        if self.away:
            raise StorageError("Away.")
        return await super().change(key, work)


async def test_requests_continue_during_and_after_shared_state_outage() -> None:
    state = _Cut(SystemClock())
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm:
        llm.seconds = 0.01
        async with open_gateways(llm, [state], concurrency={"max": 4}) as (one,):
            await ask(one, "before")
            state.away = True
            await ask(one, *(f"meanwhile {n}" for n in range(100)))
            state.away = False
            await ask(one, *(f"after {n}" for n in range(20)))
    assert len(llm.requests) == 121


async def test_shared_token_rate_limit_delays_excess_requests(state: SharedState) -> None:
    """A budget of 10,000 tokens a second, of which five seconds' worth are saved up, and calls of 120 tokens."""
    llm = ScriptedLlm(otherwise=lambda _: GOOD)
    async with llm, open_gateways(llm, [state] * 2, tokens_per_minute=600_000) as both:
        start = asyncio.get_running_loop().time()
        await asyncio.gather(*(ask(item, *(f"{name} {n}" for n in range(300))) for name, item in enumerate(both)))
        seconds = asyncio.get_running_loop().time() - start
    assert len(llm.requests) == 600
    assert 50_000 + 10_000 * seconds + 2 * 8_000 > 600 * 120
