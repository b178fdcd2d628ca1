"""A person at a page in a real Chromium: signed in, looked over by axe, photographed; no complaint of the browser."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.async_api import Browser, Page, async_playwright

from tests.chromium import launch_options
from tests.contract.api.service import Service, serve

_AXE = Path(__file__).parents[2] / "axe" / "axe.min.js"
SCREENSHOTS = Path(__file__).parents[3] / "build" / "screenshots"
"""Folder for screenshots: of every page if TEST_SCREENSHOTS is set, otherwise only of pages with faults."""


PHONE = 390


class Look(NamedTuple):
    width: int
    scheme: str

    def __str__(self) -> str:
        return f"{self.width}-{self.scheme}"


PHONE_AND_DESK = (Look(PHONE, "dark"), Look(1280, "light"))
"""Looks in which pages are checked: layout depends on the width alone, colours on the scheme alone."""
EACH_LOOK = pytest.mark.parametrize(
    "look", [pytest.param(PHONE_AND_DESK[0], marks=pytest.mark.slow), PHONE_AND_DESK[1]], ids=str
)
"""Runs a test in both looks, in the quick tier on the screen alone."""
DROP_FILE = """async ([name, text]) => {
  const moved = new DataTransfer();
  moved.items.add(new File([text], name));
  document.getElementById("drop-area").dispatchEvent(new DragEvent("drop", { dataTransfer: moved, cancelable: true }));
}"""
"""JavaScript that drops a file on the drop area of a page."""
_FAULTS = (
    "axe.run({resultTypes: ['violations']})"
    ".then(report => report.violations.filter(rule => ['serious', 'critical'].includes(rule.impact))"
    ".map(rule => rule.id + ': ' + rule.nodes.map(node => node.html).join(' ')))"
)


@asynccontextmanager
async def open_console(
    service: Service, key: str, look: Look, *, is_refused: bool = False
) -> AsyncIterator[tuple[Page, str]]:
    """Sign in by keyboard, and yield the page and the service's address. With `is_refused`, the browser may report
    failed requests."""
    complaints: list[str] = []
    async with serve(service.app) as url, async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options())
        page = await open_page(browser, look, complaints)
        await sign_in(page, f"{url}/console", key)
        yield page, url
        await browser.close()
    assert [
        complaint for complaint in complaints if not (is_refused and complaint.startswith("Failed to load resource"))
    ] == []


async def open_page(browser: Browser, look: Look, complaints: list[str]) -> Page:
    """Return a page in a context of its own; what the browser complains of is added to `complaints`."""
    context = await browser.new_context(
        viewport={"width": look.width, "height": 800}, color_scheme="dark" if look.scheme == "dark" else "light"
    )
    page = await context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return page


async def sign_in(page: Page, url: str, key: str) -> None:
    """Open a page that asks for a key, and sign in by keyboard."""
    await page.goto(url)
    await page.locator("input:focus").wait_for()
    await page.keyboard.type(key)
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Sign out").wait_for()


async def look_over(page: Page, name: str, look: Look, *, full_page: bool = True) -> None:
    """Check a page at this size and colour scheme; `full_page`: the picture shows what is out of sight, too."""
    await check_page(page, f"{name}-{look}", look.width, full_page=full_page)


async def open_and_check(page: Page, path: str, name: str, width: int) -> None:
    """Open a page and check it."""
    await page.goto(path)
    await check_page(page, f"{name}-{width}", width)


async def check_page(page: Page, name: str, width: int, *, full_page: bool = True) -> None:
    """Check that axe reports no serious fault and nothing is wider than the screen; a page with faults is pictured."""
    if not await page.evaluate("typeof axe === 'object'"):
        await page.evaluate(_AXE.read_text("utf-8"))
    faults = await page.evaluate(_FAULTS)
    if faults or os.environ.get("TEST_SCREENSHOTS"):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        await page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=full_page)
    assert faults == [], name
    assert await page.evaluate("document.documentElement.scrollWidth") <= width, name


async def find_wide_tables(page: Page, look: Look) -> list[str]:
    """Return the names of visible tables that are wider than a phone."""
    if look.width > PHONE:
        return []
    wide_elements: list[str] = await page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(table => table.checkVisibility()"
        " && table.clientWidth && table.scrollWidth > table.clientWidth + 1)"
        ".map(table => table.getAttribute('aria-label'))"
    )
    return wide_elements
