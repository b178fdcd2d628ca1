"""The console in a real browser, over the real application: what a person does with it."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.async_api import Page, async_playwright

from orchestrator.api.routes.console import console_page
from orchestrator.jobs.models import Problem
from tests.chromium import launch_options
from tests.contract.api.service import BODY, OTHER, TEXT, Service, served


class Opened(NamedTuple):
    page: Page
    url: str
    complaints: list[str]
    """Errors of the page, violations of its policy among them."""
    elsewhere: list[str]
    """Requests to anywhere but the service."""


@pytest.fixture
async def opened(service: Service) -> AsyncIterator[Opened]:
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        page = await browser.new_page()
        opened = Opened(page, url, [], [])
        page.on("console", lambda message: opened.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        page.on("dialog", lambda dialog: opened.complaints.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda asked: (
                None if asked.url.startswith((url, "data:", "about:")) else opened.elsewhere.append(asked.url)
            ),
        )
        await page.goto(f"{url}/")
        yield opened
        await browser.close()


def _leaves(asked: str, url: str) -> bool:
    return not asked.startswith((url, "data:", "about:"))


async def _enter(opened: Opened, key: str) -> None:
    await opened.page.get_by_label("API key").fill(key)
    await opened.page.keyboard.press("Enter")
    await opened.page.get_by_role("heading", name="Submit ideas").wait_for()


async def _asked(service: Service, **changes: object) -> None:
    async with service.caller() as caller:
        answer = await caller.post("/v1/evaluations", json=BODY | changes)
        assert answer.status_code == 202, answer.text


async def test_page_allows_its_own_script_and_style_and_nothing_from_elsewhere(service: Service) -> None:
    async with service.client() as anybody:
        answer = await anybody.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.text == console_page().html
    assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")


async def test_wrong_key_is_refused_in_words_and_forgotten(opened: Opened) -> None:
    await opened.page.get_by_label("API key").fill("ak_0000000000000000_" + "x" * 43)
    await opened.page.keyboard.press("Enter")
    alarm = opened.page.get_by_role("alert")
    await alarm.wait_for()
    assert "key" in (await alarm.inner_text()).lower()
    assert await opened.page.evaluate("sessionStorage.length + localStorage.length") == 0


async def test_report_is_read_in_a_frame_that_runs_nothing(opened: Opened, service: Service) -> None:
    await _asked(service)
    await service.finish()
    await _enter(opened, await service.key())
    await opened.page.get_by_role("button", name="Read the report on Rehearsal by risk").click()
    frame = opened.page.locator("#reader-page")
    await frame.content_frame.locator("h1").wait_for()
    sandbox = await frame.get_attribute("sandbox")
    assert sandbox is not None
    assert "allow-scripts" not in sandbox
    await opened.page.keyboard.press("Escape")
    assert await opened.page.locator("#reader").is_hidden()
    assert opened.complaints == []
    assert opened.elsewhere == []


async def test_files_are_handed_in_and_the_refused_one_is_named(
    opened: Opened, service: Service, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.pdf"
    await asyncio.to_thread(good.write_text, TEXT)
    await asyncio.to_thread(bad.write_text, "no PDF at all")
    await _enter(opened, await service.key())
    await opened.page.locator("#files").set_input_files([good, bad])
    await opened.page.get_by_label("Batch name").fill("Autumn call")
    await opened.page.get_by_role("button", name="Submit").click()
    told = opened.page.locator("#submission-result")
    await told.get_by_text("1 idea accepted").wait_for()
    assert "bad.pdf" in await told.inner_text()
    await opened.page.locator("#batches .title", has_text="Autumn call").wait_for()


async def test_usage_is_asked_for_now_and_then_and_when_something_was_submitted(
    opened: Opened, service: Service
) -> None:
    asked: list[str] = []
    opened.page.on("request", lambda request: asked.append(request.url.removeprefix(opened.url)))
    await opened.page.clock.install()
    await opened.page.reload()
    await _enter(opened, await service.key())

    for _ in range(4):
        async with opened.page.expect_response(lambda answer: "/v1/batches" in answer.url):
            await opened.page.clock.run_for(3_000)
    assert asked.count("/v1/usage") == 1

    await opened.page.get_by_text("Or type in one idea").click()
    await opened.page.get_by_label("The idea").fill(TEXT)
    await opened.page.get_by_role("button", name="Submit").click()
    await opened.page.locator("#figures", has_text="1queued").wait_for()
    assert asked.count("/v1/usage") == 2


async def test_stages_are_seen_while_they_happen_and_cancelling_ends_them(opened: Opened, service: Service) -> None:
    await _asked(service)
    lease = await service.lease()
    await _enter(opened, await service.key())
    await opened.page.get_by_role("button", name="Progress of Rehearsal by risk").click()
    told = {"stages": [{"stage": "soundness", "done": 2, "total": 5}]}
    assert await service.services.events.append(lease.job, "progress", told, lease.token)
    await opened.page.get_by_text("2 of 5").wait_for()
    await opened.page.get_by_role("button", name="Cancel Rehearsal by risk").click()
    await opened.page.locator("#jobs .badge.cancelled").wait_for()
    await opened.page.locator("#jobs .small-chart").wait_for()
    assert opened.complaints == []


async def test_words_of_ideas_and_problems_are_never_markup(opened: Opened, service: Service) -> None:
    hostile = "<img src=http://127.0.0.1:1/x onerror=alert(1)><script>alert(2)</script>"
    await _asked(service, idea={"title": hostile, "text": TEXT})
    await service.finish(Problem(type="x", title=hostile, detail=hostile))
    await _enter(opened, await service.key())
    await opened.page.locator("#jobs .problem").wait_for()
    assert hostile in await opened.page.locator("#jobs .title").inner_text()
    assert await opened.page.locator("#jobs img, #jobs script").count() == 0
    assert opened.complaints == []
    assert opened.elsewhere == []


async def test_tenant_sees_its_own_alone(opened: Opened, service: Service) -> None:
    await _asked(service)
    await _enter(opened, await service.key(tenant=OTHER))
    await opened.page.get_by_text("No evaluations yet.").wait_for()
    assert "Rehearsal" not in await opened.page.content()


@pytest.mark.parametrize("width", [320, 768, 1280])
async def test_page_of_any_width_scrolls_one_way_only(opened: Opened, service: Service, width: int) -> None:
    rows = "\n".join(json.dumps({"title": f"An idea {'long' * 30} {n}", "text": f"{TEXT} {n}"}) for n in range(3))
    async with service.caller() as caller:
        headers = {"Content-Type": "application/jsonl"}
        assert (await caller.post("/v1/batches?name=Call", content=rows, headers=headers)).status_code == 202
    await opened.page.set_viewport_size({"width": width, "height": 800})
    await _enter(opened, await service.key())
    await opened.page.locator("#jobs > li").first.wait_for()
    assert await opened.page.evaluate("document.documentElement.scrollWidth") <= width
