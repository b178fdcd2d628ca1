"""Rollouts in the shapes of NeMo Gym: one by one, and in groups whose members are rewarded against each other."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from orchestrator.jobs.requests import NamedRewardItem, RewardsRequest
from orchestrator.jobs.submissions import NewJob
from orchestrator.store import NotificationListener
from orchestrator.store.reward_groups import GroupPlan
from tests.contract.api.problems import check_problem
from tests.contract.api.reward_jobs import REWARD_ITEM, build_reward_outcome, finish_rewards, store_outcomes
from tests.contract.api.service import ACME, OTHER, Service


def build_rollout(idea: str = REWARD_ITEM["idea"], **more: Any) -> dict[str, Any]:
    """Return a rollout as NeMo Gym sends it: the request, the response, and the columns of its row."""
    thought = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]}
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": idea}]}
    return {
        "responses_create_params": {"input": [{"role": "user", "content": REWARD_ITEM["question"]}]},
        "response": {"id": "resp_1", "object": "response", "output": [thought, message]},
        "verifier_metadata": {"abstract": REWARD_ITEM["abstract"]},
        **more,
    }


WORK = RewardsRequest(items=(NamedRewardItem.model_validate(REWARD_ITEM),))


def build_member(number: int, idea: str = "", **more: Any) -> dict[str, Any]:
    return build_rollout(idea or f"Idea {number}", group="step 1, prompt 4", size=3, member=number, **more)


@asynccontextmanager
async def judge_jobs(service: Service, values: Mapping[str, int | None]) -> AsyncIterator[list[str]]:
    """Run every job with a score by idea; yield the ideas that were judged."""
    judged_ideas: list[str] = []

    async def work() -> None:
        async with service.services.listener.subscribe("assayer_jobs") as notifications:
            while True:
                for row in await service.database.fetch("SELECT id FROM jobs WHERE state = 'queued'"):
                    assert row["id"].startswith("rw_")
                    lease = await service.lease_next()
                    assert isinstance(lease.request, RewardsRequest)
                    ideas = [item.idea for item in lease.request.items]
                    judged_ideas.extend(ideas)
                    outcomes = [build_reward_outcome(place, values[idea]) for place, idea in enumerate(ideas)]
                    await store_outcomes(service, lease, *outcomes)
                    await finish_rewards(service, lease, outcomes)
                await notifications.next(0.2)

    async with asyncio.TaskGroup() as tasks:  # an error of the worker ends the test at once
        working = tasks.create_task(work())
        yield judged_ideas
        working.cancel()


async def test_rollout_is_returned_with_its_reward(service: Service, client: httpx2.AsyncClient) -> None:
    rollout = build_rollout(_ng_task_index=7)
    async with judge_jobs(service, {REWARD_ITEM["idea"]: 1}):
        answer = await client.post("/v1/rewards/verify", json=rollout)
    reward = answer.json()
    assert (answer.status_code, reward["reward"], reward["reward_components"]) == (200, 1.0, {"match": 1.0})
    assert {key: reward[key] for key in rollout} == rollout
    assert reward["outcome"]["reward"]["reason"] == "It says so."
    assert reward["_ng_failure_class"] is None


async def test_judge_that_failed_gives_null_and_not_zero(service: Service, client: httpx2.AsyncClient) -> None:
    async with judge_jobs(service, {REWARD_ITEM["idea"]: None}):
        answer = (await client.post("/v1/rewards/verify", json=build_rollout())).json()
    assert (answer["reward"], answer["reward_components"]) == (None, {})
    assert answer["_ng_failure_class"] == "judge_failed"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (build_rollout(verifier_metadata={}), "/abstract"),
        (build_rollout(responses_create_params={}), "/question"),
        (build_rollout(response={"output": "text"}), "/response/output"),
        (build_rollout("x" * 100_001), "/response/output"),
        (build_rollout(judge="nobody"), "/judge"),
    ],
)
async def test_rollout_that_cannot_be_judged_states_the_reason(
    client: httpx2.AsyncClient, body: dict[str, Any], pointer: str
) -> None:
    problem = check_problem(await client.post("/v1/rewards/verify", json=body), 422, "invalid-request")
    assert [error.pointer for error in problem.errors or ()] == [pointer]


async def test_timed_out_verdict_is_awaited_again_without_a_second_job(
    database: Any, listener: NotificationListener
) -> None:
    service = Service.build(database, listener, max_wait_seconds=0.05)
    await service.create_tenant()
    async with service.open_caller() as client:
        for _ in range(2):
            answer = await client.post("/v1/rewards/verify", json=build_rollout(), headers={"Idempotency-Key": "one"})
            check_problem(answer, 503, "busy")
    assert len(await service.database.fetch("SELECT FROM jobs")) == 1


async def _compare_all(client: httpx2.AsyncClient, bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    answers = await asyncio.gather(*(client.post("/v1/rewards/compare", json=item) for item in bodies))
    assert [answer.status_code for answer in answers] == [200] * len(bodies)
    return [answer.json() for answer in answers]


async def test_complete_group_is_rewarded_once_and_identically_on_repeat(
    service: Service, client: httpx2.AsyncClient
) -> None:
    members = [build_member(number) for number in range(3)]
    async with judge_jobs(service, {"Idea 0": 1, "Idea 1": 0, "Idea 2": 0}) as judged_ideas:
        first = await _compare_all(client, members)
        again = await _compare_all(client, members)
    assert [item["reward"] for item in first] == pytest.approx([2 / 3, -1 / 3, -1 / 3])
    assert first[0]["reward_components"] == {"match": 1.0, "group_mean": pytest.approx(1 / 3), "group_judged": 3}
    assert again == first
    assert sorted(judged_ideas) == ["Idea 0", "Idea 1", "Idea 2"]


async def test_member_without_a_reward_is_excluded_from_the_group_mean(
    service: Service, client: httpx2.AsyncClient
) -> None:
    async with judge_jobs(service, {"Idea 0": 1, "Idea 1": None, "Idea 2": 0}):
        rewards = await _compare_all(client, [build_member(number) for number in range(3)])
    assert [item["reward"] for item in rewards] == [0.5, None, -0.5]
    assert rewards[1]["reward_components"] == {"group_mean": 0.5, "group_judged": 2}


async def test_incomplete_group_names_its_missing_members_and_can_be_completed(service: Service) -> None:
    hurried_service = service.with_services(group_seconds=0.2)
    async with hurried_service.open_caller() as client:
        async with judge_jobs(hurried_service, {"Idea 0": 1, "Idea 1": 0, "Idea 2": 0}) as judged_ideas:
            for _ in range(2):
                problem = check_problem(
                    await client.post("/v1/rewards/compare", json=build_member(1)), 409, "group-incomplete"
                )
                assert problem.missing == (0, 2)
        async with (
            service.open_caller() as patient_caller,
            judge_jobs(service, {"Idea 0": 1, "Idea 2": 0}) as later_ideas,
        ):
            rewards = await _compare_all(patient_caller, [build_member(number) for number in (0, 1, 2)])
    assert [item["reward"] for item in rewards] == pytest.approx([2 / 3, -1 / 3, -1 / 3])
    assert (judged_ideas, sorted(later_ideas)) == (["Idea 1"], ["Idea 0", "Idea 2"])


async def test_repeated_member_extends_the_group_wait_only_after_it_expired(service: Service) -> None:
    groups, plan = service.services.reward_groups, GroupPlan("g", 3, "two_analysts")
    job = await groups.begin(ACME, plan, 1, b"words", 0.0)
    await service.services.jobs.add(ACME, [NewJob(id=job, request=WORK, subject="g", priority="interactive")])
    disconnected = []
    for seconds in (0.0, 100.0, 1_000.0):
        await groups.join(ACME, "g", 1, b"words", job, seconds)
        state = await groups.get(ACME, "g")
        assert state is not None
        disconnected.append(state.seconds_left)
    assert disconnected[0] <= 0
    assert 50 < disconnected[1] <= 100
    assert disconnected[2] <= disconnected[1]


async def test_group_is_shared_between_processes_but_not_between_tenants(
    service: Service, client: httpx2.AsyncClient, listener: NotificationListener
) -> None:
    other_process = Service.build(service.database, listener)
    async with (
        other_process.open_caller() as other_caller,
        service.open_caller(tenant=OTHER) as other_tenant,
        judge_jobs(service, {"Idea 0": 1, "Idea 1": 0, "Idea 2": 0}),
    ):
        posts = [(client, 0), (other_caller, 1), (client, 2), *((other_tenant, number) for number in range(3))]
        answers = await asyncio.gather(
            *(item.post("/v1/rewards/compare", json=build_member(number)) for item, number in posts)
        )
    assert [answer.json()["reward"] for answer in answers] == pytest.approx([2 / 3, -1 / 3, -1 / 3] * 2)
    groups = await service.database.fetch("SELECT tenant FROM reward_groups ORDER BY tenant")
    assert [row["tenant"] for row in groups] == [ACME, OTHER]


@pytest.mark.parametrize(
    ("changed", "status", "slug", "pointer"),
    [
        ({"response": build_rollout("Another idea")["response"]}, 409, "conflict", "/member"),
        ({"size": 4}, 409, "conflict", "/size"),
        ({"judge": "viewpoints"}, 409, "conflict", "/judge"),
        ({"member": 3}, 422, "invalid-request", "/member"),
        ({"member": None, "_ng_rollout_index": "1"}, 422, "invalid-request", "/member"),
    ],
)
async def test_mismatched_member_is_rejected_and_not_judged(
    service: Service, changed: dict[str, Any], status: int, slug: str, pointer: str
) -> None:
    hurried_service = service.with_services(group_seconds=0.01)
    async with hurried_service.open_caller() as client:
        check_problem(await client.post("/v1/rewards/compare", json=build_member(1)), 409, "group-incomplete")
        problem = check_problem(
            await client.post("/v1/rewards/compare", json={**build_member(1), **changed}), status, slug
        )
    assert [error.pointer for error in problem.errors or ()] == [pointer]
    assert len(await service.database.fetch("SELECT FROM jobs")) == 1


async def test_rollout_index_is_used_as_the_group_member_number(service: Service, client: httpx2.AsyncClient) -> None:
    bodies = [{**build_member(number), "member": None, "_ng_rollout_index": number} for number in range(3)]
    async with judge_jobs(service, {"Idea 0": 1, "Idea 1": 1, "Idea 2": 1}):
        rewards = await _compare_all(client, bodies)
    assert [item["reward"] for item in rewards] == [0.0] * 3


def build_whole_group(*ideas: str, **more: Any) -> dict[str, Any]:
    return {
        "conversation_history": [{"role": "user", "content": REWARD_ITEM["question"]}],
        "response_objs": [build_rollout(idea)["response"] for idea in ideas],
        "principle": REWARD_ITEM["abstract"],
        **more,
    }


async def test_group_sent_as_a_list_is_rewarded_in_order_once_per_key(
    service: Service, client: httpx2.AsyncClient
) -> None:
    """Exactly what NeMo Gym's clients of `genrm_compare` send: no field of ours."""
    body, headers = build_whole_group("Idea 0", "Idea 1", "Idea 2"), {"Idempotency-Key": "step-1-prompt-4"}
    async with judge_jobs(service, {"Idea 0": 1, "Idea 1": None, "Idea 2": 0}) as judged_ideas:
        answers = [await client.post("/v1/rewards/compare", json=body, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    reward = answers[0].json()
    assert reward["rewards"] == [0.5, None, -0.5]
    assert reward["metrics"] == {"group_mean": 0.5, "group_judged": 2, "group_failed": 1}
    assert [item["item"] for item in reward["outcomes"]] == [0, 1, 2]
    assert reward["comparison_results"] is None
    assert answers[1].json() == reward
    assert judged_ideas == ["Idea 0", "Idea 1", "Idea 2"]


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"response_objs": []}, "/response_objs"),
        ({"response_objs": "text"}, "/response_objs"),
        ({"response_objs": [build_rollout()["response"], {"output": "text"}]}, "/response_objs/1/output"),
        ({"response_objs": [build_rollout("x" * 100_001)["response"]]}, "/response_objs/0/output"),
        ({"principle": None}, "/abstract"),
        ({"conversation_history": []}, "/question"),
        ({"judge": "nobody"}, "/judge"),
        ({"limits": {"max_eur": 1}}, "/limits/max_eur"),
    ],
)
async def test_list_that_cannot_be_judged_states_the_reason(
    client: httpx2.AsyncClient, changed: dict[str, Any], pointer: str
) -> None:
    body = {**build_whole_group("Idea 0"), **changed}
    problem = check_problem(await client.post("/v1/rewards/compare", json=body), 422, "invalid-request")
    assert [error.pointer for error in problem.errors or ()] == [pointer]


async def test_member_without_group_and_size_names_the_missing_fields(client: httpx2.AsyncClient) -> None:
    problem = check_problem(await client.post("/v1/rewards/compare", json=build_rollout()), 422, "invalid-request")
    assert [error.pointer for error in problem.errors or ()] == ["/group", "/size"]
