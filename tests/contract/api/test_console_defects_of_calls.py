"""Defects that a programme officer met while a call was put together, judged and signed off, each played in
Chromium."""

from pathlib import Path

import pytest
from playwright.async_api import Dialog, Page

from tests.contract.api.browsing import Look, look_over, open_console
from tests.contract.api.evaluated_calls import evaluate_call, evaluate_call_of_six
from tests.contract.api.people import Person, call_of
from tests.contract.api.ranking_jobs import rank_call
from tests.contract.api.reported_evaluations import finish_with_report
from tests.contract.api.service import TEXT, Service
from tests.contract.pdf_files import build_drawn_pdf
from tests.unit.batch_bodies import WORDS
from tests.unit.evidence_reports import make_evidence_report

_SCREEN = Look(1280, "light")


async def _leave(page: Page, script: str) -> Dialog:
    """Leave the page by a script, and return the question that the browser asks; the answer is to stay."""
    async with page.expect_event("dialog") as dialog_event:
        await page.evaluate(f"setTimeout(() => {script})")
    dialog: Dialog = await dialog_event.value
    await dialog.dismiss()
    return dialog


async def test_new_call_warns_before_files_are_lost_and_lists_unopened_files(
    service: Service, officer: Person, tmp_path: Path
) -> None:
    plan, scan, thin = (tmp_path / name for name in ("plan.md", "scan.pdf", "thin.txt"))
    plan.write_text(f'---\ntitle: "Scoring plans"\n---\n\n## Problem\n\n{TEXT}\n', "utf-8")
    scan.write_bytes(build_drawn_pdf("A plan"))
    thin.write_text("x x x x", "utf-8")
    async with open_console(service, officer.key, _SCREEN) as (page, url):
        page.on("dialog", lambda _: None)
        await page.goto(f"{url}/console/calls/new")
        await page.get_by_label("Name", exact=True).fill("Spring")
        await page.get_by_label("Files", exact=True).set_input_files([plan, scan, thin])
        assert (await _leave(page, "location.reload()")).type == "beforeunload"
        await page.get_by_text("3 files").wait_for()
        await page.get_by_role("button", name="Check and estimate").click()
        await page.get_by_text("2 proposals can be evaluated").wait_for()
        await page.get_by_text("1 document is opened only when the evaluation starts.").wait_for()
        await page.get_by_text("that is too short to be judged").wait_for()
        await page.get_by_role("button", name="Submit").click()
        await page.get_by_role("link", name="Follow the call").click()
        await page.get_by_role("link", name="Scoring plans", exact=True).wait_for()
        assert await page.get_by_text("--- title").count() == 0


async def test_fixed_row_no_longer_needs_attention(service: Service, officer: Person) -> None:
    table = f'title,text\nOne,"{TEXT} one"\nTwo,\nThree,\n'
    answer = await officer.post("/v1/batches?name=Spring", files=[("file", ("call.csv", table.encode()))])
    batch = answer.json()["id"]
    async with open_console(service, officer.key, _SCREEN, is_refused=True) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}")
        await page.get_by_role("heading", name="2 rows need attention").wait_for()
        await page.get_by_role("link", name="Fix and add to this call").click()
        await page.get_by_text("Fix call.csv:2").click()
        await page.get_by_label("Or its text").first.fill("x x x x")
        await page.get_by_role("button", name="Check and estimate").click()
        await page.get_by_text("Fix call.csv:2.txt").click()
        await page.get_by_label("Or its text").first.fill(f"{TEXT} two")
        await page.get_by_role("button", name="Submit").click()
        await page.get_by_role("heading", name="1 proposal submitted").wait_for()
        await page.get_by_role("link", name="Follow the call").click()
        await page.get_by_role("heading", name="1 row needs attention").wait_for()
        await page.get_by_role("heading", name="2 proposals", exact=True).wait_for()
    summary = (await officer.get(f"/v1/batches/{batch}")).json()
    assert (summary["rows"], summary["rejected"], [row["row"] for row in summary["rejected_rows"]]) == (3, 1, [3])


async def test_running_call_states_that_the_service_cannot_be_reached(service: Service) -> None:
    batch, _ = await call_of(service, "# One", "# Two")
    async with open_console(service, await service.create_key(), _SCREEN, is_refused=True) as (page, url):
        await page.route("**/events", lambda route: route.abort())
        await page.goto(f"{url}/console/calls/{batch}")
        await page.get_by_text("The service has been unreachable since").wait_for()
        await page.get_by_text("These figures may be out of date.").wait_for()


async def test_rankings_of_a_call_name_those_that_hold_proposals_of_others(service: Service) -> None:
    six = await evaluate_call_of_six(service)
    texts = {f"{number}.txt": f"Idea of worth {number}. {WORDS}" for number in (1, 2)}
    two = await evaluate_call(service, texts | {"9.txt": f"Idea of its own. {WORDS}"})
    await rank_call(service, six)
    async with open_console(service, await service.create_key(), _SCREEN) as (page, url):
        await page.goto(f"{url}/console/calls/{two}/rankings")
        await page.get_by_text("Not limited to this call: 2 of its 6 proposals are in this call.").wait_for()
        await page.goto(f"{url}/console/calls/{six}/rankings")
        await page.locator(".cards h2 a").wait_for()
        assert await page.get_by_text("Not limited to this call").count() == 0


async def test_report_without_a_model_states_no_strengths_and_no_prompts(service: Service) -> None:
    _, (first,) = await call_of(service, "# Reefs")
    await finish_with_report(service, await service.lease_next(), await make_evidence_report())
    async with open_console(service, await service.create_key(), _SCREEN) as (page, url):
        await page.goto(f"{url}/console/proposals/{first}")
        await page.get_by_text("No language model").first.wait_for()
        assert await page.get_by_role("heading", name="Strengths").count() == 0
        assert await page.get_by_role("heading", name="Weaknesses").count() == 0
        await look_over(page, "proposal-without-model", _SCREEN)
        await page.get_by_role("link", name="Explanation for the applicant").click()
        await page.get_by_text("No language model: the program compared texts").wait_for()
        assert await page.get_by_text("Which prompts were used").count() == 0


@pytest.mark.slow  # each step has a quicker test: tags, tabs, sign-off and dossier of the API, and the empty queue
async def test_officer_takes_a_call_of_a_table_to_its_end(
    service: Service, owner: Person, officer: Person, ada: Person
) -> None:
    """Own columns, a repeated text, two tabs, a refused sign-off, the dossier and the reviewer's empty queue."""
    rows = (f'A-{n},Rehearsal {n},"{WORDS} {text}",Ada Verne,Yale University,"120,000"' for n, text in enumerate("112"))
    table = "id,title,text,applicant,institution,budget_usd\n" + "\n".join(rows)
    answer = await officer.post("/v1/batches?name=Spring", files=[("file", ("call.csv", table.encode()))])
    batch = answer.json()["id"]
    for _ in range(3):
        await finish_with_report(service, await service.lease_next(), await make_evidence_report())
    assigned = await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    assert assigned.status_code == 200, assigned.text
    path = f"/console/calls/{batch}"
    async with open_console(service, owner.key, _SCREEN, is_refused=True) as (page, url):
        await page.goto(url + path)
        await page.get_by_text("Ada Verne, Yale University").first.wait_for()
        await page.get_by_text("same text as").first.wait_for()
        other_page = await page.context.new_page()
        for tab in (page, other_page):
            await tab.goto(f"{url}{path}/terms")
        for tab, tags in ((page, "memory"), (other_page, "metals")):
            await tab.get_by_label("Tags").first.fill(tags)
            await tab.get_by_role("button", name="Save").first.click()
            await tab.wait_for_load_state()
        await other_page.get_by_role("alert").first.wait_for()
        await page.goto(f"{url}{path}/panel")
        await page.locator("#sign-off").scroll_into_view_if_needed()
        await page.get_by_role("button", name="Sign off").click()
        refusal = page.get_by_role("alert").filter(has_text="3 assigned opinions are missing")
        assert "despite" not in await refusal.inner_text()
        await page.get_by_label("Although 3 reviews are missing").check()
        await page.get_by_role("button", name="Sign off").click()
        await page.get_by_text("Signed off").first.wait_for()
        await page.goto(url + path)
        await page.get_by_text("Export …").click()
        dossier = await page.get_by_role("link", name="Dossier (PDF)").get_attribute("href")
        assert (await page.request.get(f"{url}{dossier}")).headers["content-type"] == "application/pdf"
    assert (await officer.get(f"/v1/batches/{batch}")).json()["tags"] == ["memory"]
    async with open_console(service, ada.key, _SCREEN) as (page, url):
        await page.goto(f"{url}/console/queue")
        assert await page.get_by_role("link", name="Rehearsal").count() == 0
