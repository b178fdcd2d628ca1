"""Rewards over HTTP: asked for, told as they come, refused in words."""

import asyncio

import httpx2
import pytest

import assayer_client
from assayer_client import AsyncClient
from assayer_client.rewards import AcceptedRewards, RewardItems, RewardOutcome, RewardsResource
from orchestrator.jobs.models import Problem
from orchestrator.jobs.requests import RewardsRequest
from orchestrator.store import PgRewards
from tests.contract.api.problems import check_problem
from tests.contract.api.reward_jobs import REWARD_ITEM, build_reward_outcome, finish_rewards, store_outcomes
from tests.contract.api.service import Service, serve

BODY = {"items": [REWARD_ITEM, {**REWARD_ITEM, "idea": "We train longer.", "id": "second"}]}


async def test_outcomes_are_listed_as_they_finish_and_then_in_item_order(
    service: Service, client: httpx2.AsyncClient
) -> None:
    answer = await client.post("/v1/rewards", json=BODY)
    accepted = AcceptedRewards.model_validate_json(answer.content)
    assert (answer.status_code, answer.headers["location"]) == (202, accepted.links.job)
    assert (accepted.item_count, accepted.judge) == (2, "two_analysts")
    lease = await service.lease_next()
    assert isinstance(lease.request, RewardsRequest)
    assert (lease.priority, lease.request.judge) == ("interactive", "two_analysts")

    await store_outcomes(service, lease, build_reward_outcome(1, 0, id="second"))
    half = RewardsResource.model_validate_json((await client.get(accepted.links.job)).content)
    assert (half.state, half.item_count, half.result) == ("running", 2, None)
    assert half.items == (build_reward_outcome(1, 0, id="second"),)
    first = RewardItems.model_validate_json((await client.get(accepted.links.items)).content)
    assert ([item.item for item in first.items], first.last, first.state) == ([1], 1, "running")

    await store_outcomes(service, lease, build_reward_outcome(0), before=1)
    result = await finish_rewards(service, lease, [build_reward_outcome(0), build_reward_outcome(1, 0)])
    page = await client.get(accepted.links.items, params={"after": first.last})
    remaining = RewardItems.model_validate_json(page.content)
    assert ([item.item for item in remaining.items], remaining.last, remaining.state) == ([0], 2, "succeeded")
    job = RewardsResource.model_validate_json((await client.get(accepted.links.job)).content)
    assert [item.item for item in job.items or ()] == [0, 1]
    assert (job.result, job.cost_usd) == (result, 0.02)
    assert (result.match, result.no_match, result.cost_usd) == (1, 1, 0.02)


async def test_prefer_wait_returns_the_next_outcome(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    lease = await service.lease_next()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(client.get(accepted.links.items, headers={"Prefer": "wait=30"}))
        await store_outcomes(service, lease, build_reward_outcome(0))
    assert [item["item"] for item in waiting.result().json()["items"]] == [0]


async def test_reward_of_a_failed_judge_is_absent_and_counted_as_absent(
    service: Service, client: httpx2.AsyncClient
) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    lease = await service.lease_next()
    broken = RewardOutcome(item=1, problem=Problem(type="no-reward", title="Not judged", detail="A defect."))
    await store_outcomes(service, lease, build_reward_outcome(0, None), broken)
    result = await finish_rewards(service, lease, [build_reward_outcome(0, None), broken])
    assert (result.match, result.no_match, result.absent, result.problem) == (0, 0, 1, 1)
    items = (await client.get(accepted.links.job)).json()["items"]
    assert items[0]["reward"]["value"] == {"reason": "Every analyst was lost."}
    assert (items[1]["reward"], items[1]["problem"]["type"]) == (None, "no-reward")


async def test_outcomes_of_a_lease_that_was_lost_are_not_stored(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    lease = await service.lease_next()
    assert (await client.delete(accepted.links.job)).json()["state"] == "cancelled"
    assert not await PgRewards(service.database).store(lease, [build_reward_outcome(0)], 0)
    assert (await client.get(accepted.links.job)).json()["items"] == []


async def test_rewards_are_erased_with_their_outcomes(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    await store_outcomes(service, await service.lease_next(), build_reward_outcome(0))
    assert (await client.delete(accepted.links.job, params={"erase": "true"})).status_code == 204
    check_problem(await client.get(accepted.links.items), 410, "gone")
    assert await service.database.fetch("SELECT FROM item_outcomes") == []


@pytest.mark.parametrize(
    ("body", "pointer", "says"),
    [
        ({"items": []}, "/items", "at least 1"),
        ({"items": [REWARD_ITEM] * 3 + [{**REWARD_ITEM, "idea": "x" * 1_000_000}]}, "/items/3/idea", "at most 100,000"),
        ({"items": [REWARD_ITEM, {**REWARD_ITEM, "abstract": " "}]}, "/items/1/abstract", "empty"),
        ({"items": [{key: REWARD_ITEM[key] for key in ("question", "idea")}]}, "/items/0/abstract", "required"),
        ({"items": [{key: REWARD_ITEM[key] for key in ("question", "abstract")}]}, "/items/0/idea", "required"),
        ({"items": [REWARD_ITEM] * 10_001}, "/items", "at most 1,000"),
        ({**BODY, "judge": "three_wise_men"}, "/judge", "two_analysts, viewpoints"),
        ({"items": [{**REWARD_ITEM, "abstrakt": ""}]}, "/items/0/abstrakt", 'Did you mean "abstract"'),
    ],
)
async def test_invalid_rewards_request_names_the_field(
    client: httpx2.AsyncClient, body: dict[str, object], pointer: str, says: str
) -> None:
    problem = check_problem(await client.post("/v1/rewards", json=body), 422, "invalid-request")
    details = {error.pointer: error.detail for error in problem.errors or ()}
    assert says in details[pointer]


async def test_client_reads_outcomes_as_they_finish_and_then_all(service: Service) -> None:
    async with serve(service.app) as url, AsyncClient(url, await service.create_key()) as assayer:
        accepted = await assayer.rewards.create(assayer_client.RewardsBody.model_validate(BODY))
        lease = await service.lease_next()
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(_list_places(assayer, accepted.id))
            await store_outcomes(service, lease, build_reward_outcome(1, 0))
            await store_outcomes(service, lease, build_reward_outcome(0, None), before=1)
            await finish_rewards(service, lease, [build_reward_outcome(0, None), build_reward_outcome(1, 0)])
        result = await assayer.rewards.wait(accepted.id)
        kinds = [event.kind async for event in assayer.rewards.events(accepted.id)]
    assert reading.result() == [1, 0]
    assert result.values() == [None, 0.0]
    assert kinds == ["queued", "started", "succeeded"]


async def _list_places(assayer: AsyncClient, job: str) -> list[int]:
    return [outcome.item async for outcome in assayer.rewards.outcomes(job)]


async def test_debate_is_returned_as_html_or_markdown(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    path = f"{accepted.links.items}/1/debate"
    waits = check_problem(await client.get(path), 409, "not-finished")
    assert (waits.state, "not been judged yet" in waits.detail) == ("queued", True)
    await store_outcomes(service, await service.lease_next(), build_reward_outcome(1, 0, id="second"))
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
    check_problem(await client.get(f"{accepted.links.items}/0/debate"), 409, "not-finished")
    problem = check_problem(await client.get(path, headers={"Accept": "application/pdf"}), 406, "not-acceptable")
    assert "text/html" in problem.detail


async def test_debate_of_an_unjudged_item_explains_why(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = AcceptedRewards.model_validate_json((await client.post("/v1/rewards", json=BODY)).content)
    broken = RewardOutcome(item=0, problem=Problem(type="no-reward", title="Not judged", detail="A defect."))
    await store_outcomes(service, await service.lease_next(), broken)
    assert check_problem(await client.get(f"{accepted.links.items}/0/debate"), 409, "no-reward").detail == "A defect."
    await client.delete(accepted.links.job)
    assert check_problem(await client.get(f"{accepted.links.items}/1/debate"), 409, "cancelled").state == "cancelled"
