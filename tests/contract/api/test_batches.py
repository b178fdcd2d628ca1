"""Many ideas in one request: accepted and rejected rows, and results."""

import asyncio
import csv
import datetime as dt
import io
import json
from collections.abc import AsyncIterator

import httpx2
import openpyxl
import pyarrow.parquet as pq
import pytest
from starlette.types import Message, Receive, Scope, Send

from assayer_client.batches import AcceptedBatch, BatchResource, BatchSummary
from assayer_client.evaluations import Evaluation
from assayer_client.resources import Page
from orchestrator.batches.results import ResultLine
from orchestrator.jobs.models import JobId, Problem
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.settings import BatchSettings
from tests.contract.api.problems import check_problem, get_first_error
from tests.contract.api.service import ACME, JSONL_HEADERS, Service, serve
from tests.unit.batch_bodies import BOUNDARY, WORDS, make_idea_text, make_zip, render_csv, render_form, render_jsonl

CSV = {"Content-Type": "text/csv"}
FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
THREE = render_jsonl(
    [{"id": f"P-{number}", "title": f"Plan {number}", "text": make_idea_text(number)} for number in range(3)]
)


async def submit(
    client: httpx2.AsyncClient, body: bytes = THREE, headers: dict[str, str] = JSONL_HEADERS, **query: str
) -> AcceptedBatch:
    answer = await client.post("/v1/batches", content=body, headers=headers, params=query)
    assert answer.status_code == 202, answer.text
    accepted = AcceptedBatch.model_validate_json(answer.content)
    assert answer.headers["location"] == accepted.links.batch
    return accepted


async def get_batch(client: httpx2.AsyncClient, accepted: AcceptedBatch) -> BatchResource:
    return BatchResource.model_validate_json((await client.get(accepted.links.batch)).content)


async def test_queued_rows_keep_their_requested_options(service: Service, client: httpx2.AsyncClient) -> None:
    rows = render_jsonl(
        [{"title": "A", "text": make_idea_text(1)}, {"title": "B", "text": make_idea_text(2), "cutoff": "2020-01-01"}]
    )
    accepted = await submit(
        client, rows, method="grapheval", cutoff="2024-05-01", max_usd="0.5", name="Call 7", priority="interactive"
    )
    page = Page[Evaluation].model_validate_json((await client.get(accepted.links.evaluations)).content)
    assert [(item.row, item.title, item.priority, item.batch) for item in page.items] == [
        (2, "B", "interactive", accepted.id),
        (1, "A", "interactive", accepted.id),
    ]
    second, first = [await service.services.jobs.get_request(ACME, JobId(item.id)) for item in page.items]
    assert isinstance(first, EvaluationRequest)
    assert isinstance(second, EvaluationRequest)
    assert (first.method, str(first.cutoff), first.limits.max_usd) == ("grapheval", "2024-05-01", 0.5)
    assert first.idea is not None
    assert (str(first.idea.cutoff), str(second.cutoff)) == ("2024-05-01", "2020-01-01")
    batch = await get_batch(client, accepted)
    assert (batch.name, batch.rows, batch.states, batch.finished_at) == ("Call 7", 2, {"queued": 2}, None)


async def test_latin_1_table_is_accepted_without_its_broken_row(client: httpx2.AsyncClient) -> None:
    table = render_csv(["title", "text"], [["Größe", WORDS], ["Kaputt", WORDS], ["Höhe", make_idea_text(3)]])
    accepted = await submit(client, table.replace("Kaputt,", 'Kaputt,"').encode("latin-1"), CSV)
    assert (accepted.rows, accepted.accepted) == (3, 2)
    assert accepted.notices == ("The body is not UTF-8; it was read as Windows-1252.",)
    (rejected,) = accepted.rejected
    assert (rejected.row, rejected.source) == (2, "row 2")
    assert "line 3" in rejected.detail
    batch = await get_batch(client, accepted)
    assert (batch.rejected, batch.rejected_rows, batch.states) == (1, accepted.rejected, {"queued": 2})
    page = Page[Evaluation].model_validate_json((await client.get(accepted.links.evaluations)).content)
    assert {item.title for item in page.items} == {"Größe", "Höhe"}


async def test_workbook_rows_become_jobs_and_encrypted_workbook_is_rejected(client: httpx2.AsyncClient) -> None:
    book, file = openpyxl.Workbook(), io.BytesIO()
    assert book.active is not None
    for row in (("id", "title", "text"), ("A-1", "Corals", make_idea_text(1)), ("A-2", "Short", "No.")):
        book.active.append(row)
    book.save(file)
    encrypted = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
    accepted = await submit(client, render_form({"call.xlsx": file.getvalue(), "locked.xlsx": encrypted}), FORM)
    assert (accepted.rows, accepted.accepted) == (3, 1)
    assert [(item.row, item.source) for item in accepted.rejected] == [(2, "call.xlsx:2 (A-2)"), (3, "locked.xlsx")]
    assert accepted.rejected[1].detail == "locked.xlsx is encrypted. Save it without a password."


async def test_pdf_files_become_jobs_and_non_pdf_is_rejected(service: Service, client: httpx2.AsyncClient) -> None:
    pdf = b"%PDF-1.7 the rest is for the worker"
    accepted = await submit(client, render_form({"a.pdf": pdf, "b.pdf": b"<html>login</html>", "c.pdf": pdf}), FORM)
    assert [(item.row, item.detail[:18]) for item in accepted.rejected] == [(2, "b.pdf is not a PDF")]
    assert [(duplicate.row, duplicate.duplicate_of) for duplicate in accepted.duplicates] == [(3, 1)]
    lease = await service.lease_next()
    assert isinstance(lease.request, EvaluationRequest)
    assert (lease.document, lease.request.idea, lease.request.source) == (pdf, None, "a.pdf")


@pytest.mark.parametrize(
    ("body", "headers", "status", "slug", "says"),
    [
        (b"", JSONL_HEADERS, 422, "invalid-request", "The batch is empty"),
        (b"\n", CSV, 422, "invalid-request", "has no header"),
        (b"name\nx\n", CSV, 422, "invalid-request", "no column that holds ideas"),
        (render_form({}), FORM, 422, "invalid-request", "batch is empty"),
        (THREE, {"Content-Type": "multipart/form-data"}, 422, "invalid-request", "has no boundary"),
        (THREE, {"Content-Type": "application/json"}, 415, "unsupported-media-type", "application/jsonl"),
        (THREE, {}, 415, "unsupported-media-type", "The Content-Type of the request is missing"),
    ],
)
async def test_unusable_batch_is_refused_and_nothing_is_stored(
    client: httpx2.AsyncClient, body: bytes, headers: dict[str, str], status: int, slug: str, says: str
) -> None:
    problem = check_problem(await client.post("/v1/batches", content=body, headers=headers), status, slug)
    assert says in problem.detail
    assert (await client.get("/v1/batches")).json()["items"] == []


async def test_batch_without_a_valid_row_is_rejected_listing_every_row(client: httpx2.AsyncClient) -> None:
    body = b'{"text": "short"}\n{"text": \n'
    problem = check_problem(
        await client.post("/v1/batches", content=body, headers=JSONL_HEADERS), 422, "invalid-request"
    )
    assert problem.rows is not None
    assert [(row.row, row.field) for row in problem.rows] == [(1, "text"), (2, "")]
    assert "Further rejected rows: 1;" in problem.detail


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("method=scholarval", "method"),
        ("cutoff=soon", "cutoff"),
        ("max_usd=-1", "max_usd"),
        ("naem=x", "naem"),
        ("board=3", "board"),
        ("method=innoeval&board=13", "board"),  # there are twelve personas
        ("method=innoeval&board=101", "board"),
    ],
)
async def test_wrong_option_is_named(client: httpx2.AsyncClient, query: str, parameter: str) -> None:
    error = get_first_error(await client.post(f"/v1/batches?{query}", content=THREE, headers=JSONL_HEADERS))
    assert error.parameter == parameter


async def test_resent_batch_is_deduplicated_by_key_despite_another_boundary(client: httpx2.AsyncClient) -> None:
    form, key = render_form({"a.txt": WORDS.encode()}), {"Idempotency-Key": "k"}
    first = await client.post("/v1/batches", content=form, headers=FORM | key)
    other_form = {name: value.replace(BOUNDARY, "another") for name, value in FORM.items()}
    again = await client.post(
        "/v1/batches", content=form.replace(BOUNDARY.encode(), b"another"), headers=other_form | key
    )
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == first.json()
    assert len((await client.get("/v1/batches")).json()["items"]) == 1
    reused = await client.post(
        "/v1/batches", content=render_form({"a.txt": make_idea_text(2).encode()}), headers=FORM | key
    )
    check_problem(reused, 422, "idempotency-key-reused")


async def finish_three(service: Service, client: httpx2.AsyncClient) -> AcceptedBatch:
    """Finish three evaluations: one succeeds, one fails, one is cancelled."""
    accepted = await submit(client)
    await service.finish()
    await service.finish(Problem(type="budget-exhausted", title="The budget is spent", detail="=1+1: too dear."))
    assert (await client.delete(accepted.links.batch)).json()["states"] == {"succeeded": 1, "failed": 1, "cancelled": 1}
    return accepted


async def test_results_are_returned_as_jsonl_csv_or_parquet(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = await finish_three(service, client)
    answer = await client.get(accepted.links.results)
    assert answer.headers["content-type"].startswith("application/jsonl")
    succeeded, failed, cancelled = map(ResultLine.model_validate_json, answer.text.splitlines())
    assert [(item.row, item.state) for item in (succeeded, failed, cancelled)] == [
        (1, "succeeded"),
        (2, "failed"),
        (3, "cancelled"),
    ]
    assert succeeded.report is not None
    assert (succeeded.source, succeeded.cost_usd) == ("row 1 (P-0)", 0.25)
    assert failed.problem is not None

    table = await client.get(accepted.links.results, headers={"Accept": "text/csv"})
    assert f'filename="{accepted.id}.csv"' in table.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(table.text.removeprefix("\ufeff"))))
    assert [row["state"] for row in rows] == ["succeeded", "failed", "cancelled"]
    assert rows[1]["problem_detail"] == "'=1+1: too dear."

    columns = await client.get(accepted.links.results, params={"format": "parquet"}, headers={"Accept": "text/csv"})
    assert columns.headers["content-type"] == "application/vnd.apache.parquet"
    assert pq.read_table(io.BytesIO(columns.content)).column("id").to_pylist() == [row["id"] for row in rows]
    check_problem(await client.get(accepted.links.results, headers={"Accept": "image/png"}), 406, "not-acceptable")


async def test_finished_batch_reports_pace_and_end_time(service: Service, client: httpx2.AsyncClient) -> None:
    batch = await get_batch(client, await finish_three(service, client))
    assert batch.finished_at is not None
    assert batch.finish_expected_at is None
    assert batch.ideas_per_hour is not None
    assert batch.ideas_per_hour > 0
    assert batch.cost_usd == 0.5
    (batch_item,) = (await client.get("/v1/batches")).json()["items"]
    assert BatchSummary.model_validate(batch_item).states == batch.states


async def test_progress_is_streamed_until_the_batch_has_finished(service: Service) -> None:
    async with serve(service.app) as url, service.open_client(await service.create_key(), url) as client:
        accepted = await submit(client)
        events: list[tuple[str, BatchSummary]] = []
        kind = ""
        async with client.stream("GET", accepted.links.events) as stream:
            async for line in stream.aiter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    kind = value
                elif field == "data":
                    events.append((kind, BatchSummary.model_validate(json.loads(value))))
                    if len(events) == 1:
                        for _ in range(3):
                            await service.finish()
        assert events[0][0] == "progress"
        assert events[0][1].states == {"queued": 3}
        assert (events[-1][0], events[-1][1].states) == ("finished", {"succeeded": 3})
        again = await client.get(accepted.links.events, headers={"Last-Event-ID": "3"})
        assert again.status_code == 204


async def test_batch_sent_in_parts_finishes_after_the_last_part(service: Service, client: httpx2.AsyncClient) -> None:
    first = await submit(
        client, render_form({"a.txt": make_idea_text(1).encode(), "b.pdf": b"none"}), FORM, open="true", name="Call"
    )
    assert (first.rows, first.next_row) == (2, 3)
    await service.finish()
    assert (await get_batch(client, first)).finished_at is None
    second = await add_rows(client, first, render_form({"c.txt": make_idea_text(3).encode()}), first_row=3, open="true")
    third = await add_rows(
        client, first, render_form({"d.pdf": b"none", "e.txt": make_idea_text(5).encode()}), first_row=second.next_row
    )
    assert (second.id, third.id, third.name) == (first.id, first.id, "Call")
    assert [(item.row, item.source) for item in third.rejected] == [(4, "d.pdf")]
    for _ in range(2):
        await service.finish()
    batch = await get_batch(client, first)
    assert (batch.rows, batch.open, batch.states) == (5, False, {"succeeded": 3})
    assert batch.finished_at is not None
    assert [(rejected_row.row, rejected_row.source) for rejected_row in batch.rejected_rows] == [
        (2, "b.pdf"),
        (4, "d.pdf"),
    ]
    lines = (await client.get(first.links.results)).text.splitlines()
    lines_found = [ResultLine.model_validate_json(line) for line in lines]
    states = {1: "succeeded", 2: "refused", 3: "succeeded", 4: "refused", 5: "succeeded"}
    assert {item.row: item.state for item in lines_found} == states
    assert [item.row for item in lines_found] == sorted(states)


async def add_rows(
    client: httpx2.AsyncClient, batch: AcceptedBatch, body: bytes, key: str = "", **query: object
) -> AcceptedBatch:
    headers = FORM | ({"Idempotency-Key": key} if key else {})
    answer = await client.post(batch.links.rows, content=body, headers=headers, params={**query})  # type: ignore[dict-item]
    assert answer.status_code == 202, answer.text
    return AcceptedBatch.model_validate_json(answer.content)


async def test_repeated_part_is_stored_once_and_misplaced_part_is_rejected(client: httpx2.AsyncClient) -> None:
    first = await submit(client, open="true")
    part = render_form({"d.txt": make_idea_text(4).encode()})
    assert await add_rows(client, first, part, key="k", first_row=4) == await add_rows(
        client, first, part, key="k", first_row=4
    )
    assert (await get_batch(client, first)).rows == 4
    closed = await client.post(first.links.rows, content=part, headers=FORM, params={"first_row": 5})
    assert "does not accept rows from number 5 on" in check_problem(closed, 409, "conflict").detail
    other_batch = await submit(client, open="true")
    early = await client.post(other_batch.links.rows, content=part, headers=FORM, params={"first_row": 3})
    assert "does not accept rows from number 3 on" in check_problem(early, 409, "conflict").detail
    assert (await get_batch(client, other_batch)).rows == 3


async def test_open_batch_is_closed_by_cancellation_or_after_a_day(
    service: Service, client: httpx2.AsyncClient
) -> None:
    cancelled, forgotten = await submit(client, open="true"), await submit(client, open="true")
    cancelled_batch = BatchResource.model_validate_json((await client.delete(cancelled.links.batch)).content)
    assert (cancelled_batch.open, cancelled_batch.states) == (False, {"cancelled": 3})
    for days, is_open in ((0, True), (2, False)):
        await service.services.jobs.purge(dt.datetime.now(dt.UTC) + dt.timedelta(days=days))
        assert (await get_batch(client, forgotten)).open is is_open


async def test_archive_is_unpacked_and_unsafe_entry_is_rejected_by_name(client: httpx2.AsyncClient) -> None:
    zipped = {"Content-Type": "application/zip"}
    accepted = await submit(client, make_zip({"call/a.txt": make_idea_text(1).encode(), "call/b.pdf": b"none"}), zipped)
    assert [(item.row, item.source) for item in accepted.rejected] == [(2, "b.pdf")]
    answer = await client.post("/v1/batches", content=make_zip({"../../a.pdf": b"%PDF-"}), headers=zipped)
    assert "'../../a.pdf' is a link or would" in check_problem(answer, 422, "invalid-request").detail
    small = make_zip({"a.txt": make_idea_text(2).encode()})
    assert (await submit(client, render_form({"call.zip": small}), FORM)).accepted == 1


async def test_uploads_beyond_the_limit_are_rejected_with_retry_after(service: Service) -> None:
    full, reading_begun = service.with_services(batches=BatchSettings(uploads=1)), asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the service does, and set `begun` once it has read the first part of a body."""

        async def receive_and_note() -> Message:
            message = await receive()
            reading_begun.set()
            return message

        await full.app(scope, receive_and_note, send)

    async with serve(app) as url, full.open_client(await service.create_key(), url) as client:

        async def slow() -> AsyncIterator[bytes]:
            yield THREE
            await asyncio.wait_for(reading_begun.wait(), 30)
            answer = await client.post("/v1/batches", content=THREE, headers=JSONL_HEADERS)
            assert check_problem(answer, 503, "busy").retry_after == int(answer.headers["retry-after"])
            yield b"\n"

        assert (await client.post("/v1/batches", content=slow(), headers=JSONL_HEADERS)).status_code == 202
