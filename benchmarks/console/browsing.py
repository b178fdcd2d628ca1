"""Pages of a large call in Chromium: time until they are visible, and time that the server takes."""

import os
import shutil
import statistics
import time
from collections.abc import Awaitable, Callable

from playwright.async_api import Page, async_playwright

from benchmarks.console.large_ranking import RANKING

_TIMING = """
() => new Promise(done => {
  const answer = () => {
    const navigation = performance.getEntriesByType("navigation")[0];
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    if (!paint || !navigation.loadEventEnd) return setTimeout(answer, 5);
    done([navigation.responseEnd - navigation.requestStart, paint.startTime]);
  };
  answer();
})
"""
"""Milliseconds from the request to the end of the response, and from the start to the first paint."""


async def time_pages(address: str, key: str, batch: str, repetitions: int) -> None:
    page_url = f"{address}/console/calls/{batch}"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"), chromium_sandbox=os.geteuid() != 0
        )
        page = await browser.new_page(viewport={"width": 1280, "height": 900})
        await page.goto(f"{address}/console")
        await page.get_by_label("API key").fill(key)
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Funding calls").wait_for()

        async def sort() -> None:
            await page.get_by_role("link", name="Report score").click()
            await page.locator("th[aria-sort]", has_text="Score").wait_for()

        async def filter() -> None:
            await page.get_by_label("poor", exact=True).check()
            await page.wait_for_url("**fit=poor**")

        async def search() -> None:
            await page.get_by_label("Search titles").fill("Proposal 4711")
            await page.get_by_role("heading", name="1 proposal", exact=True).wait_for()

        print(
            f"\nIn Chromium, {repetitions} times each: milliseconds until the response ends, then until it is visible",
            flush=True,
        )
        await _time_opening(page, "first paint of the table", page_url, repetitions)
        await _time_opening(page, "last page of the table", f"{page_url}?page=100", repetitions)
        await _time_opening(page, "open a proposal", f"{address}/console/proposals/ev_7", repetitions)
        await _time_opening(page, "open the plots", f"{page_url}/plots", repetitions)
        await _time_opening(page, "plots with a ranking", f"{page_url}/plots?ranking={RANKING}", repetitions)
        await _time_opening(page, "table by rank", f"{page_url}?ranking={RANKING}&sort=rank", repetitions)
        await _time_opening(
            page, "table of one band", f"{page_url}?ranking={RANKING}&sort=rank&band=human", repetitions
        )
        await _time_opening(page, "the ranking", f"{page_url}/rankings/{RANKING}", repetitions)
        await _time_opening(page, "the ranking cut elsewhere", f"{page_url}/rankings/{RANKING}?cut=700", repetitions)
        await _time_opening(page, "rankings of the call", f"{page_url}/rankings", repetitions)
        await _time_opening(page, "compare two", f"{address}/console/compare?id=ev_7&id=ev_8", repetitions)
        await _time_opening(page, "who reviews what", f"{page_url}/assignments", repetitions)
        await _time_opening(page, "most missing reviews", f"{page_url}/assignments?sort=missing", repetitions)
        await _time_opening(page, "what reviewers think", f"{page_url}/panel", repetitions)
        await _time_opening(page, "widest spread first", f"{page_url}/panel?sort=spread&only=apart", repetitions)
        await _time_opening(page, "last page of opinions", f"{page_url}/panel?page=100", repetitions)
        await _time_action(page, "sort by score", page_url, sort, repetitions)
        await _time_action(page, "filter by corpus fit", page_url, filter, repetitions)
        await _time_action(page, "search (waits 300 ms)", page_url, search, repetitions)
        await browser.close()


async def _time_opening(page: Page, name: str, address: str, repetitions: int) -> None:
    timings = []
    for _ in range(repetitions):
        await page.goto(address)
        timings.append(await page.evaluate(_TIMING))
    _print_timings(name, [timing[0] for timing in timings], [timing[1] for timing in timings])


async def _time_action(
    page: Page, name: str, address: str, act: Callable[[], Awaitable[None]], repetitions: int
) -> None:
    server_ms, visible_ms = [], []
    for _ in range(repetitions):
        await page.goto(address)
        began = time.perf_counter()
        async with page.expect_response(lambda response: "/console/calls/" in response.url) as expected_response:
            await act()
            visible_ms.append(1_000 * (time.perf_counter() - began))
        response = await expected_response.value
        await response.finished()
        timing = response.request.timing
        server_ms.append(timing["responseEnd"] - timing["requestStart"])
    _print_timings(name, server_ms, visible_ms)


def _print_timings(name: str, server_ms: list[float], visible_ms: list[float]) -> None:
    figures = (f"median {statistics.median(item):6.0f}, slowest {max(item):6.0f}" for item in (server_ms, visible_ms))
    print(f"{name:26} {'   '.join(figures)}", flush=True)
