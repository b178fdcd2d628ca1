"""What an applicant is given who contests: as JSON, as PDF and as a page, and nothing of what reviewers think."""

import hashlib
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from assayer.reports.contestation import Contestation, contestation_of
from tests.chromium import launch_options
from tests.contract.api.commands import Program
from tests.contract.api.people import asking, person
from tests.contract.api.service import OTHER, Service, served
from tests.contract.api.test_console_tables import _look
from tests.contract.api.test_printed import text_of
from tests.contract.api.test_proposal_page import reported
from tests.unit.reports_fixture import full_report


def test_it_names_what_was_judged_by_a_digest_that_can_be_checked() -> None:
    report = full_report()
    what = contestation_of(report, "ev_1")
    assert what.text_sha256 == hashlib.sha256(report.idea.text.encode()).hexdigest()
    assert what.prompts == report.provenance.prompts
    assert what.blinding == report.idea.blinding
    assert [one.label for one in what.papers] == [one.label for one in report.references]


async def test_it_comes_as_json_and_as_pdf(service: Service) -> None:
    job, report = await reported(service), full_report()
    async with service.caller() as owner:
        told = (await owner.get(f"/v1/evaluations/{job}/contestation")).json()
        pdf = await owner.get(f"/v1/evaluations/{job}/contestation?format=pdf")
        await owner.post(f"/v1/evaluations/{job}/override", json={"score": 1, "reason": "No."})
    assert told["evaluation"] == job
    assert told["corpus_version"] == report.provenance.corpus_version
    assert [one["digest"] for one in told["prompts"]] == [one.digest for one in report.provenance.prompts]
    text = text_of(pdf.content)
    for prompt in report.provenance.prompts:
        assert f"version {prompt.version}" in text
    assert report.references[0].title in text
    assert "What was masked" in text


async def test_only_who_sees_calls_gets_it(service: Service) -> None:
    job = await reported(service)
    async with asking(service, await person(service, "reviewer")) as reviewer:
        assert (await reviewer.get(f"/v1/evaluations/{job}/contestation")).status_code == 403
    async with service.caller(tenant=OTHER) as stranger:
        assert (await stranger.get(f"/v1/evaluations/{job}/contestation")).status_code == 404


async def test_the_command_saves_it(service: Service, tmp_path: Path) -> None:
    job = await reported(service)
    async with served(service.app) as url:
        saved = await Program(url, await service.key("read"), tmp_path).run("contestation", job)
    assert saved.code == 0, saved.err
    pdf, told = [tmp_path / line for line in saved.out.split()]
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert Contestation.model_validate_json(told.read_text("utf-8")).title == full_report().idea.title


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
async def test_an_officer_opens_it_from_the_proposal(service: Service, tmp_path: Path, width: int, scheme: str) -> None:
    job = await reported(service)
    complaints: list[str] = []
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page = await context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        await page.goto(f"{url}/console/proposals/{job}")
        await page.locator("input:focus").wait_for()
        await page.keyboard.type((await person(service, "officer")).key)
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="For an applicant who contests it").press("Enter")
        await page.get_by_role("heading", name="Which prompts").wait_for()
        await _look(page, page.url, tmp_path, "contestation", width)
        await browser.close()
    assert complaints == []
