"""Documents as applicants submitted them: kept, shown beside their text, downloaded safely, and deleted."""

import datetime as dt

import pytest

from orchestrator.jobs.models import TenantPlan
from tests.contract.api.browsing import EACH_LOOK, Look, look_over, open_console
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import Person, add_person
from tests.contract.api.reported_evaluations import finish_with_report
from tests.contract.api.service import ACME, OTHER, Service
from tests.contract.office_files import word
from tests.contract.pdf_files import pdf
from tests.contract.store_records import report

_PAGES = ("We rehearse what is overwritten.", "The second page.", "The third.", "The fourth, loaded later.")
_PLAN = pdf(*([("F1", 12.0, text)] for text in _PAGES))


async def _call(service: Service, officer: Person, *, blind: bool, name: str = "plan.pdf", data: bytes = _PLAN) -> str:
    """Return the evaluation of a document that has a report and a reviewer."""
    answer = await officer.post(f"/v1/batches?name=Spring&blind={blind}", files=[("file", (name, data))])
    assert answer.status_code == 202, answer.text
    batch = answer.json()["id"]
    await finish_with_report(service, await service.lease_next(), report())
    await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    return str((await officer.get(f"/v1/batches/{batch}/evaluations")).json()["items"][0]["id"])


@EACH_LOOK
async def test_reviewer_reads_the_original_beside_the_form(
    service: Service, officer: Person, ada: Person, look: Look
) -> None:
    first = await _call(service, officer, blind=False)
    async with open_console(service, ada.key, look) as (page, url):
        await page.goto(f"{url}/console/review/{first}")
        await page.get_by_alt_text("Page 1 of 4").wait_for()
        width = await page.get_by_alt_text("Page 1 of 4").evaluate("one => one.naturalWidth")
        assert width == 1_000, "the page is a picture"
        await page.get_by_alt_text("Page 3 of 4").scroll_into_view_if_needed()
        await page.get_by_text("Page 4 of 4 is being rendered").scroll_into_view_if_needed()
        await page.get_by_alt_text("Page 4 of 4").wait_for()
        await page.get_by_text("Text extracted from the document").click()
        await look_over(page, "review-original", look)
        async with page.expect_download() as loading:
            await page.get_by_role("link", name="Download plan.pdf").click()
        assert (await loading.value).suggested_filename == "plan.pdf"


async def test_officer_opens_the_original_of_a_masked_proposal_and_reviewers_cannot(
    service: Service, officer: Person, ada: Person
) -> None:
    first = await _call(service, officer, blind=True)
    async with open_console(service, officer.key, Look(1280, "light")) as (page, url):
        await page.goto(f"{url}/console/proposals/{first}")
        assert await page.get_by_alt_text("Page 1 of 4").count() == 0, "pages are rendered only when asked for"
        await page.get_by_text("Submitted document", exact=True).click()
        await page.get_by_alt_text("Page 1 of 4").wait_for()
    async with open_session(service, ada.key) as browser:
        assert "Submitted document" not in (await browser.get(f"/console/review/{first}")).text
        for path in ("", "/pages"):
            answer = await browser.get(f"/console/review/{first}/original{path}")
            assert answer.status_code == 403
            assert "masked" in answer.text


@pytest.mark.parametrize(
    ("name", "data", "media_type", "saved"),
    [
        ("plan.pdf", _PLAN, "application/pdf", "plan.pdf"),
        ("plan ä.html", b"<script>alert(1)</script><p>We plan.</p>", "application/octet-stream", "plan%20%C3%A4.html"),
        ("a.docx", word("<w:p/>"), "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a.docx"),
    ],
)
async def test_download_is_never_interpreted_by_a_browser(
    service: Service, officer: Person, name: str, data: bytes, media_type: str, saved: str
) -> None:
    first = await _call(service, officer, blind=False, name=name, data=data)
    async with open_session(service, officer.key) as browser:
        answer = await browser.get(f"/console/proposals/{first}/original")
        assert answer.content == data
        page_answer = await browser.get(f"/console/proposals/{first}/original/pages?first=1")
    assert answer.headers["content-type"] == media_type
    assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''{saved}"
    assert answer.headers["content-security-policy"].endswith("sandbox")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert ("data:image/png" in page_answer.text) == name.endswith(".pdf")
    actions = [entry.action for entry in await service.services.audit_log.list_entries(ACME)]
    assert actions[-1] == "exported"


async def test_original_is_refused_to_strangers_and_other_reviewers(service: Service, officer: Person) -> None:
    first = await _call(service, officer, blind=False)
    carl = await add_person(service, "reviewer", "Carl Cox")
    async with open_session(service, carl.key) as browser:
        assert (await browser.get(f"/console/review/{first}/original")).status_code == 404
    async with open_session(service, (await add_person(service, "owner", "Olga Owner", tenant=OTHER)).key) as browser:
        for path in ("original", "original/pages"):
            assert (await browser.get(f"/console/proposals/{first}/{path}")).status_code == 404
    async with service.open_client(url=None) as browser:
        assert (await browser.get(f"/console/proposals/{first}/original")).status_code == 303


@pytest.mark.parametrize("kind", ["erased", "retention"])
async def test_original_is_deleted_with_its_evaluation(
    service: Service, owner: Person, officer: Person, kind: str
) -> None:
    first = await _call(service, officer, blind=False)
    if kind == "erased":
        assert (await owner.delete(f"/v1/evaluations/{first}?erase=true")).status_code == 204
    else:
        await service.services.tenants.update(ACME, TenantPlan(name="acme", retention_days=7))
        past = dt.datetime.now(dt.UTC) - dt.timedelta(days=8)
        await service.database.execute("UPDATE jobs SET created_at = $1, finished_at = $1", past)
        assert await service.services.jobs.purge(dt.datetime.now(dt.UTC)) == 1
    async with open_session(service, officer.key) as browser:
        assert (await browser.get(f"/console/proposals/{first}/original")).status_code in (404, 410)
    assert await service.database.fetch("SELECT FROM jobs WHERE document IS NOT NULL") == []
