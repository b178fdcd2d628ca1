"""Having finished does not imply having a score: how the API, the client and the commands report it."""

import csv
import datetime as dt
import io
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from assayer.models import EvaluationId
from assayer_client import AsyncClient
from orchestrator.jobs.models import BatchId, JobVerdict
from orchestrator.settings import BatchSettings, QueueSettings
from orchestrator.store import PgJobs, PgLeases, PgReports
from tests.contract.api.commands import Program
from tests.contract.api.console_forms import fetch_csrf_token, open_session
from tests.contract.api.evaluated_calls import NO_SCORE_REASON, call_with_reports
from tests.contract.api.service import ACME, BODY, TEXT, Service, serve
from tests.contract.office_files import word
from tests.contract.store_records import report

ORIGIN = {"Origin": "http://api"}


@pytest.fixture
async def client(service: Service) -> AsyncIterator[AsyncClient]:
    async with serve(service.app) as url, AsyncClient(url, await service.create_key()) as opened_client:
        yield opened_client


async def test_evaluation_reports_scores_corpus_fit_or_missing_score_reason(
    service: Service, client: AsyncClient
) -> None:
    batch = await call_with_reports(service)
    items_by_row = {item.row: item async for item in client.each(client.evaluations.list, batch=batch)}
    first, third, failed = items_by_row[1].scores, items_by_row[3].scores, items_by_row[4].scores
    assert first is not None
    assert (first.score, first.certainty, first.corpus_fit, first.complete, first.reason) == (
        *(70.0, "low", "good", True),
        None,
    )
    assert [(part.title, part.score, part.scale_max, part.reason) for part in first.parts] == [
        ("Soundness", 7.0, 10.0, None)
    ]
    assert third is not None
    assert (third.score, third.corpus_fit, third.complete, third.reason) == (None, "poor", False, NO_SCORE_REASON)
    assert failed is None
    evaluation = await client.evaluations.get(items_by_row[1].id)
    assert (evaluation.scores, evaluation.reference) == (first, "")


async def test_finished_batch_reports_outcomes_of_its_evaluations(service: Service, client: AsyncClient) -> None:
    accepted = await client.batches.create(rows=[{"text": TEXT}])
    before = await client.batches.get(accepted.id)
    assert (before.outcomes, before.poorly_covered) == (None, None)
    await service.finish()
    batch_resource = await client.batches.get(await call_with_reports(service))
    assert batch_resource.states == {"succeeded": 3, "failed": 1}
    assert (batch_resource.outcomes, batch_resource.poorly_covered) == ({"full": 2, "unscored": 1, "failed": 1}, 1)


async def test_commands_report_scores_or_why_absent(service: Service, tmp_path: Path) -> None:
    batch = await call_with_reports(service)
    async with serve(service.app) as url:
        program = Program(url, await service.create_key(), tmp_path)
        second_result = await program.run("batch", "watch", batch)
        result = await program.run("batch", "list", batch)
        waiting = await program.run("batch", "list", "--state", "queued")
    assert second_result.code == 1
    assert f"{batch}: 2 scored in full, 1 evaluated without a score, which is not a low score." in second_result.err
    assert "The corpus does not cover the field of 1 proposal." in second_result.err
    cells = [line.rstrip().split("  ")[-1].strip() for line in result.out.splitlines()]
    assert "70 of 100, low certainty" in result.out
    assert cells[0] == "Why there is no score"
    assert NO_SCORE_REASON in cells[3]
    assert [line.split()[1] for line in result.out.splitlines()[1:]] == ["1.", "2.", "3.", "4."]
    assert "No evaluations match." in waiting.err


async def test_sender_reference_is_returned_separately_in_all_results(service: Service) -> None:
    rows = f'id;title;text\nA-2026-7;Plan;"{TEXT}"\n;Other;"{TEXT} again"\n'
    files = [("file", ("call.csv", rows.encode())), ("file", ("plan b.txt", f"{TEXT} more".encode()))]
    batch = (await service.machine.post("/v1/batches", files=files)).json()["id"]
    await service.machine.post("/v1/evaluations", json=BODY | {"source": "my own: 7"})
    for _ in range(4):
        await service.finish()
    evaluations = (await service.machine.get("/v1/evaluations")).json()["items"]
    assert {(item["source"], item["reference"]) for item in evaluations} == {
        ("call.csv:1 (A-2026-7)", "A-2026-7"),
        ("call.csv:2", ""),
        ("plan b.txt", "plan b.txt"),
        ("my own: 7", "my own: 7"),
    }
    table = await _fetch_csv(service.machine, batch)
    assert [(row["source"], row["reference"]) for row in table] == [
        ("call.csv:1 (A-2026-7)", "A-2026-7"),
        ("call.csv:2", ""),
        ("plan b.txt", "plan b.txt"),
    ]


async def _fetch_csv(caller: httpx2.AsyncClient, batch: str) -> list[dict[str, str]]:
    answer = await caller.get(f"/v1/batches/{batch}/results", params={"format": "csv"})
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))


async def test_document_title_replaces_the_file_name_after_reading(service: Service) -> None:
    files = [("file", ("A-7.docx", word("<w:p><w:r><w:t>Salt</w:t></w:r></w:p>")))]
    batch = (await service.machine.post("/v1/batches", files=files)).json()["id"]
    lease = await service.lease_next()
    leases, run = PgLeases(service.database, QueueSettings()), EvaluationId(f"run_{lease.job}")
    assert await leases.record_run(lease, run, {})
    await PgReports(service.database).store(report(run))
    (before,) = (await service.machine.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    assert await leases.finish(lease, JobVerdict(state="succeeded", run_id=run, title="Salt and light"))
    (after,) = (await service.machine.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    assert (before["title"], after["title"], after["source"]) == ("A-7.docx", "Salt and light", "A-7.docx")


async def test_unavailable_method_is_rejected_with_its_reason_and_not_listed(service: Service) -> None:
    incomplete_service = service.with_services(unavailable={"grapheval": "There is no viewpoint graph."})
    rows = [("file", ("one.txt", TEXT.encode()))]
    async with incomplete_service.open_caller() as caller:
        offered = [item["name"] for item in (await caller.get("/v1/methods")).json()["items"]]
        for answer in (
            await caller.post("/v1/evaluations", json=BODY | {"method": "grapheval"}),
            await caller.post("/v1/batches?method=grapheval", files=rows),
            await caller.post("/v1/batches/estimate?method=grapheval", files=rows),
        ):
            assert answer.status_code == 422, answer.text
            assert "The method grapheval cannot run on this service: There is no viewpoint graph." in answer.text
        assert (await caller.post("/v1/evaluations", json=BODY)).status_code == 202
    assert offered == ["innoeval", "review"]


async def test_documents_of_a_cancelled_call_can_be_retried_until_retention_ends(service: Service) -> None:
    service = service.with_services(batches=BatchSettings(document_days=30))
    service.services.jobs = PgJobs(service.database, document_days=30)
    unread = word("<w:p><w:r><w:t>Salt</w:t></w:r></w:p>")
    files = [("file", ("A-7.docx", unread)), ("file", ("one.txt", TEXT.encode()))]
    batch = (await service.machine.post("/v1/batches", files=files)).json()["id"]
    items = (await service.machine.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    document = next(item["id"] for item in items if item["source"] == "A-7.docx")
    now = dt.datetime.now(dt.UTC)
    until = f"until {(now + dt.timedelta(days=30)).date()}"
    async with open_session(service, await service.create_key()) as client:
        call, proposal = f"/console/calls/{batch}", f"/console/proposals/{document}"
        cancel_page = (await client.get(f"{call}/cancel")).text
        assert "1 document (PDF, Word, LibreOffice) among them is stored for this purpose for 30 days" in cancel_page
        form = {"csrf_token": await fetch_csrf_token(client, f"{call}/cancel")}
        assert (await client.post(f"{call}/cancel", data=form, headers=ORIGIN)).status_code == 303
        page, page_text = (await client.get(call)).text, (await client.get(proposal)).text
        assert "Retry 2 without a report" in page
        assert f"evaluated again; the first is deleted on {until.removeprefix('until ')}." in page
        assert f"The document is stored for this purpose {until}." in page_text
        assert (await client.post(f"{call}/retry", data=form, headers=ORIGIN)).status_code == 303
        assert until not in (await client.get(call)).text
        assert "1 document (PDF, Word, LibreOffice)" in (await client.get(f"{call}/cancel")).text

        await service.services.jobs.cancel_batch(ACME, BatchId(batch))
        assert await service.services.jobs.delete_expired_documents(now + dt.timedelta(days=31)) == 1
        page, page_text = (await client.get(call)).text, (await client.get(proposal)).text
    assert "Retry 1 without a report" in page
    assert until not in page + page_text
    assert "1 document without a report is no longer stored" in page
    assert "The document is no longer stored" in page_text
    assert "Evaluate again" not in page_text
