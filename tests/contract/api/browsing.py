"""A person at a page in a real Chromium: signed in, looked over by axe, photographed; no complaint of the browser."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.async_api import Page, async_playwright

from tests.chromium import launch_options
from tests.contract.api.service import Service, served

__all__ = ["LOOKS", "PHONE_AND_DESK", "SCREENSHOTS", "Look", "at_the_console", "look_over", "sideways"]

AXE = Path(__file__).parents[2] / "axe" / "axe.min.js"
SCREENSHOTS = Path(__file__).parents[3] / "build" / "screenshots"
"""Where pictures of the last run stay."""


PHONE = 390


class Look(NamedTuple):
    width: int
    scheme: str

    def __str__(self) -> str:
        return f"{self.width}-{self.scheme}"


LOOKS = (Look(PHONE, "dark"), Look(PHONE, "light"), Look(1280, "dark"), Look(1280, "light"))
PHONE_AND_DESK = (LOOKS[0], LOOKS[3])
"""Of what is done at pages, as `test_console_looks` opens every page in all four."""
_FAULTS = (
    "axe.run().then(found => found.violations.filter(one => ['serious', 'critical'].includes(one.impact))"
    ".map(one => one.id + ': ' + one.nodes.map(node => node.html).join(' ')))"
)


@asynccontextmanager
async def at_the_console(
    service: Service, key: str, look: Look, *, refused: bool = False
) -> AsyncIterator[tuple[Page, str]]:
    """The page after signing in by keyboard, and the service's address. `refused`: the browser may say that something
    was answered with an error."""
    complaints: list[str] = []
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(
            viewport={"width": look.width, "height": 800}, color_scheme="dark" if look.scheme == "dark" else "light"
        )
        page = await context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(f"{url}/console")
        await page.locator("input:focus").wait_for()
        await page.keyboard.type(key)
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Sign out").wait_for()
        yield page, url
        await browser.close()
    assert [one for one in complaints if not (refused and one.startswith("Failed to load resource"))] == []


async def look_over(page: Page, name: str, look: Look, *, whole: bool = True) -> None:
    """No serious fault by axe, nothing wider than the screen; the picture stays in `build/screenshots`: of the whole
    page, or of what is in sight."""
    if not await page.evaluate("typeof axe === 'object'"):
        await page.evaluate(AXE.read_text("utf-8"))
    faults = await page.evaluate(_FAULTS)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=SCREENSHOTS / f"{name}-{look}.png", full_page=whole)
    assert faults == [], name
    assert await page.evaluate("document.documentElement.scrollWidth") <= look.width, name


async def sideways(page: Page, look: Look) -> list[str]:
    """Tables in sight that are wider than a phone: what they are called."""
    if look.width > PHONE:
        return []
    wide: list[str] = await page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(one => one.checkVisibility()"
        " && one.clientWidth && one.scrollWidth > one.clientWidth + 1)"
        ".map(one => one.getAttribute('aria-label'))"
    )
    return wide
