"""The typed client against the real application over HTTP, also where connections are cut."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assayer_client import (
    ApiProblem,
    AsyncClient,
    BatchQuery,
    Client,
    Deleted,
    EvaluationBody,
    IdeaBody,
    KeyBody,
    RankedIdeaBody,
    RankingBody,
    RetryPolicy,
    TenantBody,
    TenantPatch,
    Upload,
)
from assayer_client.reports import Report
from orchestrator.jobs.models import Problem
from tests.contract.api.service import TEXT, Service, serve
from tests.contract.cutting_proxy import run_cutting_proxy

_BODY = EvaluationBody(idea=IdeaBody(title="Rehearsal by risk", text=TEXT))
_QUICK = RetryPolicy(first_pause=0.01)
_PROBLEM = Problem(type="budget-exhausted", title="The budget was spent", detail="Raise max_usd.")


@pytest.fixture
async def url(service: Service) -> AsyncIterator[str]:
    async with serve(service.app) as address:
        yield address


@pytest.fixture
async def client(service: Service, url: str) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(
        url, await service.create_key("submit", "read", "manage", "admin"), retries=_QUICK
    ) as async_client:
        yield async_client


async def _count_jobs(service: Service) -> int:
    (row,) = await service.database.fetch("SELECT count(*) FROM jobs")
    return int(row[0])


async def test_evaluation_is_created_watched_and_read(client: AsyncClient, service: Service) -> None:
    accepted = await client.evaluations.create(_BODY)
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(_list_event_kinds(client, accepted.id))
        waiting = group.create_task(client.evaluations.wait(accepted.id, seconds=60))
        await service.finish()
    assert watching.result() == ["queued", "started", "succeeded"]
    assert waiting.result().state == "succeeded"
    report = await client.evaluations.report(accepted.id)
    assert isinstance(report, Report)
    assert (await client.evaluations.report_text(accepted.id)).startswith("# ")
    assert (await client.evaluations.report_text(accepted.id, "text/html")).startswith("<!doctype html>")
    timeline = await client.evaluations.timeline(accepted.id)
    assert (timeline.title, timeline.state, timeline.spans[0].kind) == ("Rehearsal by risk", "succeeded", "wait")
    assert [item.id for item in (await client.evaluations.list(state="succeeded")).items] == [accepted.id]


async def test_lists_are_read_across_pages(client: AsyncClient, service: Service, url: str) -> None:
    jobs = [(await client.evaluations.create(_BODY)).id for _ in range(3)]
    ids = [item.id async for item in client.each(client.evaluations.list, state="queued", limit=2)]
    with Client(url, await service.create_key("read")) as waiting:
        read = await asyncio.to_thread(lambda: [item.id for item in waiting.each(waiting.evaluations.list, limit=1)])
        methods = await asyncio.to_thread(lambda: [item.name for item in waiting.each(waiting.methods.list)])
    assert ids == read == jobs[::-1]
    assert methods == ["grapheval", "innoeval", "review"]


async def _list_event_kinds(client: AsyncClient, job: str) -> list[str]:
    return [event.kind async for event in client.evaluations.events(job)]


async def test_evaluation_without_a_report_states_the_reason(client: AsyncClient, service: Service) -> None:
    async with asyncio.TaskGroup() as group, service.services.listener.subscribe("assayer_jobs") as notifications:
        task = group.create_task(_get_refusal(client))
        while not await _count_jobs(service):
            await notifications.next(5)
        await service.finish(_PROBLEM)
    problem = task.result()
    assert (problem.status, problem.slug, problem.detail) == (409, "budget-exhausted", "Raise max_usd.")


async def _get_refusal(client: AsyncClient) -> ApiProblem:
    with pytest.raises(ApiProblem) as caught:
        await client.evaluate(_BODY)
    return caught.value


async def test_evaluation_continues_after_the_client_times_out(client: AsyncClient, service: Service) -> None:
    with pytest.raises(TimeoutError, match=r"^ev_\w+ did not finish within 0 seconds; it is still running"):
        await client.evaluate(_BODY, key="once", seconds=0)
    await service.finish()
    assert (await client.evaluate(_BODY, key="once")).method == "scholareval"
    assert await _count_jobs(service) == 1


async def test_upload_with_a_cut_connection_creates_a_single_batch(service: Service, url: str, tmp_path: Path) -> None:
    file = tmp_path / "idea.txt"
    file.write_text(TEXT)
    files = [Upload("idea.txt", file), Upload("röw.jsonl", json.dumps({"title": "Two", "text": TEXT}).encode())]
    key = await service.create_key()
    async with run_cutting_proxy(url, [0, 100]) as proxy, AsyncClient(proxy, key, retries=_QUICK) as client:
        accepted = await client.batches.create(
            files=files, options=BatchQuery(name="Spring & autumn", method="grapheval")
        )
    assert (accepted.accepted, accepted.name, accepted.rejected) == (2, "Spring & autumn", ())
    assert await _count_jobs(service) == 2


async def test_batch_with_a_rejected_row_is_followed_and_results_are_saved(
    client: AsyncClient, service: Service, url: str, tmp_path: Path
) -> None:
    rows = [{"title": f"Idea {number}", "text": f"{TEXT} {number}"} for number in range(3)]
    accepted = await client.batches.create(rows=[*rows, {"title": "No words"}], options=BatchQuery(name="Call"))
    assert [row.row for row in accepted.rejected] == [4]
    async with asyncio.TaskGroup() as group:
        following = group.create_task(_list_batch_states(client, accepted.id))
        for problem in (None, _PROBLEM, None):
            await service.finish(problem)
    assert following.result()[-1] == {"succeeded": 2, "failed": 1}
    batch = await client.batches.wait(accepted.id)
    assert (batch.rows, len(batch.rejected_rows), batch.finished_at is not None) == (4, 1, True)
    async with (
        run_cutting_proxy(url, [400]) as proxy,
        AsyncClient(proxy, await service.create_key(), retries=_QUICK) as through,
    ):
        saved = await through.batches.save_results(accepted.id, tmp_path / "results.jsonl")
    states = [json.loads(line)["state"] for line in saved.read_text().splitlines()]
    assert states == ["succeeded", "failed", "succeeded", "refused"]
    assert (await client.batches.save_results(accepted.id, tmp_path / "r.csv", format="csv")).read_text().count(
        "\n"
    ) >= 4
    assert sorted(os.listdir(tmp_path)) == ["r.csv", "results.jsonl"]


async def _list_batch_states(client: AsyncClient, batch: str) -> list[dict[str, int]]:
    return [{str(state): n for state, n in event.states.items()} async for event in client.batches.events(batch)]


async def test_failed_results_download_leaves_no_file(client: AsyncClient, tmp_path: Path) -> None:
    with pytest.raises(ApiProblem, match="404"):
        await client.batches.save_results("bt_00000000000000000000000000", tmp_path / "results.jsonl")
    assert os.listdir(tmp_path) == []


async def test_evaluation_batch_and_ranking_are_cancelled(client: AsyncClient) -> None:
    job = (await client.evaluations.create(_BODY)).id
    assert (await client.evaluations.cancel(job)).state == "cancelled"
    batch = (await client.batches.create(rows=[{"title": "One", "text": TEXT}])).id
    assert (await client.batches.cancel(batch)).states == {"cancelled": 1}
    ideas = tuple(RankedIdeaBody(id=str(n), title=f"Idea {n}", text=f"{TEXT} {n}") for n in range(3))
    ranking = (await client.rankings.create(RankingBody(ideas=ideas, shortlist_size=1))).id
    assert (await client.rankings.cancel(ranking)).state == "cancelled"
    assert (await client.rankings.wait(ranking)).state == "cancelled"
    await client.evaluations.erase(job)
    with pytest.raises(Deleted, match="410"):
        await client.evaluations.get(job)


async def test_operator_manages_tenants_and_keys_through_the_client(client: AsyncClient, url: str) -> None:
    await client.tenants.create(TenantBody(id="lab", name="The lab", weight=2))
    changed = await client.tenants.update("lab", TenantPatch(monthly_usd=20))
    assert (changed.weight, changed.monthly_usd) == (2, 20)
    created_key = await client.keys.create(KeyBody(name="ci", scopes=("read",), tenant="lab"))
    async with AsyncClient(url, created_key.secret) as other_client:
        assert (await other_client.usage.get()).tenant == "lab"
        with pytest.raises(ApiProblem, match="403"):
            await other_client.evaluations.create(_BODY)
    await client.keys.revoke(created_key.id, tenant="lab")
    async with AsyncClient(url, created_key.secret) as other_client:
        with pytest.raises(ApiProblem, match="401"):
            await other_client.usage.get()
    await client.tenants.delete("lab")
    assert "lab" not in [item.id for item in (await client.tenants.list()).items]
