"""Pages of calls under way: renewed as things happen, however many calls and tabs there are."""

import pytest

from tests.contract.api.browsing import Look, open_console
from tests.contract.api.people import call_of
from tests.contract.api.service import Service

_SEEN = """
hidden => {
  Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}
"""


async def test_page_updates_call_progress_without_reloading_the_table(service: Service) -> None:
    batch, _ = await call_of(service, "# One", "# Two")
    async with open_console(service, await service.create_key(), Look(1280, "light")) as (page, url):
        requested_urls: list[str] = []
        page.on("request", lambda request: requested_urls.append(request.url.removeprefix(url)))
        await page.goto(f"{url}/console/calls/{batch}")
        await page.get_by_text("0 of 2 ended").wait_for()
        assert await page.locator("a.mark.queued").all_inner_texts() == ["2 queued"]
        requested_urls.clear()
        await service.finish()
        await page.get_by_text("1 of 2 ended").wait_for()
        assert await page.locator("a.mark.queued").all_inner_texts() == ["1 queued"]
        assert set(requested_urls) == {f"/console/calls/{batch}/progress"}
        await service.finish()
        await page.get_by_text("2 of 2 ended").wait_for()
        assert await page.locator("a.mark.queued").count() == 0
        await page.get_by_role("link", name="scores").click()
        await page.get_by_role("link", name="2 no score").wait_for()


@pytest.mark.slow
async def test_many_running_calls_leave_browser_connections_for_other_pages(service: Service) -> None:
    batches = [(await call_of(service, f"# Call {place}"))[0] for place in range(8)]
    async with open_console(service, await service.create_key(), Look(1280, "light")) as (page, url):
        # Headless tabs all count as looked at: one page holds three, so that two fit into the browser's six.
        await page.locator("[data-events]").nth(7).wait_for()
        other_page = await page.context.new_page()
        await other_page.goto(f"{url}/console/calls/{batches[0]}")
        await other_page.get_by_role("link", name="Plots").click()
        await other_page.get_by_role("heading", name="Cost", exact=True).wait_for()
        await page.locator("h2 a").first.click()
        await page.get_by_role("heading", name="1 proposal", exact=True).wait_for()


@pytest.mark.slow
async def test_hidden_tab_reconnects_and_catches_up_when_visible(service: Service) -> None:
    batch, _ = await call_of(service, "# One", "# Two")
    async with open_console(service, await service.create_key(), Look(1280, "light")) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}")
        await page.get_by_text("0 of 2 ended").wait_for()
        await page.evaluate(_SEEN, True)
        await service.finish()
        requested_urls: list[str] = []
        page.on("request", lambda request: requested_urls.append(request.url.removeprefix(url)))
        await page.evaluate(_SEEN, False)
        await page.get_by_text("1 of 2 ended").wait_for()
        assert f"/v1/batches/{batch}/events" in requested_urls
