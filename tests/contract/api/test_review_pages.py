"""The reviewer's pages and the panel: played through in a browser, and refused to whom they are not for."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import async_playwright

from tests.chromium import launch_options
from tests.contract.api.people import Person, asking, call_of, person
from tests.contract.api.service import Service, served
from tests.contract.test_report_page import CONTRASTS


@asynccontextmanager
async def signed_in(service: Service, who: Person) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=service.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://api") as browser:
        answer = await browser.post("/console/sign-in", data={"key": who.key}, headers={"Origin": "http://api"})
        assert answer.status_code == 303
        yield browser


async def _assigned(service: Service, *texts: str) -> tuple[Person, str, list[str]]:
    """A reviewer, a call, and its evaluations, all assigned to them."""
    officer, ada = await person(service, "officer", "Otto Officer"), await person(service, "reviewer")
    batch, evaluations = await call_of(service, *texts)
    async with asking(service, officer) as officers:
        await officers.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    return ada, batch, evaluations


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
async def test_a_reviewer_gives_an_opinion_reads_the_report_and_revises(
    service: Service, tmp_path: Path, width: int, scheme: str
) -> None:
    ada, _, (first, _) = await _assigned(service, "# Rehearsal\n\n<script>alert(1)</script>", "# Second")
    await service.finish()
    complaints: list[str] = []
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page = await context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(f"{url}/console")
        await page.locator("input:focus").wait_for()
        await page.keyboard.type(ada.key)
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Your queue").wait_for()
        assert "2 of 2 wait" in await page.inner_text("main")
        await page.get_by_role("link", name="Ore").click()
        assert await page.get_by_role("link", name="report").count() == 0
        await page.screenshot(path=tmp_path / f"review-{width}-{scheme}.png", full_page=True)
        await page.get_by_label("4", exact=True).check()
        await page.get_by_label("Why").fill("Sound, and cheap.")
        await page.get_by_role("button", name="Give first opinion").press("Enter")
        await page.get_by_role("link", name="Read the program's report").click()
        assert page.url == f"{url}/v1/evaluations/{first}/report"
        await page.go_back()
        await page.get_by_label("2", exact=True).check()
        await page.get_by_role("button", name="Revise").click()
        assert "First opinion, which stays: 4 of 5" in await page.inner_text("main")
        assert await page.get_by_label("2", exact=True).is_checked()
        assert await page.evaluate(CONTRASTS) == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        await page.screenshot(path=tmp_path / f"revised-{width}-{scheme}.png", full_page=True)
        await page.get_by_role("button", name="Sign out").click()
        await page.get_by_label("API key").wait_for()
        assert complaints == []
        await browser.close()


async def test_officers_see_the_panel(service: Service) -> None:
    ada, batch, (first, _) = await _assigned(service, "# One", "# Two")
    async with asking(service, ada) as reviewer:
        await reviewer.post(f"/v1/evaluations/{first}/opinions", json={"score": 4})
    async with signed_in(service, await person(service, "auditor", "Eva Auditor")) as browser:
        home = await browser.get("/console")
        assert f'href="/console/calls/{batch}"' in home.text
        shown = await browser.get(f"/console/calls/{batch}/panel")
    assert "Ada Byron: 4" in shown.text
    assert "1 of 2" in shown.text
    assert 'data-label="To come">1<' in shown.text


async def test_a_conflict_takes_a_proposal_off_the_queue(service: Service) -> None:
    ada, _, (first, second) = await _assigned(service, "# One", "# Two")
    async with signed_in(service, ada) as browser:
        token = (await browser.get(f"/console/review/{first}")).text.partition('name="csrf_token" value="')[2][:64]
        body, origin = {"csrf_token": token, "reason": "a former student"}, {"Origin": "http://api"}
        gone = await browser.post(f"/console/review/{first}/conflict", data=body, headers=origin)
        assert (gone.status_code, gone.headers["location"]) == (303, "/console/queue")
        queue = (await browser.get("/console/queue")).text
        assert first not in queue
        assert second in queue
        assert (await browser.get(f"/console/review/{first}")).status_code == 404
        without = await browser.post(f"/console/review/{second}/opinion", data={"score": "3"}, headers=origin)
        assert without.status_code == 403
