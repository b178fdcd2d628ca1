"""Two ideas, one verdict."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

import assayer_client
from assayer.models import Absent, IdeaId
from assayer.models.ranking import Comparison, DimensionVerdict
from assayer_client import AsyncClient
from orchestrator.api.routes.comparisons import AcceptedComparison, ComparisonResource
from orchestrator.jobs.models import JobVerdict
from orchestrator.jobs.requests import ComparisonRequest
from orchestrator.jobs.results import ComparisonResult, outcomes_of
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases
from tests.contract.api.service import OTHER, Service, served
from tests.contract.api.test_problems import problem
from tests.unit.batch_bodies import words

BODY = {"first": {"title": "Corals", "text": words(1)}, "second": {"title": "Tiles", "text": words(2)}}


@pytest.fixture
async def client(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    async with service.caller() as opened:
        yield opened


async def finish(service: Service) -> ComparisonResult:
    lease = await service.lease()
    assert isinstance(lease.request, ComparisonRequest)
    first, second = lease.request.first.id, lease.request.second.id
    verdict = DimensionVerdict(dimension="overall", winner="first", reason="clearer")
    answers = (Comparison(first=first, second=second, verdicts=(verdict,)),)
    result = ComparisonResult(
        first=first,
        second=second,
        dimension="overall",
        outcomes=outcomes_of(first, answers),
        answers=answers,
        blind=lease.request.blind,
        models=("judge",),
        prompts=(),
        prompt_tokens=10,
        completion_tokens=5,
        cost_usd=Absent(reason="no price"),
    )
    verdict_of_job = JobVerdict(state="done", result=result.model_dump(mode="json"), cost_usd=0.1)
    assert await PgLeases(service.database, QueueSettings()).finish(lease, verdict_of_job)
    return result


async def test_comparison_waits_and_then_shows_its_result(service: Service, client: httpx2.AsyncClient) -> None:
    answer = await client.post("/v1/comparisons", json=BODY)
    accepted = AcceptedComparison.model_validate_json(answer.content)
    assert (answer.status_code, answer.headers["location"]) == (202, accepted.link)
    queued = ComparisonResource.model_validate_json((await client.get(accepted.link)).content)
    assert (queued.state, queued.title, queued.result) == ("queued", "Corals / Tiles", None)
    result = await finish(service)
    assert result.blind
    done = ComparisonResource.model_validate_json((await client.get(accepted.link)).content)
    assert (done.state, done.result, done.cost_usd) == ("done", result, 0.1)
    assert done.result is not None
    assert done.result.outcomes[0].winner == "first"


async def test_comparison_shows_names_where_that_is_asked_for(service: Service, client: httpx2.AsyncClient) -> None:
    assert (await client.post("/v1/comparisons", json={**BODY, "blind": False})).status_code == 202
    assert (await finish(service)).blind is False


async def test_caller_who_would_rather_wait_gets_the_result(service: Service, client: httpx2.AsyncClient) -> None:
    async with service.services.listener.subscribe("assayer_jobs") as notifications, asyncio.TaskGroup() as group:
        waiting = group.create_task(client.post("/v1/comparisons", json=BODY, headers={"Prefer": "wait=30"}))
        while not await service.database.fetch("SELECT FROM jobs"):
            await notifications.next(1)
        result = await finish(service)
    answer = waiting.result()
    assert (answer.status_code, answer.headers["preference-applied"]) == (200, "wait=30")
    assert ComparisonResource.model_validate_json(answer.content).result == result


@pytest.mark.parametrize(
    ("body", "pointer", "says"),
    [
        ({"first": BODY["first"]}, "/second", "It is required"),
        ({**BODY, "second": BODY["first"]}, "/second", "same words"),
        ({**BODY, "second": {"text": "short"}}, "/second/text", "too short"),
        ({**BODY, "second": {"title": "x"}}, "/second", "Give either"),
        ({**BODY, "thrid": 1}, "/thrid", "not a known field"),
    ],
)
async def test_what_cannot_be_compared_is_named(
    client: httpx2.AsyncClient, body: dict[str, object], pointer: str, says: str
) -> None:
    refused = problem(await client.post("/v1/comparisons", json=body), 422, "invalid-request")
    assert refused.errors is not None
    assert refused.errors[0].pointer == pointer
    assert says in refused.errors[0].detail


async def test_comparison_is_cancelled_and_erased(client: httpx2.AsyncClient) -> None:
    link = (await client.post("/v1/comparisons", json=BODY)).json()["link"]
    assert (await client.delete(link)).json()["state"] == "cancelled"
    assert (await client.delete(link, params={"erase": "true"})).status_code == 204
    problem(await client.get(link), 404, "not-found")


async def test_another_tenants_comparison_is_not_there(service: Service, client: httpx2.AsyncClient) -> None:
    link = (await client.post("/v1/comparisons", json=BODY)).json()["link"]
    async with service.caller(tenant=OTHER) as stranger:
        problem(await stranger.get(link), 404, "not-found")
        problem(await stranger.delete(link), 404, "not-found")
        assert (await stranger.get("/v1/comparisons")).json()["items"] == []
    assert [one["state"] for one in (await client.get("/v1/comparisons")).json()["items"]] == ["queued"]
    problem(await client.get(link.replace("comparisons", "evaluations")), 404, "not-found")


def test_judge_that_changes_sides_with_the_order_has_shown_a_tie() -> None:
    one, two = IdeaId("1"), IdeaId("2")
    liked = DimensionVerdict(dimension="overall", winner="first", reason="")
    answers = [
        Comparison(first=one, second=two, verdicts=(liked,)),
        Comparison(first=two, second=one, verdicts=(liked,)),
    ]
    (outcome,) = outcomes_of(one, answers)
    assert (outcome.winner, outcome.agreed) == ("tie", False)
    other = liked.model_copy(update={"winner": "second"})
    (agreed,) = outcomes_of(one, [answers[0], answers[1].model_copy(update={"verdicts": (other,)})])
    assert (agreed.winner, agreed.agreed) == ("first", True)
    (single,) = outcomes_of(one, answers[1:])
    assert (single.winner, single.agreed) == ("second", None)


async def test_comparison_tells_that_it_began_and_that_it_is_done(service: Service) -> None:
    async with served(service.app) as url, AsyncClient(url, await service.key()) as follower:
        body = assayer_client.ComparisonBody.model_validate(BODY)
        accepted = await follower.compare(body)
        await finish(service)
        told = [event async for event in follower.comparison_events(accepted.id)]
    assert [event.kind for event in told] == ["queued", "started", "done"]
