"""The sign-in page in a browser: by keyboard alone, on any screen, in light and dark."""

from pathlib import Path

import pytest
from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from playwright.async_api import async_playwright

from orchestrator.access.signed_in import SignedInDependency
from tests.chromium import launch_options
from tests.contract.api.service import Service, served
from tests.contract.test_report_page import CONTRASTS


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
async def test_somebody_signs_in_by_keyboard(service: Service, tmp_path: Path, width: int, scheme: str) -> None:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/console/home-of-test")
    async def home(who: SignedInDependency) -> HTMLResponse:
        return HTMLResponse(f"<h1>{who.role}</h1>")

    service.app.include_router(routes)
    complaints: list[str] = []
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page = await context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(f"{url}/console/home-of-test")
        assert page.url == f"{url}/console/sign-in?next=%2Fconsole%2Fhome-of-test"
        assert complaints == []
        assert await page.evaluate(CONTRASTS) == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        await page.keyboard.type("ak_0123_" + "x" * 43)
        await page.keyboard.press("Enter")
        alert = page.get_by_role("alert")
        await alert.wait_for()
        assert "There is no such key" in await alert.inner_text()
        assert await page.get_by_label("API key").input_value() == ""
        assert await page.evaluate(CONTRASTS) == []
        await page.screenshot(path=tmp_path / f"sign-in-{width}-{scheme}.png")
        await page.locator("input:focus").wait_for()
        await page.keyboard.type(await service.key("manage"))
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="owner").wait_for()
        assert page.url == f"{url}/console/home-of-test"
        assert await page.evaluate("document.cookie") == ""
        await browser.close()
