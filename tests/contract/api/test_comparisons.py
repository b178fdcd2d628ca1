"""Two ideas, one verdict."""

import asyncio

import httpx2
import pytest

from assayer.models import IdeaId
from assayer_client.comparisons import AcceptedComparison, Comparison, ComparisonResource, DimensionVerdict
from orchestrator.console.proposal_pages import group_judged_pairs
from orchestrator.jobs.models import JobId
from orchestrator.jobs.results import compute_outcomes
from orchestrator.store.pair_verdicts import SourcedComparison
from tests.contract.api.comparison_jobs import TWO_IDEAS, finish_comparison
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.people import call_of
from tests.contract.api.problems import get_first_error
from tests.contract.api.reported_evaluations import finish_with_report
from tests.contract.api.service import OTHER, Service
from tests.contract.store_records import report


async def test_comparison_waits_and_then_shows_its_result(service: Service, client: httpx2.AsyncClient) -> None:
    answer = await client.post("/v1/comparisons", json=TWO_IDEAS)
    accepted = AcceptedComparison.model_validate_json(answer.content)
    assert (answer.status_code, answer.headers["location"]) == (202, accepted.link)
    queued = ComparisonResource.model_validate_json((await client.get(accepted.link)).content)
    assert (queued.state, queued.title, queued.result) == ("queued", "Corals / Tiles", None)
    result = await finish_comparison(service)
    assert result.blind
    comparison = ComparisonResource.model_validate_json((await client.get(accepted.link)).content)
    assert (comparison.state, comparison.cost_usd) == ("succeeded", 0.1)
    assert comparison.result == result
    assert comparison.result.outcomes[0].winner == "first"


async def test_comparison_is_not_blind_when_names_are_requested(service: Service, client: httpx2.AsyncClient) -> None:
    assert (await client.post("/v1/comparisons", json={**TWO_IDEAS, "blind": False})).status_code == 202
    assert (await finish_comparison(service)).blind is False


async def test_prefer_wait_returns_the_comparison_result(service: Service, client: httpx2.AsyncClient) -> None:
    async with service.services.listener.subscribe("assayer_jobs") as notifications, asyncio.TaskGroup() as group:
        waiting = group.create_task(client.post("/v1/comparisons", json=TWO_IDEAS, headers={"Prefer": "wait=30"}))
        while not await service.database.fetch("SELECT FROM jobs"):
            await notifications.next(1)
        result = await finish_comparison(service)
    answer = waiting.result()
    assert (answer.status_code, answer.headers["preference-applied"]) == (200, "wait=30")
    assert ComparisonResource.model_validate_json(answer.content).result == result


@pytest.mark.parametrize(
    ("body", "pointer", "says"),
    [
        ({"first": TWO_IDEAS["first"]}, "/second", "It is required"),
        ({**TWO_IDEAS, "second": TWO_IDEAS["first"]}, "/second", "same text"),
        ({**TWO_IDEAS, "second": {"text": "short"}}, "/second/text", "too short"),
        ({**TWO_IDEAS, "second": {"title": "x"}}, "/second", "Give either"),
        ({**TWO_IDEAS, "thrid": 1}, "/thrid", "field is unknown"),
    ],
)
async def test_invalid_comparison_request_names_the_field(
    client: httpx2.AsyncClient, body: dict[str, object], pointer: str, says: str
) -> None:
    error = get_first_error(await client.post("/v1/comparisons", json=body))
    assert error.pointer == pointer
    assert says in error.detail


def test_verdict_that_changes_with_the_order_counts_as_a_tie() -> None:
    one, two = IdeaId("1"), IdeaId("2")
    liked = DimensionVerdict(dimension="overall", winner="first", reason="")
    answers = [
        Comparison(first=one, second=two, verdicts=(liked,)),
        Comparison(first=two, second=one, verdicts=(liked,)),
    ]
    (outcome,) = compute_outcomes(one, answers)
    assert (outcome.winner, outcome.orders_agree) == ("tie", False)
    other_verdict = liked.model_copy(update={"winner": "second"})
    (agreed,) = compute_outcomes(one, [answers[0], answers[1].model_copy(update={"verdicts": (other_verdict,)})])
    assert (agreed.winner, agreed.orders_agree) == ("first", True)
    (single,) = compute_outcomes(one, answers[1:])
    assert (single.winner, single.orders_agree) == ("second", None)


async def test_two_finished_evaluations_are_compared_by_their_ids(service: Service, client: httpx2.AsyncClient) -> None:
    _, (first, second) = await call_of(service, "# Corals", "# Tiles")
    body = {"first_evaluation": first, "second_evaluation": second}
    error = get_first_error(await client.post("/v1/comparisons", json=body))
    assert (error.pointer, error.detail) == ("/first_evaluation", "It has no report: its state is queued.")
    for idea in ("one", "two"):
        base_report = report("run")
        card = base_report.idea.model_copy(update={"id": f"idea_{idea}", "title": idea})
        await finish_with_report(service, await service.lease_next(), base_report.model_copy(update={"idea": card}))
    made_of = (await client.post("/v1/comparisons", json=body)).json()
    assert (await client.get(made_of["link"])).json()["title"] == "one / two"
    await finish_comparison(service)
    async with open_session(service, await service.create_key()) as browser:
        page = (await browser.get("/console/compare", params={"id": [first, second]})).text
        assert "asked in one order only" in page
        assert "clearer" in page
        path = f"/console/compare?id={first}&id={second}"
        response = await submit_form(browser, path, "/console/compare", first=first, second=second)
        assert response.status_code == 303
        assert "The comparison is queued" in (await browser.get(response.headers["location"])).text
        same = await submit_form(browser, path, "/console/compare", first=first, second=first)
        assert same.status_code == 422
    for wrong_body in ({**body, "first": TWO_IDEAS["first"]}, {**body, "first_evaluation": "ev_none"}):
        answer = await client.post("/v1/comparisons", json=wrong_body)
        assert answer.status_code == (422 if "first" in wrong_body else 404)
    async with service.open_caller(tenant=OTHER) as other_tenant:
        assert (await other_tenant.post("/v1/comparisons", json=body)).status_code == 404


async def test_pair_with_order_dependent_verdict_has_no_better_proposal(service: Service) -> None:
    one, two = IdeaId("1"), IdeaId("2")
    liked = DimensionVerdict(dimension="overall", winner="first", reason="bolder")
    answers = [
        SourcedComparison(
            job=JobId("rk_1"), kind="ranking", subject="", answer=Comparison(first=a, second=b, verdicts=(liked,))
        )
        for a, b in ((one, two), (two, one))
    ]
    (pair,) = group_judged_pairs(answers, {one: "Corals", two: "Tiles"})
    (respect,) = pair.verdicts
    assert (respect.better, respect.order) == (None, "different in each order")
    assert respect.reasons == ("bolder", "In the other order: bolder")
