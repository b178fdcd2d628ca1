"""A proposal's text beside its report: read as Markdown, on the officer's and on the reviewer's page, and inert."""

import pytest
from pypdfium2 import PdfDocument

from assayer.models import EvaluationId
from orchestrator.jobs.models import JobVerdict
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases, PgReports
from tests.contract.api.browsing import SCREENSHOTS, Look, at_the_console, look_over
from tests.contract.api.people import asking, call_of, person
from tests.contract.api.service import Service
from tests.contract.api.test_review_pages import signed_in
from tests.unit.reports_fixture import full_report

TEXT = """# Research Plan

## Problem
Small language models that are fine-tuned on one domain after another forget the earlier ones. Rehearsal
helps, but nobody knows which past examples to rehearse when the store is larger than memory.

- predict what is *overwritten*, for $x^{*}$ and $y^{*}$
- rehearse it: [here](https://elsewhere.example/) ![beacon](https://elsewhere.example/beacon.png)

<img src="https://elsewhere.example/other.png" onerror="document.title = 'taken'">
<script>document.title = 'taken'</script>
"""


async def _reported(service: Service, text: str) -> tuple[str, str]:
    """A call, and its evaluation, whose report is of this text and has every field in use."""
    batch, (job,) = await call_of(service, text)
    lease = await service.lease()
    run = EvaluationId(f"run_{lease.job}")
    report = full_report()
    report = report.model_copy(update={"evaluation_id": run, "idea": report.idea.model_copy(update={"text": text})})
    leases = PgLeases(service.database, QueueSettings())
    assert await leases.record_run(lease, run, {})
    await PgReports(service.database).keep(report, [], {})
    assert await leases.finish(lease, JobVerdict(state="done", run_id=run, cost_usd=0.25))
    return batch, job


@pytest.mark.parametrize("look", [Look(390, "dark"), Look(1280, "light")], ids=str)
async def test_a_proposals_markdown_is_read_and_nothing_of_it_runs_or_is_fetched(service: Service, look: Look) -> None:
    batch, job = await _reported(service, TEXT)
    officer = await person(service, "officer", "Otto Officer")
    asked: list[str] = []
    async with at_the_console(service, officer.key, look) as (page, url):
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(f"{url}/console/proposals/{job}")
        told = page.locator(".told")
        assert await told.get_by_role("heading", name="Research Plan", level=3).count() == 1
        assert await told.locator("li").count() == 2
        assert await told.locator("a, img, script, br").count() == 0
        assert "y^{*}" in await told.inner_text()
        assert "<script>" in await told.inner_text()
        assert "taken" not in await page.title()
        await look_over(page, "proposal-text", look)
    assert [one for one in asked if "elsewhere" in one] == []
    reviewer = await person(service, "reviewer")
    async with asking(service, officer) as asks:
        await asks.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    async with signed_in(service, reviewer) as reads:
        shown = (await reads.get(f"/console/review/{job}")).text
    assert "<h3>Research Plan</h3>" in shown
    assert "&lt;img src=" in shown


async def test_on_paper_the_findings_come_first_and_the_text_last_and_nothing_is_unfolded(service: Service) -> None:
    _, job = await _reported(
        service, TEXT + "\n\n".join(f"Sentence {place} of a long plan. " * 20 for place in range(20))
    )
    officer = await person(service, "officer", "Otto Officer")
    async with at_the_console(service, officer.key, Look(1280, "light")) as (page, url):
        await page.goto(f"{url}/console/proposals/{job}")
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        paper = PdfDocument(await page.pdf(format="A4", path=SCREENSHOTS / "proposal-paper.pdf"))
    pages = [paper[place].get_textpage().get_text_bounded() for place in range(len(paper))]
    whole = "\n".join(pages)
    assert "What the program found" in pages[0]
    order = ["What the program found", "Sources", "Opinions", "Remarks", "The proposal", "Research Plan"]
    assert [whole.count(one) for one in order] == [1] * len(order)
    assert [whole.index(one) for one in order] == sorted(whole.index(one) for one in order)
    for unprinted in ("Add a remark", "All claims on", "Set the score", "Whole report", "Sign out"):
        assert unprinted not in whole
    assert len(pages) <= 5
