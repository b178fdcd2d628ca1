"""One proposal: from a claim to its quote and its source and back, remarks of people, with keys and a small screen."""

from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from assayer.errors import StorageError
from assayer.models import EvaluationId
from orchestrator.jobs.models import JobVerdict
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases, PgReports
from tests.chromium import launch_options
from tests.contract.api.people import asking, person
from tests.contract.api.service import BODY, OTHER, Service, served
from tests.contract.api.test_console_tables import _look
from tests.unit.reports_fixture import full_report


async def reported(service: Service) -> str:
    """An evaluation whose report has every field in use."""
    async with service.caller() as owner:
        asked = await owner.post("/v1/evaluations", json=BODY)
    lease = await service.lease()
    run = EvaluationId(f"run_{lease.job}")
    leases = PgLeases(service.database, QueueSettings())
    assert await leases.record_run(lease, run, {})
    await PgReports(service.database).keep(full_report().model_copy(update={"evaluation_id": run}), [], {})
    assert await leases.finish(lease, JobVerdict(state="done", run_id=run, cost_usd=0.25))
    return str(asked.json()["id"])


async def test_remarks_stay_as_they_are_and_stand_in_the_audit_log(service: Service) -> None:
    job = await reported(service)
    async with asking(service, await person(service, "officer")) as officer:
        first = await officer.post(f"/v1/evaluations/{job}/remarks", json={"text": "Look at the budget."})
        assert first.status_code == 201, first.text
        again = await officer.post(f"/v1/evaluations/{job}/remarks", json={"text": "Look at the budget."})
        assert again.json() == first.json()
        await officer.post(f"/v1/evaluations/{job}/remarks", json={"text": "It was corrected."})
        listed = (await officer.get(f"/v1/evaluations/{job}/remarks")).json()["items"]
    assert [(one["text"], one["name"], one["role"]) for one in listed] == [
        ("Look at the budget.", "Ada Byron", "officer"),
        ("It was corrected.", "Ada Byron", "officer"),
    ]
    with pytest.raises(StorageError, match="never changed"):
        await service.database.execute("UPDATE remarks SET text = 'Nothing.'")
    async with asking(service, await person(service, "owner", "Olga Owner")) as owner:
        entries = (await owner.get("/v1/audit-log")).json()["items"]
        await owner.delete(f"/v1/evaluations/{job}?erase=true")
    told = [one for one in entries if one["act"] == "remark added"]
    assert [(one["about"], one["content"]["text"]) for one in told] == [
        (job, "Look at the budget."),
        (job, "It was corrected."),
    ]
    assert await service.database.fetch("SELECT FROM remarks") == []


async def test_machines_and_strangers_see_no_remarks(service: Service) -> None:
    job = await reported(service)
    async with service.caller() as machine:
        assert (await machine.get(f"/v1/evaluations/{job}/remarks")).status_code == 403
    async with asking(service, await person(service, "officer", tenant=OTHER)) as stranger:
        assert (await stranger.get(f"/v1/evaluations/{job}/remarks")).status_code == 404
        told = await stranger.post(f"/v1/evaluations/{job}/remarks", json={"text": "Hello."})
        assert told.status_code == 404


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
async def test_an_officer_goes_from_claim_to_source_and_back_with_keys(
    service: Service, tmp_path: Path, width: int, scheme: str
) -> None:
    job = await reported(service)
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
        await page.keyboard.type((await person(service, "officer")).key)
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="What the program found").wait_for()
        await page.locator("#claim-1").get_by_role("link", name="P2").first.press("Enter")
        await page.wait_for_url("**#source-P2")
        assert await page.locator("#source-P2").evaluate("one => one.matches(':target')")
        await page.keyboard.press("Tab")
        await page.locator("#source-P2").get_by_role("link", name="claim 1", exact=True).press("Enter")
        await page.wait_for_url("**#claim-1")
        await page.locator("#source-P2").get_by_role("link", name="claim 5", exact=True).press("Enter")
        await page.locator("details.folded #claim-5").wait_for(state="visible")
        await page.get_by_label("Add a remark").press_sequentially("Look at the budget.")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.locator(".remark").wait_for()
        assert await page.locator(".remark .words").inner_text() == "Look at the budget."
        await _look(page, page.url.partition("#")[0], tmp_path, "proposal", width)
        await browser.close()
    assert complaints == []
