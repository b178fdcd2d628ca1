"""Rewards over HTTP: asked for, told as they come, refused in words."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx2
import pytest

import assayer_client
from assayer.models import Absent
from assayer.models.reward import Reward
from assayer_client import AsyncClient
from orchestrator.api.routes.rewards import AcceptedRewards, RewardItems, RewardsResource
from orchestrator.jobs.models import JobVerdict, Lease, Problem
from orchestrator.jobs.requests import RewardsRequest
from orchestrator.jobs.results import RewardOutcome, RewardsResult
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases, PgRewards
from tests.contract.api.service import OTHER, Service, served
from tests.contract.api.test_problems import problem

ITEM = {
    "question": "How can forgetting be foreseen?",
    "idea": "We rehearse the examples that a small model predicts will be overwritten.",
    "abstract": "We predict which examples the next round of fine-tuning overwrites, and rehearse those.",
}
BODY = {"items": [ITEM, {**ITEM, "idea": "We train longer.", "id": "second"}]}


@pytest.fixture
async def client(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    async with service.caller() as opened:
        yield opened


def outcome(item: int, value: int | None = 1, **more: Any) -> RewardOutcome:
    said = Absent(reason="Every analyst was lost.") if value is None else value
    reward = Reward.model_validate({"value": said, "reason": "It says so.", "judge": "two_analysts", "cost_usd": 0.01})
    return RewardOutcome(item=item, reward=reward, seconds=0.5, **more)


async def keep(service: Service, lease: Lease, *outcomes: RewardOutcome, before: int = 0) -> None:
    assert await PgRewards(service.database).keep(lease, outcomes, before)


async def finish(service: Service, lease: Lease, outcomes: Sequence[RewardOutcome]) -> RewardsResult:
    result = RewardsResult.of("two_analysts", outcomes)
    verdict = JobVerdict(state="done", result=result.model_dump(mode="json"), cost_usd=0.02)
    assert await PgLeases(service.database, QueueSettings()).finish(lease, verdict)
    return result


async def test_rewards_are_there_as_they_come_and_in_the_order_of_their_items(
    service: Service, client: httpx2.AsyncClient
) -> None:
    answer = await client.post("/v1/rewards", json=BODY)
    accepted = AcceptedRewards.model_validate_json(answer.content)
    assert (answer.status_code, answer.headers["location"]) == (202, accepted.links.rewards)
    assert (accepted.asked, accepted.judge) == (2, "two_analysts")
    lease = await service.lease()
    assert isinstance(lease.request, RewardsRequest)
    assert (lease.priority, lease.request.judge) == ("interactive", "two_analysts")

    await keep(service, lease, outcome(1, 0, id="second"))
    half = RewardsResource.model_validate_json((await client.get(accepted.links.rewards)).content)
    assert (half.state, half.asked, half.result) == ("running", 2, None)
    assert half.items == (outcome(1, 0, id="second"),)
    first = RewardItems.model_validate_json((await client.get(accepted.links.items)).content)
    assert ([one.item for one in first.items], first.last, first.state) == ([1], 1, "running")

    await keep(service, lease, outcome(0), before=1)
    result = await finish(service, lease, [outcome(0), outcome(1, 0)])
    page = await client.get(accepted.links.items, params={"after": first.last})
    rest = RewardItems.model_validate_json(page.content)
    assert ([one.item for one in rest.items], rest.last, rest.state) == ([0], 2, "done")
    whole = RewardsResource.model_validate_json((await client.get(accepted.links.rewards)).content)
    assert [one.item for one in whole.items or ()] == [0, 1]
    assert (whole.result, whole.cost_usd) == (result, 0.02)
    assert (result.match, result.no_match, result.cost_usd) == (1, 1, 0.02)


async def test_caller_who_waits_gets_the_next_outcome_when_it_comes(
    service: Service, client: httpx2.AsyncClient
) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    lease = await service.lease()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(client.get(accepted.links.items, headers={"Prefer": "wait=30"}))
        await keep(service, lease, outcome(0))
    assert [one["item"] for one in waiting.result().json()["items"]] == [0]


async def test_reward_of_a_judge_that_failed_is_absent_and_counted_as_that(
    service: Service, client: httpx2.AsyncClient
) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    lease = await service.lease()
    broken = RewardOutcome(item=1, problem=Problem(type="no-reward", title="Not judged", detail="A defect."))
    await keep(service, lease, outcome(0, None), broken)
    result = await finish(service, lease, [outcome(0, None), broken])
    assert (result.match, result.no_match, result.absent, result.problem) == (0, 0, 1, 1)
    shown = (await client.get(accepted.links.rewards)).json()["items"]
    assert shown[0]["reward"]["value"] == {"reason": "Every analyst was lost."}
    assert (shown[1]["reward"], shown[1]["problem"]["type"]) == (None, "no-reward")


async def test_outcomes_of_a_lease_that_was_lost_are_not_stored(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    lease = await service.lease()
    assert (await client.delete(accepted.links.rewards)).json()["state"] == "cancelled"
    assert not await PgRewards(service.database).keep(lease, [outcome(0)], 0)
    assert (await client.get(accepted.links.rewards)).json()["items"] == []


async def test_rewards_are_erased_with_their_outcomes(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    await keep(service, await service.lease(), outcome(0))
    assert (await client.delete(accepted.links.rewards, params={"erase": "true"})).status_code == 204
    problem(await client.get(accepted.links.items), 410, "gone")
    assert await service.database.fetch("SELECT FROM item_outcomes") == []


async def test_another_tenants_rewards_are_not_there(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    async with service.caller(tenant=OTHER) as stranger:
        for path in (accepted.links.rewards, accepted.links.items, accepted.links.events):
            problem(await stranger.get(path), 404, "not-found")
    listed = (await client.get("/v1/rewards")).json()["items"]
    assert [(one["id"], one["items"]) for one in listed] == [(accepted.id, None)]


async def test_request_sent_twice_is_done_once(service: Service, client: httpx2.AsyncClient) -> None:
    headers = {"Idempotency-Key": "step-7"}
    first, again = [await client.post("/v1/rewards", json=BODY, headers=headers) for _ in range(2)]
    assert first.json() == again.json()
    assert len(await service.database.fetch("SELECT FROM jobs")) == 1
    other = {**BODY, "judge": "viewpoints"}
    problem(await client.post("/v1/rewards", json=other, headers=headers), 422, "idempotency-key-reused")


@pytest.mark.parametrize(
    ("body", "pointer", "says"),
    [
        ({"items": []}, "/items", "at least 1"),
        ({"items": [ITEM] * 3 + [{**ITEM, "idea": "x" * 1_000_000}]}, "/items/3/idea", "at most 100000"),
        ({"items": [ITEM, {**ITEM, "abstract": " "}]}, "/items/1/abstract", "empty"),
        ({"items": [{key: ITEM[key] for key in ("question", "idea")}]}, "/items/0/abstract", "required"),
        ({"items": [{key: ITEM[key] for key in ("question", "abstract")}]}, "/items/0/idea", "required"),
        ({"items": [ITEM] * 10_001}, "/items", "at most 1000"),
        ({**BODY, "judge": "three_wise_men"}, "/judge", "two_analysts, viewpoints"),
        ({"items": [{**ITEM, "abstrakt": ""}]}, "/items/0/abstrakt", 'Did you mean "abstract"'),
    ],
)
async def test_what_cannot_be_judged_is_named(
    client: httpx2.AsyncClient, body: dict[str, object], pointer: str, says: str
) -> None:
    refused = problem(await client.post("/v1/rewards", json=body), 422, "invalid-request")
    found = {one.pointer: one.detail for one in refused.errors or ()}
    assert says in found[pointer]


async def test_empty_idea_is_judged_as_a_policy_may_write_one(client: httpx2.AsyncClient) -> None:
    assert (await client.post("/v1/rewards", json={"items": [{**ITEM, "idea": ""}, ITEM]})).status_code == 202


async def test_client_reads_outcomes_as_they_come_and_then_all(service: Service) -> None:
    async with served(service.app) as url, AsyncClient(url, await service.key()) as assayer:
        accepted = await assayer.rewards.submit(assayer_client.RewardsBody.model_validate(BODY))
        lease = await service.lease()
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(_places(assayer, accepted.id))
            await keep(service, lease, outcome(1, 0))
            await keep(service, lease, outcome(0, None), before=1)
            await finish(service, lease, [outcome(0, None), outcome(1, 0)])
        whole = await assayer.rewards.wait(accepted.id)
        kinds = [event.kind async for event in assayer.rewards.events(accepted.id)]
    assert reading.result() == [1, 0]
    assert whole.values() == [None, 0.0]
    assert kinds == ["queued", "started", "done"]


async def _places(assayer: AsyncClient, job: str) -> list[int]:
    return [one.item async for one in assayer.rewards.outcomes(job)]


async def test_debate_of_an_item_comes_as_a_page_or_as_markdown(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    path = f"{accepted.links.items}/1/debate"
    waits = problem(await client.get(path), 409, "not-finished")
    assert (waits.state, "not been judged yet" in waits.detail) == ("queued", True)
    await keep(service, await service.lease(), outcome(1, 0, id="second"))
    text = await client.get(path)
    assert text.headers["content-type"] == "text/markdown; charset=utf-8"
    assert text.text.startswith("# Does not match")
    assert "> We train longer." in text.text
    page = await client.get(path, headers={"Accept": "text/html"})
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "We train longer." in page.text
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert policy.split("; ")[1] in page.text
    assert "frame-ancestors 'none'" in policy
    assert page.headers["vary"] == "Accept"
    problem(await client.get(f"{accepted.links.items}/0/debate"), 409, "not-finished")
    refused = problem(await client.get(path, headers={"Accept": "application/pdf"}), 406, "not-acceptable")
    assert "text/html" in refused.detail


async def test_debate_of_an_item_that_was_never_judged_says_why(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    broken = RewardOutcome(item=0, problem=Problem(type="no-reward", title="Not judged", detail="A defect."))
    await keep(service, await service.lease(), broken)
    assert problem(await client.get(f"{accepted.links.items}/0/debate"), 409, "no-reward").detail == "A defect."
    await client.delete(accepted.links.rewards)
    assert problem(await client.get(f"{accepted.links.items}/1/debate"), 409, "cancelled").state == "cancelled"


async def test_debate_is_its_tenants_own_and_gone_when_erased(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    await keep(service, await service.lease(), outcome(0))
    path = f"{accepted.links.items}/0/debate"
    async with service.caller(tenant=OTHER) as stranger, service.caller("submit") as submitter:
        problem(await stranger.get(path), 404, "not-found")
        problem(await submitter.get(path), 403, "forbidden")
    for absent in (f"{accepted.links.items}/2/debate", "/v1/rewards/rw_nobody/items/0/debate"):
        problem(await client.get(absent), 404, "not-found")
    for place in ("-1", "second", str(2**31)):
        problem(await client.get(f"{accepted.links.items}/{place}/debate"), 422, "invalid-request")
    assert (await client.get(path)).status_code == 200
    await client.delete(accepted.links.rewards, params={"erase": "true"})
    problem(await client.get(path), 410, "gone")


async def test_client_reads_a_debate(service: Service) -> None:
    async with served(service.app) as url, AsyncClient(url, await service.key()) as assayer:
        accepted = await assayer.rewards.submit(assayer_client.RewardsBody.model_validate(BODY))
        await keep(service, await service.lease(), outcome(0))
        assert (await assayer.rewards.debate_text(accepted.id, 0)).startswith("# Matches")
        assert (await assayer.rewards.debate_text(accepted.id, 0, "text/html")).startswith("<!doctype html>")
