"""Every page of the console in a real Chromium, on a dark phone and a light screen.

No serious fault by axe, nothing wider than the screen, at most one primary action, no complaint of the browser.
Complete by walking the routes: a page that is added later is looked at too, or fails for want of an address.
"""

from playwright.async_api import Browser, Page, async_playwright

from tests.chromium import launch_options
from tests.contract.api.browsing import EACH_LOOK, PHONE, Look, find_wide_tables, look_over, open_page, sign_in
from tests.contract.api.console_pages import ConsolePage, fill_pages
from tests.contract.api.people import add_person
from tests.contract.api.routes import iterate_console_routes
from tests.contract.api.service import Service, serve

NO_PAGES = {
    "/console/calls/{id}/panel/anonymous-reviews": "a file",
    "/console/static/{name}": "a style or a script",
    "/console/callback": "leads on",
    "/console/sign-in/{provider}": "leads to the provider",
    "/console/sign-in/link/{token}": "seen in test_sign_in_links.py",
    "/console/audit-log/export": "a file",
    "/console/calls/{id}/progress": "a part of a page",
    "/console/proposals/{id}/original": "a document",
    "/console/proposals/{id}/original/pages": "a part of a page",
    "/console/review/{id}/original": "a document",
    "/console/review/{id}/original/pages": "a part of a page",
    "/console/calls/{id}/rankings/{ranking}/progress": "a part of a page",
}


WIDE = {"Comparison"}
"""Tables that may scroll sideways on a phone: side by side is what they are for."""


@EACH_LOOK
async def test_console_pages_have_no_accessibility_or_layout_faults(service: Service, look: Look) -> None:
    owner, reviewer = await add_person(service, "owner", "Olga Owner"), await add_person(service, "reviewer")
    owners, reviewers = await fill_pages(service, owner, reviewer)
    sign_in = ConsolePage("/console/sign-in", "/console/sign-in", "sign-in")
    known = {place.route for place in (*owners, *reviewers, sign_in)}
    routes = {route.path for route, _ in iterate_console_routes(service) if "GET" in (route.methods or ())}
    assert routes == known | NO_PAGES.keys()
    async with serve(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        wide: list[tuple[str, str]] = []
        # axe takes 16 of the 40 processor seconds for the API reference, so only one look includes it.
        open_to_all = [sign_in, *([ConsolePage("/docs", "/docs", "api-reference")] if look.width == PHONE else [])]
        for key, pages in (("", open_to_all), (owner.key, owners), (reviewer.key, reviewers)):
            wide += await _visit(browser, url, key, pages, look)
        await browser.close()
    assert {(place, table) for place, table in wide if table not in WIDE} == set()


async def _visit(browser: Browser, url: str, key: str, pages: list[ConsolePage], look: Look) -> list[tuple[str, str]]:
    """Places, and tables there that are wider than a phone."""
    wide: list[tuple[str, str]] = []
    complaints: list[str] = []
    page = await open_page(browser, look, complaints)
    if key:
        await sign_in(page, f"{url}/console/sign-in", key)
    for place in pages:
        answer = await page.goto(f"{url}{place.path}")
        assert answer is not None
        assert answer.status == 200, place
        wide += [(place.name, table) for table in await _look(page, place, look)]
        assert complaints == [], place
    await page.context.close()
    return wide


async def _look(page: Page, place: ConsolePage, look: Look) -> list[str]:
    assert await page.locator("h1").count() == 1, place
    leading = page.locator("main .first").filter(visible=True)
    assert await leading.count() <= 1, (place, await leading.all_inner_texts())
    await look_over(page, f"page-{place.name}", look)
    return await find_wide_tables(page, look)
