"""How a report was made: every call with what was sent and answered, over HTTP and as pages."""

import datetime as dt
import re
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from assayer.models import CachedAnswer, CallRecord, EvaluationId, Fault, LedgerRow, Message
from orchestrator.jobs.models import JobVerdict
from orchestrator.settings import QueueSettings
from orchestrator.store import PgAnswerCache, PgLeases, PgReports
from tests.chromium import launch_options
from tests.contract.api.people import asking, person
from tests.contract.api.service import BODY, OTHER, Service, served
from tests.contract.api.test_console_tables import _look, signed_in
from tests.unit.reports_fixture import full_report

ASKED = (
    Message(role="system", content="You read research papers."),
    Message(role="user", content="Which methods does the idea use? <b>They are fenced as data.</b>"),
)


def record(task: str, *faults: Fault, cached: bool = False) -> CallRecord:
    return CallRecord(
        task=task, version=3, model="reader-1", prompt_tokens=1_234, completion_tokens=56, cost_usd=0.0125,
        latency_seconds=0.5, attempts=1 + len(faults), faults=faults, cached=cached,
    )  # fmt: skip


async def made(service: Service) -> str:
    """An evaluation with three calls: one with its messages, one from the cache of old, one without an answer."""
    async with service.caller() as owner:
        asked = await owner.post("/v1/evaluations", json=BODY)
    lease = await service.lease()
    run = EvaluationId(f"run_{lease.job}")
    leases, answers = PgLeases(service.database, QueueSettings()), PgAnswerCache(service.database)
    assert await leases.record_run(lease, run, {})
    began = service.services.clock.now()
    wrapped = Fault(kind="wrapped", detail="The answer came in a code block.")
    rows = [
        LedgerRow(run_id=run, key="k1", record=record("methods", wrapped), outcome="answered", at=began),
        LedgerRow(run_id=run, key="k2", record=record("queries", cached=True), outcome="answered", at=began),
        LedgerRow(run_id=run, key="k3", record=record("reading"), outcome="failed", error="No answer.", at=began),
    ]
    first = CachedAnswer(key="k1", value='{"methods":["replay"]}', record=rows[0].record, messages=ASKED)
    for place, (row, answer) in enumerate(zip(rows, (first, None, None), strict=True)):
        await answers.record(row.model_copy(update={"at": began + dt.timedelta(microseconds=place)}), answer)
    await PgReports(service.database).keep(full_report().model_copy(update={"evaluation_id": run}), [], {})
    assert await leases.finish(lease, JobVerdict(state="done", run_id=run, cost_usd=0.25))
    return str(asked.json()["id"])


async def test_every_call_is_told_with_tokens_cost_and_what_went_wrong(service: Service) -> None:
    job = await made(service)
    async with service.caller() as owner:
        calls = (await owner.get(f"/v1/evaluations/{job}/calls")).json()["items"]
    assert [(one["number"], one["task"], one["outcome"], one["cached"]) for one in calls] == [
        (1, "methods", "answered", False),
        (2, "queries", "answered", True),
        (3, "reading", "failed", False),
    ]
    assert (calls[0]["prompt_tokens"], calls[0]["completion_tokens"], calls[0]["cost_usd"]) == (1_234, 56, 0.0125)
    assert calls[0]["faults"][0]["detail"] == "The answer came in a code block."


async def test_a_call_is_told_with_its_messages_and_its_answer_or_why_not(service: Service) -> None:
    job = await made(service)
    async with service.caller() as owner:
        first, second, third = [
            (await owner.get(f"/v1/evaluations/{job}/calls/{number}")).json() for number in (1, 2, 3)
        ]
        beyond = await owner.get(f"/v1/evaluations/{job}/calls/4")
    assert first["messages"] == [one.model_dump() for one in ASKED]
    assert first["answer"] == '{"methods":["replay"]}'
    assert second["answer"] == {"reason": "It is kept no longer."}
    assert third["messages"] == {"reason": "There was no answer."}
    assert beyond.status_code == 404
    async with service.caller(tenant=OTHER) as stranger:
        assert (await stranger.get(f"/v1/evaluations/{job}/calls/1")).status_code == 404


async def test_an_erased_evaluation_leaves_no_messages(service: Service) -> None:
    job = await made(service)
    async with service.caller() as owner:
        assert (await owner.delete(f"/v1/evaluations/{job}?erase=true")).status_code in (200, 204)
    assert await service.database.fetch("SELECT FROM answers") == []


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
async def test_an_officer_reads_how_it_was_made(service: Service, tmp_path: Path, width: int, scheme: str) -> None:
    job = await made(service)
    complaints: list[str] = []
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page = await context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(f"{url}/console/proposals/{job}")
        await page.locator("input:focus").wait_for()
        await page.keyboard.type((await person(service, "auditor")).key)
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="How it was made").press("Enter")
        await page.get_by_role("heading", name="Calls").wait_for()
        await _look(page, f"{url}/console/proposals/{job}/making", tmp_path, "making", width)
        await page.get_by_role("link", name="1. methods").press("Enter")
        await page.get_by_role("heading", name="What was sent").wait_for()
        assert "<b>They are fenced as data.</b>" in await page.get_by_label("Message of user").inner_text()
        assert '"replay"' in await page.get_by_label("The answer").inner_text()
        await _look(page, page.url, tmp_path, "call", width)
        await page.get_by_role("link", name="The call after").press("Enter")
        await page.get_by_role("heading", name="Call 2: queries").wait_for()
        await page.get_by_role("link", name="Back to all calls").press("Enter")
        await page.wait_for_url("**/making#call-2")
        await browser.close()
    assert complaints == []


async def test_reviewers_do_not_read_how_it_was_made(service: Service) -> None:
    job = await made(service)
    async with asking(service, await person(service, "reviewer")) as reviewer:
        assert (await reviewer.get(f"/v1/evaluations/{job}/calls")).status_code == 403
        assert (await reviewer.get(f"/v1/evaluations/{job}/calls/1")).status_code == 403


async def test_stages_begin_where_they_began_and_gaps_between_calls_are_named(service: Service) -> None:
    async with service.caller() as owner:
        asked = await owner.post("/v1/evaluations", json=BODY)
    job = str(asked.json()["id"])
    lease = await service.lease()
    run = EvaluationId(f"run_{lease.job}")
    leases = PgLeases(service.database, QueueSettings())
    assert await leases.record_run(lease, run, {})
    began = await service.database.fetch_one("SELECT started_at FROM jobs WHERE id = $1", lease.job)
    assert began is not None
    start = began["started_at"]

    def at(seconds: float) -> dt.datetime:
        moment: dt.datetime = start + dt.timedelta(seconds=seconds)
        return moment

    await service.database.execute("UPDATE events SET at = $1 WHERE job = $2", start, lease.job)
    row = LedgerRow(run_id=run, key="k1", record=record("methods"), outcome="answered", at=at(6.5))
    await PgAnswerCache(service.database).record(row, None)
    told = {
        "stages": [{"stage": "soundness", "done": 1, "total": 4, "began": at(6).isoformat()}],
        "activities": [{"what": "searching", "start": at(0).isoformat(), "end": at(5).isoformat()}],
    }
    assert await service.services.events.append(lease.job, "progress", told, lease.token)
    await service.database.execute("UPDATE events SET at = $1 WHERE job = $2 AND kind = 'progress'", at(9), lease.job)
    assert await leases.finish(lease, JobVerdict(state="done", run_id=run, cost_usd=0.25))
    await service.database.execute("UPDATE events SET at = $1 WHERE job = $2 AND kind = 'done'", at(12), lease.job)
    await service.database.execute("UPDATE jobs SET finished_at = $1 WHERE id = $2", at(12), lease.job)
    async with signed_in(service, await service.key()) as client:
        page = (await client.get(f"/console/proposals/{job}/making")).text
    rows = [re.sub(r"<[^>]+>|\s+", " ", one) for one in re.findall("<tr>.*?</tr>", page)]
    soundness = next(one for one in rows if "soundness" in one)
    waited = float(re.findall(r"(\d+\.\d) s", soundness)[0])
    gaps = [one for one in rows if "no call under way" in one]
    assert 5.9 <= waited <= 7.5
    assert "searching literature 5.0 s" in gaps[0]
    assert "what it did then was not recorded after call 1" in " ".join(gaps[1].split())
    assert 'href="#call-1"' in page
