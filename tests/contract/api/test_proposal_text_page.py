"""A proposal's text beside its report: read as Markdown, on the officer's and on the reviewer's page, and inert."""

import pytest

from tests.contract.api.browsing import Look, look_over, open_console
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import add_person, call_of
from tests.contract.api.reported_evaluations import finish_with_report
from tests.contract.api.service import Service
from tests.unit.reports_fixture import make_full_report

TEXT = """# Research Plan

## Problem
Small language models that are fine-tuned on one domain after another forget the earlier ones. Rehearsal
helps, but nobody knows which past examples to rehearse when the store is larger than memory.

- predict what is *overwritten*, for $x^{*}$ and $y^{*}$
- rehearse it: [here](https://elsewhere.example/) ![beacon](https://elsewhere.example/beacon.png)

<img src="https://elsewhere.example/other.png" onerror="document.title = 'taken'">
<script>document.title = 'taken'</script>
"""


async def _store_report(service: Service, text: str) -> tuple[str, str]:
    """A call, and its evaluation, whose report is of this text and has every field in use."""
    batch, (job,) = await call_of(service, text)
    report = make_full_report()
    report = report.model_copy(update={"idea": report.idea.model_copy(update={"text": text})})
    await finish_with_report(service, await service.lease_next(), report)
    return batch, job


@pytest.mark.parametrize(
    "look", [pytest.param(Look(390, "dark"), marks=pytest.mark.slow), Look(1280, "light")], ids=str
)
async def test_proposal_markdown_is_rendered_without_running_or_fetching_content(service: Service, look: Look) -> None:
    batch, job = await _store_report(service, TEXT)
    officer = await add_person(service, "officer", "Otto Officer")
    requested_urls: list[str] = []
    async with open_console(service, officer.key, look) as (page, url):
        page.on("request", lambda request: requested_urls.append(request.url))
        await page.goto(f"{url}/console/proposals/{job}")
        told = page.locator(".told")
        assert await told.get_by_role("heading", name="Research Plan", level=3).count() == 1
        assert await told.locator("li").count() == 2
        assert await told.locator("a, img, script, br").count() == 0
        assert "y^{*}" in await told.inner_text()
        assert "<script>" in await told.inner_text()
        assert "taken" not in await page.title()
        await look_over(page, "proposal-text", look)
    assert [item for item in requested_urls if "elsewhere" in item] == []
    reviewer = await add_person(service, "reviewer")
    await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    async with open_session(service, reviewer.key) as reads:
        page_text = (await reads.get(f"/console/review/{job}")).text
    assert "<h3>Research Plan</h3>" in page_text
    assert "&lt;img src=" in page_text
