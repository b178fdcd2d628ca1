"""The page of the API in a real browser, under its policy: on a phone and on a desk, in the light and in the dark."""

import pytest
from playwright.async_api import async_playwright

from tests.chromium import launch_options
from tests.contract.api.browsing import PHONE_AND_DESK, Look, look_over
from tests.contract.api.service import Service, served


async def test_page_is_everybodys_and_its_policy_allows_its_style_alone(service: Service) -> None:
    async with service.client() as anybody:
        answer, document = await anybody.get("/docs"), await anybody.get("/openapi.json")
    assert (answer.status_code, document.status_code) == (200, 200)
    assert answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy
    for path in document.json()["paths"]:
        assert f"<code>{path}</code>" in answer.text


@pytest.mark.parametrize("look", PHONE_AND_DESK, ids=str)
async def test_page_is_read_without_a_fault_of_browser_or_axe(service: Service, look: Look) -> None:
    complaints: list[str] = []
    elsewhere: list[str] = []
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(
            viewport={"width": look.width, "height": 800}, color_scheme="dark" if look.scheme == "dark" else "light"
        )
        page = await context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("request", lambda asked: None if asked.url.startswith((url, "data:")) else elsewhere.append(asked.url))
        await page.goto(f"{url}/docs")
        assert await page.evaluate("getComputedStyle(document.querySelector('.groups ul')).listStyleType") == "none"
        operation = page.locator("#evaluations_ask")
        await operation.locator("summary").focus()
        await page.keyboard.press("Enter")
        await operation.get_by_text("EvaluationBody").wait_for()
        await look_over(page, "api-reference", look, whole=False)
        await operation.get_by_text("EvaluationBody").click()
        await page.locator("#schema-EvaluationBody:target").wait_for()
        await browser.close()
    assert (complaints, elsewhere) == ([], [])
