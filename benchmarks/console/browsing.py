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
    const told = performance.getEntriesByType("navigation")[0];
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    if (!paint || !told.loadEventEnd) return setTimeout(answer, 5);
    done([told.responseEnd - told.requestStart, paint.startTime]);
  };
  answer();
})
"""
"""Milliseconds from the request to the end of the response, and from the start to the first paint."""


async def time_pages(address: str, key: str, batch: str, times: int) -> None:
    here = f"{address}/console/calls/{batch}"
    async with async_playwright() as running:
        browser = await running.chromium.launch(
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
            f"\nIn Chromium, {times} times each: milliseconds until the response ends, then until it is visible",
            flush=True,
        )
        await _opened(page, "first paint of the table", here, times)
        await _opened(page, "last page of the table", f"{here}?page=100", times)
        await _opened(page, "open a proposal", f"{address}/console/proposals/ev_7", times)
        await _opened(page, "open the plots", f"{here}/plots", times)
        await _opened(page, "plots with a ranking", f"{here}/plots?ranking={RANKING}", times)
        await _opened(page, "table by rank", f"{here}?ranking={RANKING}&sort=rank", times)
        await _opened(page, "table of one band", f"{here}?ranking={RANKING}&sort=rank&band=human", times)
        await _opened(page, "the ranking", f"{here}/rankings/{RANKING}", times)
        await _opened(page, "the ranking cut elsewhere", f"{here}/rankings/{RANKING}?cut=700", times)
        await _opened(page, "rankings of the call", f"{here}/rankings", times)
        await _opened(page, "compare two", f"{address}/console/compare?id=ev_7&id=ev_8", times)
        await _opened(page, "who reviews what", f"{here}/assignments", times)
        await _opened(page, "most missing reviews", f"{here}/assignments?sort=missing", times)
        await _opened(page, "what reviewers think", f"{here}/panel", times)
        await _opened(page, "widest spread first", f"{here}/panel?sort=spread&only=apart", times)
        await _opened(page, "last page of opinions", f"{here}/panel?page=100", times)
        await _acted(page, "sort by score", here, sort, times)
        await _acted(page, "filter by corpus fit", here, filter, times)
        await _acted(page, "search (waits 300 ms)", here, search, times)
        await browser.close()


async def _opened(page: Page, name: str, address: str, times: int) -> None:
    found = []
    for _ in range(times):
        await page.goto(address)
        found.append(await page.evaluate(_TIMING))
    _told(name, [item[0] for item in found], [item[1] for item in found])


async def _acted(page: Page, name: str, address: str, act: Callable[[], Awaitable[None]], times: int) -> None:
    served, seen = [], []
    for _ in range(times):
        await page.goto(address)
        began = time.perf_counter()
        async with page.expect_response(lambda answer: "/console/calls/" in answer.url) as asked:
            await act()
            seen.append(1_000 * (time.perf_counter() - began))
        answer = await asked.value
        await answer.finished()
        timing = answer.request.timing
        served.append(timing["responseEnd"] - timing["requestStart"])
    _told(name, served, seen)


def _told(name: str, served: list[float], seen: list[float]) -> None:
    figures = (f"median {statistics.median(item):6.0f}, slowest {max(item):6.0f}" for item in (served, seen))
    print(f"{name:26} {'   '.join(figures)}", flush=True)
