"""Jobs of rewards, with a real queue and a real gateway: each item ends, once, and money holds."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from prometheus_client import REGISTRY

from assayer.models import Absent
from assayer_client.rewards import RewardOutcome, RewardsResult
from cluster.clock import SystemClock
from cluster.settings import Settings
from orchestrator.jobs.item_outcomes import classify_reward_outcome
from orchestrator.jobs.models import JobId
from orchestrator.jobs.requests import Limits, NamedRewardItem, RewardsRequest
from orchestrator.jobs.submissions import NewJob
from orchestrator.store import Database, PgAnswerCache, PgRewards
from tests.contract.reward_jobs_stand import BROKEN, UNUSABLE, LeasedJobs, build_settings
from tests.contract.scripted_llm import Reply, ScriptedLlm, say
from tests.contract.store_jobs import ACME, Queue, create_tenant
from tests.polling import wait_until_async
from workers.llm.gateway import LlmGateway

JOB = JobId("rw_1")
_PROMPT, _COMPLETION = 1_000, 100
_CALL_USD = (_PROMPT * 10 + _COMPLETION * 20) / 1e6


def reply_match(_: dict[str, Any]) -> Reply:
    return say(json.dumps({"verdict": "match"}), usage=(_PROMPT, _COMPLETION))


def count_asked_ideas(llm: ScriptedLlm) -> Counter[str]:
    prompts = [str(request["messages"]) for request in llm.requests]
    return Counter(f"Idea {n}." for n in range(20) for prompt in prompts if f"Idea {n}." in prompt)


@pytest.fixture
async def llm() -> AsyncIterator[ScriptedLlm]:
    async with ScriptedLlm(otherwise=reply_match) as scripted:
        yield scripted


@pytest.fixture
def settings(llm: ScriptedLlm) -> Settings:
    return build_settings(llm.base_url)


@pytest.fixture
async def jobs(database: Database, settings: Settings) -> AsyncIterator[LeasedJobs]:
    assert settings.llm is not None
    await create_tenant(database)
    async with LlmGateway(settings.llm, PgAnswerCache(database), SystemClock()) as gateway:
        yield LeasedJobs(database, settings, gateway)


async def submit(database: Database, *ideas: str, max_usd: float | None = None) -> None:
    items = tuple(
        NamedRewardItem(question="Why?", idea=idea, abstract="We ask why.", id=f"item {place}")
        for place, idea in enumerate(ideas)
    )
    work = RewardsRequest(items=items, limits=Limits(max_usd=max_usd))
    await Queue(database).add(NewJob(id=JOB, request=work, subject="", priority="interactive"))


async def get_finished_job(database: Database) -> tuple[tuple[RewardOutcome, ...], RewardsResult, float | None]:
    queue = Queue(database)
    job = await queue.get(JOB)
    assert job.state == "succeeded"
    result = await queue.jobs.get_result(ACME, JOB, RewardsResult)
    assert result is not None
    return await PgRewards(database).list_outcomes(JOB), result, job.cost_usd


def read_item_count(outcome: str) -> float:
    return REGISTRY.get_sample_value("assayer_items_total", {"kind": "rewards", "outcome": outcome}) or 0.0


def read_reward_count(judge: str, outcome: str) -> float:
    return REGISTRY.get_sample_value("assayer_rewards_total", {"judge": judge, "outcome": outcome}) or 0.0


async def test_equal_items_are_judged_once_and_failures_affect_only_their_item(
    database: Database, jobs: LeasedJobs, llm: ScriptedLlm
) -> None:
    before = {outcome: read_reward_count("two-analysts-evaluator", outcome) for outcome in ("match", "problem")}
    items_before = {outcome: read_item_count(outcome) for outcome in ("done", "problem")}
    await submit(database, "Idea 1.", BROKEN, "Idea 2.", UNUSABLE, "Idea 1.")
    assert await jobs.do(await jobs.take())
    outcomes, result, cost = await get_finished_job(database)
    assert [(item.item, item.id, classify_reward_outcome(item)) for item in outcomes] == [
        (0, "item 0", "match"),
        (1, "item 1", "problem"),
        (2, "item 2", "match"),
        (3, "item 3", "problem"),
        (4, "item 4", "match"),
    ]
    assert [item.duplicate_of for item in outcomes] == [None, None, None, None, 0]
    assert outcomes[3].problem is not None
    assert "It cannot be used." in outcomes[3].problem.detail
    assert count_asked_ideas(llm) == {"Idea 1.": 1, "Idea 2.": 1}
    costs = [item.reward.cost_usd for item in outcomes if item.reward is not None]
    assert costs == [_CALL_USD, _CALL_USD, 0.0]
    assert (result.match, result.problem, result.repeated, result.llm_requests) == (3, 2, 1, 2)
    judge = "two-analysts-evaluator"
    assert [read_reward_count(judge, outcome) - before[outcome] for outcome in before] == [2, 2]
    assert [read_item_count(outcome) - items_before[outcome] for outcome in items_before] == [2, 2]
    assert result.cost_usd == cost == pytest.approx(2 * _CALL_USD)


async def test_successor_of_a_killed_worker_judges_only_missing_items(
    database: Database, database_url: str, jobs: LeasedJobs, llm: ScriptedLlm
) -> None:
    ideas = [f"Idea {number}." for number in range(8)]
    await submit(database, *ideas)
    llm.otherwise = lambda body: stop_at_four(llm, body)
    command = [sys.executable, "-m", "tests.contract.reward_jobs_stand", database_url, llm.base_url]
    worker = await asyncio.create_subprocess_exec(*command)
    rewards = PgRewards(database)
    try:
        await wait_until_async(lambda: rewards.list_outcomes(JOB), lambda outcomes_found: len(outcomes_found) == 4)
    finally:
        worker.kill()
        await worker.wait()
    stored = await rewards.list_outcomes(JOB)
    llm.open.set()
    llm.otherwise = reply_match

    await Queue(database).expire_leases()
    await jobs.leases.expire()
    assert await jobs.do(await jobs.take())

    outcomes, result, _ = await get_finished_job(database)
    assert [outcome for outcome in outcomes if outcome.item in {before.item for before in stored}] == list(stored)
    ask_counts = count_asked_ideas(llm)
    assert [ask_counts[ideas[item.item]] for item in stored] == [1] * len(stored)
    assert sum(ask_counts.values()) <= len(ideas) + jobs.settings.rewards.concurrency
    assert (result.items, result.match) == (8, 8)


def stop_at_four(llm: ScriptedLlm, body: dict[str, Any]) -> Reply:
    """The fifth question and those after it wait for an answer that never comes."""
    if len(llm.requests) >= 4:
        llm.open.clear()
    return reply_match(body)


async def test_worker_that_lost_its_lease_stores_nothing_more(database: Database, jobs: LeasedJobs) -> None:
    await submit(database, "Idea 1.")
    lease = await jobs.take()
    await Queue(database).jobs.cancel(ACME, JOB)
    with pytest.raises(AssertionError):
        await jobs.do(lease)
    assert await PgRewards(database).list_outcomes(JOB) == ()


async def test_job_limit_covers_all_items_and_keeps_judged_results(
    database: Database, jobs: LeasedJobs, llm: ScriptedLlm
) -> None:
    limit = 0.15
    await submit(database, *(f"Idea {number}." for number in range(12)), max_usd=limit)
    assert await jobs.do(await jobs.take())
    outcomes, result, cost = await get_finished_job(database)
    assert cost is not None
    assert 0 < cost <= limit
    assert result.match + result.problem == len(outcomes) == 12
    assert result.match == sum(count_asked_ideas(llm).values()) > 0
    assert not isinstance(result.cost_usd, Absent)
    assert result.cost_usd == pytest.approx(cost)
    refusal = next(outcome.problem for outcome in outcomes if outcome.problem is not None)
    assert "budget" in refusal.detail


async def test_monthly_tenant_budget_also_limits_rewards(database: Database, jobs: LeasedJobs) -> None:
    await database.execute("UPDATE tenants SET monthly_usd = 0.15")
    await submit(database, *(f"Idea {number}." for number in range(12)))
    assert await jobs.do(await jobs.take())
    _, result, cost = await get_finished_job(database)
    assert cost is not None
    assert 0 < cost <= 0.15
    assert result.problem > 0
    (spent,) = await database.fetch("SELECT sum(usd) AS usd FROM spending")
    assert spent["usd"] == pytest.approx(cost)
