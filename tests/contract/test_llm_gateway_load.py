"""Hundreds of calls at once: concurrency adapts, budgets hold, every fault is on record exactly once."""

import asyncio
import time
from collections import Counter
from dataclasses import replace
from itertools import cycle, pairwise
from typing import Any

import pytest

from assayer.errors import BudgetExhausted, ConfigurationError
from assayer.models import FaultKind
from assayer.run.budget import Budget
from assayer.run.context_variables import urgency
from cluster.clock import SystemClock
from tests.contract.llm_gateways import build_settings, create_gateway
from tests.contract.scripted_llm import Dropped, Script, ScriptedLlm, refuse, say
from tests.contract.weighing import WEIGHING, a_question, a_run, an_answer
from tests.polling import wait_until_async
from workers.llm.endpoint import LlmEndpoint
from workers.outbound.store import InMemoryAnswerStore, InMemorySharedState

GOOD = say(an_answer())
CALLS = 400


async def test_concurrency_grows_from_start_value_to_maximum() -> None:
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm:
        llm.seconds = 0.3
        settings = build_settings(llm, concurrency={"start": 8, "max": 32})
        transport = LlmEndpoint(settings, SystemClock())
        async with create_gateway(llm, transport=transport) as gateway:
            run = a_run()
            await asyncio.gather(*(gateway.run(WEIGHING, a_question(f"{n}"), run) for n in range(200)))
        assert transport.admission.peak == 32
        assert llm.peak <= 32
        assert len(llm.connections) <= 32


@pytest.mark.parametrize("shared", [False, True])
async def test_urgent_request_moves_identical_queued_request_to_the_front(shared: bool) -> None:
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm:
        llm.seconds = 0.05
        settings, clock = build_settings(llm, concurrency={"max": 1}), SystemClock()
        transport = LlmEndpoint(settings, clock, InMemorySharedState(clock) if shared else None)
        async with create_gateway(llm, transport=transport) as gateway:
            batch = [asyncio.create_task(gateway.run(WEIGHING, a_question(f"{n}"), a_run("batch"))) for n in range(40)]

            async def is_busy() -> bool:
                return llm.in_flight == 1

            await wait_until_async(is_busy)
            with urgency(urgent=True):
                answer = await gateway.run(WEIGHING, a_question("39"), a_run("person"))
            assert answer.record.cached
            assert len(llm.requests) < 20
            await asyncio.gather(*batch)
    assert len(llm.requests) == 40


async def test_every_injected_fault_is_recorded_exactly_once() -> None:
    kinds: list[tuple[Script, FaultKind]] = [
        (say(f"```\n{an_answer()}\n```"), "wrapped"),
        (say(an_answer(weight="2")), "coerced"),
        (say(an_answer()[:-3]), "truncated"),
        (say(an_answer(stance="perhaps")), "schema_violation"),
        (say(an_answer(["P1", "P7"])), "failed_check"),
        (say(""), "empty"),
        (say("nothing"), "invalid_json"),
        (say(None, refusal="No."), "refusal"),
        (refuse(429, "Slow down."), "rate_limited"),
        (refuse(500, "Oops."), "server_error"),
        (Dropped(), "connection"),
    ]
    injected: Counter[FaultKind] = Counter()
    faults = cycle(kinds)

    def fail_sometimes(_: dict[str, Any]) -> Script:
        if len(llm.requests) % 7:
            return GOOD
        reply, kind = next(faults)
        injected[kind] += 1
        return reply

    answers = InMemoryAnswerStore()
    llm = ScriptedLlm(otherwise=fail_sometimes)
    async with llm, create_gateway(llm, answers, repair_attempts=6) as gateway:
        run = a_run()
        results = await asyncio.gather(*(gateway.run(WEIGHING, a_question(f"{n}"), run) for n in range(CALLS)))
    recorded = Counter(fault.kind for result in results for fault in result.record.faults)
    assert recorded == injected
    assert sum(injected.values()) > 50
    assert sum(row.record.attempts for row in answers.ledger) == len(llm.requests)


async def test_budget_holds_with_many_concurrent_requests() -> None:
    budget = Budget(max_usd=0.1)
    async with ScriptedLlm(otherwise=lambda _: say(an_answer(), usage=(100, 300))) as llm:
        async with create_gateway(llm) as gateway:
            run = a_run("run", budget)
            results = await asyncio.gather(
                *(gateway.run(WEIGHING, a_question(f"{n}"), run) for n in range(100)), return_exceptions=True
            )
        paid = len(llm.requests)
    refusals = [result for result in results if isinstance(result, BudgetExhausted)]
    assert len(refusals) == 100 - paid
    # Each call costs 0.0032 and reserves about 0.0053: 31 fit when nothing is left unused.
    assert 29 <= paid <= 31
    assert budget.spent_usd == pytest.approx(paid * 0.0032)


async def test_budget_reservations_shrink_once_answer_lengths_are_known() -> None:
    """Each call costs 0.0004, and would cost about 0.0053 if its answer were as long as its task allows."""
    budget = Budget(max_usd=0.02)
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm, create_gateway(llm) as gateway:
        run = a_run("run", budget)

        async def ask_until_refused() -> None:
            for number in range(100):
                await gateway.run(WEIGHING, a_question(f"{number}"), run)

        with pytest.raises(BudgetExhausted):
            await ask_until_refused()
        assert 47 <= len(llm.requests) <= 50
    assert budget.spent_usd <= 0.02


async def test_token_budget_works_without_prices() -> None:
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm, create_gateway(llm, prices={}) as gateway:
        run = a_run("run", Budget(max_prompt_tokens=1_000))
        results = await asyncio.gather(
            *(gateway.run(WEIGHING, a_question(f"{n}"), run) for n in range(50)), return_exceptions=True
        )
        assert 7 <= len(llm.requests) <= 10
        assert sum(isinstance(result, BudgetExhausted) for result in results) == 50 - len(llm.requests)


async def test_dollar_budget_without_a_price_is_refused_before_anything_is_sent() -> None:
    async with ScriptedLlm() as llm, create_gateway(llm, prices={}) as gateway:
        with pytest.raises(ConfigurationError, match=r"price of model 'm'.*ASSAYER_LLM__PRICES"):
            await gateway.run(WEIGHING, a_question(), a_run("run", Budget(max_usd=1.0)))
        assert llm.requests == []


async def test_task_with_its_own_model_uses_it_and_needs_its_price() -> None:
    other_task = replace(WEIGHING, model="other")
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm, create_gateway(llm) as gateway:
        first = await gateway.run(WEIGHING, a_question(), a_run())
        second = await gateway.run(other_task, a_question(), a_run())
        assert [request["model"] for request in llm.requests] == ["m", "other"], "answers of another model do not do"
        assert (first.record.model, second.record.model) == ("m", "other")
        with pytest.raises(ConfigurationError, match=r"price of model 'other'"):
            await gateway.run(other_task, a_question("2"), a_run("run", Budget(max_usd=1.0)))
        assert len(llm.requests) == 2


async def test_rate_limit_pauses_all_requests_for_the_requested_time() -> None:
    times: list[float] = []

    def limit_first_requests(_: dict[str, Any]) -> Script:
        times.append(time.monotonic())
        return refuse(429, "Wait.", None, retry_after="0.3") if len(times) <= 8 else GOOD

    llm = ScriptedLlm(otherwise=limit_first_requests)
    async with llm, create_gateway(llm, concurrency={"start": 8, "max": 8}) as gateway:
        run = a_run()
        await asyncio.gather(*(gateway.run(WEIGHING, a_question(f"{n}"), run) for n in range(40)))
    times.sort()
    gap = max(after - before for before, after in pairwise(times))
    assert gap >= 0.25
    assert len(times) == 48
