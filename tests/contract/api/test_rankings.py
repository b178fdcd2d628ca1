"""Rankings over HTTP, from the request to the report and to a ranking that continues it."""

import json
from typing import Any

import httpx2
import pytest

from assayer.models import MeasuredMinimum, ReportRelease
from assayer.ranking.comparison import describe_judging
from assayer.ranking.options import RankingOptions
from assayer_client import AsyncClient
from assayer_client.comparisons import Comparison
from assayer_client.rankings import AcceptedRanking, Ranking, RankingResource
from orchestrator.jobs.models import JobVerdict, Problem
from orchestrator.jobs.requests import RankingRequest
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases
from tests.contract.api.problems import check_problem, get_first_error
from tests.contract.api.ranking_jobs import RANKED_IDEAS, finish_ranking, submit_ranking
from tests.contract.api.service import OTHER, Service, serve
from tests.unit.batch_bodies import WORDS, render_jsonl


async def test_ranking_is_returned_as_json_html_markdown_and_csv(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = await submit_ranking(client, shortlist_size=2)
    check_problem(await client.get(accepted.links.report), 409, "not-finished")
    await finish_ranking(service)
    shown_ranking = RankingResource.model_validate_json((await client.get(accepted.links.ranking)).content)
    assert (shown_ranking.state, shown_ranking.title) == ("succeeded", "4 proposals")

    as_json = await client.get(accepted.links.report)
    ranking = Ranking.model_validate_json(as_json.content)
    assert [idea.source for idea in ranking.ideas] == ["P-3", "P-2", "P-1", "P-0"]
    page = await client.get(accepted.links.report, headers={"Accept": "text/html"})
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    style = next(part for part in policy.split(";") if "style-src" in part).split("'")[1]
    assert style in page.text
    assert (await client.get(accepted.links.report, headers={"Accept": "text/markdown"})).text.startswith("#")
    table = await client.get(accepted.links.report, headers={"Accept": "text/csv"})
    assert ",'=Plan 3," in table.text
    check_problem(await client.get(accepted.links.report, headers={"Accept": "image/png"}), 406, "not-acceptable")


async def test_ranking_events_report_progress_and_outcome(service: Service) -> None:
    async with serve(service.app) as url, service.open_client(key := await service.create_key(), url) as client:
        accepted = await submit_ranking(client)
        lease = await service.lease_next()
        stages = [{"stage": "comparing", "done": 3, "total": 8}]
        await service.services.events.append(lease.job, "progress", {"stages": stages})
        problem = Problem(type="x", title="It failed", detail="Because.")
        failed = JobVerdict(state="failed", problem=problem)
        assert await PgLeases(service.database, QueueSettings()).finish(lease, failed)
        async with AsyncClient(url, key) as follower:
            events = [event async for event in follower.rankings.events(accepted.id)]
        answer = await client.get(accepted.links.events)
        over = await client.get(accepted.links.events, headers={"Last-Event-ID": str(events[-1].number)})
        of_another_kind = await client.get(f"/v1/evaluations/{accepted.id}/events")
    assert [event.kind for event in events] == ["queued", "started", "progress", "failed"]
    assert events[2].data["stages"] == stages
    assert answer.text.count("event: ") == len(events)
    assert (over.status_code, of_another_kind.status_code) == (204, 404)


async def test_comparisons_of_an_earlier_ranking_are_reused(service: Service, client: httpx2.AsyncClient) -> None:
    first = await submit_ranking(client)
    await finish_ranking(service)
    lines = (await client.get(first.links.comparisons)).text.splitlines()
    comparisons = [Comparison.model_validate_json(line) for line in lines]
    more = [*RANKED_IDEAS, {"title": "Plan 9", "text": f"Idea of worth 9. {WORDS}"}]
    by_name = await submit_ranking(client, ideas=more, previous_ranking=first.id)
    by_lines = await submit_ranking(client, ideas=more, comparisons=[json.loads(line) for line in lines])
    assert by_name.known_comparisons == by_lines.known_comparisons == len(comparisons) > 0
    assert (await finish_ranking(service)).known == tuple(comparisons)
    ranking = Ranking.model_validate_json((await client.get(by_name.links.report)).content)
    assert ranking.ideas[0].title == "Plan 9"
    assert ranking.judge.submitted_comparisons == len(comparisons)


async def test_unblinded_comparisons_are_rejected_for_a_blind_ranking(
    service: Service, client: httpx2.AsyncClient
) -> None:
    ranking = await submit_ranking(client, blind=False)
    assert not ranking.blind
    assert not (await finish_ranking(service)).blind
    assert (await submit_ranking(client, previous_ranking=ranking.id, blind=False)).known_comparisons > 0
    error = get_first_error(
        await client.post("/v1/rankings", json={"ideas": RANKED_IDEAS, "previous_ranking": ranking.id})
    )
    assert error.pointer == "/previous_ranking"
    assert "judged with the original names" in error.detail
    assert "this ranking is blind" in error.detail


async def test_comparisons_of_another_model_are_refused(service: Service, client: httpx2.AsyncClient) -> None:
    ranking = await submit_ranking(client)
    await finish_ranking(service)
    lines = (await client.get(ranking.links.comparisons)).text.splitlines()
    assert {json.loads(line)["judged_by"]["model"] for line in lines} == {"judge"}
    now = describe_judging(RankingOptions(), "stronger", None)
    async with service.with_services(judging=now).open_caller() as stronger:
        error = get_first_error(
            await stronger.post("/v1/rankings", json={"ideas": RANKED_IDEAS, "previous_ranking": ranking.id})
        )
        assert "judged by judge and not by stronger" in error.detail
    async with service.with_services(judging=now._replace(model="judge")).open_caller() as same:
        assert (await submit_ranking(same, previous_ranking=ranking.id)).known_comparisons == len(lines)


async def test_finished_batch_is_ranked_from_the_scores_of_its_reports(
    service: Service, client: httpx2.AsyncClient
) -> None:
    rows = render_jsonl([{"title": f"Row {number}", "text": f"{WORDS} {number}"} for number in range(3)])
    batch = (await client.post("/v1/batches", content=rows, headers={"Content-Type": "application/jsonl"})).json()
    unfinished = await client.post("/v1/rankings", json={"batch": batch["id"]})
    assert "has not finished" in check_problem(unfinished, 409, "not-finished").detail
    await service.finish()
    await service.finish(Problem(type="budget-exhausted", title="The budget is spent", detail="Too dear."))
    await service.finish()
    # The fixture writes the same report for every row: one idea is left, which is no ranking.
    refusal = await client.post("/v1/rankings", json={"batch": batch["id"]})
    assert "at least two ideas, but this request has 1" in check_problem(refusal, 422, "invalid-request").detail
    await service.database.execute(
        "UPDATE evaluations SET report = jsonb_set(report, '{idea,id}', '\"another\"') "
        'WHERE id = (SELECT run_id FROM jobs WHERE "row" = 3)'
    )
    # A report below a minimum has no total to start from, and says so.
    release = ReportRelease(
        state="incomplete",
        minima=(MeasuredMinimum(name="judged", measured=0.25, minimum=0.5, is_met=False, basis="Of methods."),),
    )
    await service.database.execute(
        "UPDATE evaluations SET report = jsonb_set(report, '{release}', $1::jsonb) "
        'WHERE id = (SELECT run_id FROM jobs WHERE "row" = 3)',
        release.model_dump_json(),
    )
    # A report that was made blind has no other words than the masked ones.
    await service.database.execute(
        "UPDATE evaluations SET report = jsonb_set(report, '{idea,blinding}', '{\"rules\": 1, \"masked\": []}') "
        'WHERE id = (SELECT run_id FROM jobs WHERE "row" = 3)'
    )
    answer = await client.post("/v1/rankings", json={"batch": batch["id"], "blind": False})
    assert "1 of the 2 reports were created in blind mode" in check_problem(answer, 422, "invalid-request").detail
    accepted = AcceptedRanking.model_validate_json(
        (await client.post("/v1/rankings", json={"batch": batch["id"], "shortlist_size": 1})).content
    )
    assert [(item.row, item.reason) for item in accepted.unscored_ideas] == [
        (1, "Its report has no score."),
        (3, "Its report is incomplete (too low for a total: judged)."),
    ]
    assert (accepted.ideas, [(item.row, item.reason) for item in accepted.excluded_evaluations]) == (
        2,
        [(2, "The budget is spent")],
    )
    assert accepted.blind
    work = (await service.lease_next()).request
    assert isinstance(work, RankingRequest)
    assert work.shortlist_size == 1
    assert set(work.scores) <= {idea.id for idea in work.ideas}
    assert accepted.ideas_with_score == len(work.scores)
    assert work.blind
    assert [idea.blinding is not None for idea in work.ideas] == [False, True]


@pytest.mark.parametrize(
    ("body", "pointer", "says"),
    [
        ({"ideas": RANKED_IDEAS[:1]}, "/ideas", "at least two ideas, but this request has 1"),
        ({"ideas": []}, "/ideas", "but this request has none"),
        ({"ideas": [RANKED_IDEAS[0], RANKED_IDEAS[1], RANKED_IDEAS[0]]}, "/ideas/2", "same text as /ideas/0"),
        ({"ideas": [RANKED_IDEAS[0], {"title": "no text"}]}, "/ideas/1", "Give either"),
        ({"ideas": [RANKED_IDEAS[0], {"text": "  "}]}, "/ideas/1/text", "is empty"),
        ({"ideas": RANKED_IDEAS, "shortlist_size": 4}, "/shortlist_size", "must be lower than the number of ideas (4)"),
        ({"ideas": RANKED_IDEAS, "shortlist_size": 0}, "/shortlist_size", "at least 1"),
        ({}, "", "Give either `ideas` or `batch`"),
        ({"ideas": RANKED_IDEAS, "batch": "bt_1"}, "", "Give either `ideas` or `batch`"),
        (
            {"ideas": RANKED_IDEAS, "comparisons": [{"first": "x", "second": "y", "verdicts": []}]},
            "/comparisons",
            "None of the 1 comparisons",
        ),
    ],
)
async def test_invalid_ranking_request_names_the_field(
    client: httpx2.AsyncClient, body: dict[str, Any], pointer: str, says: str
) -> None:
    error = get_first_error(await client.post("/v1/rankings", json=body))
    assert error.pointer == pointer
    assert says in error.detail


async def test_batches_and_comparisons_of_another_tenant_are_not_ranked(
    service: Service, client: httpx2.AsyncClient
) -> None:
    accepted = await submit_ranking(client)
    await finish_ranking(service)
    rows = render_jsonl([{"text": idea["text"]} for idea in RANKED_IDEAS])
    batch = (await client.post("/v1/batches", content=rows, headers={"Content-Type": "application/jsonl"})).json()["id"]
    async with service.open_caller(tenant=OTHER) as other_tenant:
        for body in ({"batch": batch}, {"ideas": RANKED_IDEAS, "previous_ranking": accepted.id}):
            check_problem(await other_tenant.post("/v1/rankings", json=body), 404, "not-found")
        assert (await other_tenant.get("/v1/rankings")).json()["items"] == []


async def test_ranking_that_is_cancelled_has_no_report(client: httpx2.AsyncClient) -> None:
    accepted = await submit_ranking(client)
    assert (await client.delete(accepted.links.ranking)).json()["state"] == "cancelled"
    check_problem(await client.get(accepted.links.report), 409, "cancelled")
    check_problem(await client.get(accepted.links.comparisons), 409, "cancelled")
