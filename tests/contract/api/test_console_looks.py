"""Every page of the console in a real Chromium, on a phone and a screen, light and dark.

No serious fault by axe, nothing wider than the screen, no complaint of the browser. One service and one browser; the
pictures stay in `build/screenshots`. Complete by walking the routes: a page that is added later is looked at too, or
fails for want of an address.
"""

from typing import NamedTuple

from playwright.async_api import Browser, Page, async_playwright

from tests.chromium import launch_options
from tests.contract.api.browsing import LOOKS, look_over, sideways
from tests.contract.api.people import Person, asking, person
from tests.contract.api.service import Service, served
from tests.contract.api.test_agreement_plot import reviewed_call
from tests.contract.api.test_console_fields import call_of_two_fields
from tests.contract.api.test_console_rankings import ended_call
from tests.contract.api.test_console_tables import call_with_reports
from tests.contract.api.test_erasures import erased, sent
from tests.contract.api.test_making import made
from tests.contract.api.test_rankings import finish
from tests.contract.api.test_roles_matrix import pages_of

NO_PAGES = {
    "/console/static/{name}": "a style or a script",
    "/console/callback": "leads on",
    "/console/sign-in/{provider}": "leads to the provider",
    "/console/audit-log/export": "a file",
    "/console/calls/{id}/progress": "a part of a page",
    "/console/calls/{id}/rankings/{ranking}/progress": "a part of a page",
}


WIDE = {"Comparison"}
"""Tables that may scroll sideways on a phone: side by side is what they are for."""


class Place(NamedTuple):
    route: str
    path: str
    name: str


async def places(service: Service, owner: Person, reviewer: Person) -> tuple[list[Place], list[Place]]:
    """The pages of an owner and of a reviewer, over things of every kind."""
    making = await made(service)
    fields = await call_of_two_fields(service)
    mixed = await call_with_reports(service)
    ended = await ended_call(service)
    reviewed, *_ = await reviewed_call(service, others=1)
    async with asking(service, owner) as asks:
        ranking = (await asks.post("/v1/rankings", json={"batch": ended, "cut": 2})).json()["id"]
        await finish(service)
        changed = await asks.patch(f"/v1/batches/{ended}", json={"tags": ["A" + "-tag-of-many-letters" * 4]})
        assert changed.status_code == 200, changed.text
        assigned = await asks.post(f"/v1/batches/{ended}/assignments", json={"per_proposal": 1})
        assert assigned.status_code < 300, assigned.text
        listed = (await asks.get(f"/v1/batches/{ended}/evaluations")).json()["items"]
        await sent(asks)
        proof = (await erased(asks, source="A-1"))["proof"]
    first, second = (one["id"] for one in listed[:2])
    call, one, who = "/console/calls/{id}", "/console/proposals/{id}", "/console/members/{id}"
    of_ended, of_made = f"/console/calls/{ended}", f"/console/proposals/{making}"
    member = f"/console/members/{reviewer.member.id}"
    owners = [
        Place("/console", "/console", "calls"),
        Place("/console/evaluations", "/console/evaluations", "evaluations"),
        Place("/console/calls/new", "/console/calls/new", "new-call"),
        Place(call, f"/console/calls/{mixed}", "table"),
        Place(call, f"{of_ended}?ranking={ranking}&sort=rank", "table-by-rank"),
        Place(f"{call}/plots", f"/console/calls/{fields}/plots", "plots-by-field"),
        Place(f"{call}/plots", f"{of_ended}/plots?ranking={ranking}", "plots-of-ranks"),
        Place(f"{call}/plots", f"/console/calls/{reviewed}/plots", "plots-of-agreement"),
        Place(f"{call}/cancel", f"/console/calls/{mixed}/cancel", "cancel"),
        Place(f"{call}/assignments", f"{of_ended}/assignments", "assignments"),
        Place(f"{call}/panel", f"{of_ended}/panel", "panel"),
        Place(f"{call}/rankings", f"{of_ended}/rankings?cut=2", "rankings"),
        Place(f"{call}/rankings/{{ranking}}", f"{of_ended}/rankings/{ranking}", "ranking"),
        Place(one, of_made, "proposal"),
        Place(f"{one}/contestation", f"{of_made}/contestation", "contestation"),
        Place(f"{one}/making", f"{of_made}/making", "making"),
        Place(f"{one}/making/{{number}}", f"{of_made}/making/1", "making-call"),
        Place("/console/compare", f"/console/compare?id={first}&id={second}", "compare"),
        Place("/console/erase", "/console/erase?source=A-2", "erase"),
        Place("/console/erase/{number}", f"/console/erase/{proof}", "erased"),
        Place("/console/members", "/console/members", "members"),
        Place(who, member, "member"),
        Place(f"{who}/remove", f"{member}/remove", "member-remove"),
        Place("/console/account", "/console/account", "account"),
        Place("/console/audit-log", "/console/audit-log", "audit-log"),
        Place("/console/audit-log/check", "/console/audit-log/check", "audit-log-check"),
    ]
    reviewers = [
        Place("/console/queue", "/console/queue", "queue"),
        Place("/console/review/{id}", f"/console/review/{first}", "review"),
    ]
    return owners, reviewers


async def test_every_page_looks_as_it_should_on_phone_and_screen_by_day_and_night(service: Service) -> None:
    owner, reviewer = await person(service, "owner", "Olga Owner"), await person(service, "reviewer")
    owners, reviewers = await places(service, owner, reviewer)
    sign_in = Place("/console/sign-in", "/console/sign-in", "sign-in")
    known = {place.route for place in (*owners, *reviewers, sign_in)}
    routes = {route.path for route, _ in pages_of(service) if "GET" in (route.methods or ())}
    assert routes == known | NO_PAGES.keys()
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        wide: list[tuple[str, str]] = []
        for key, of_them in (("", [sign_in]), (owner.key, owners), (reviewer.key, reviewers)):
            wide += await _visit(browser, url, key, of_them)
        await browser.close()
    assert {(place, table) for place, table in wide if table not in WIDE} == set()


async def _visit(browser: Browser, url: str, key: str, of_them: list[Place]) -> list[tuple[str, str]]:
    """Places, and tables there that are wider than a phone."""
    wide: list[tuple[str, str]] = []
    complaints: list[str] = []
    context = await browser.new_context()
    page = await context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    if key:
        await page.goto(f"{url}/console/sign-in")
        await page.locator("input:focus").wait_for()
        await page.keyboard.type(key)
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Sign out").wait_for()
    for place in of_them:
        answer = await page.goto(f"{url}{place.path}")
        assert answer is not None
        assert answer.status == 200, place
        wide += [(place.name, table) for table in await _look(page, place)]
        assert complaints == [], place
    await context.close()
    return wide


async def _look(page: Page, place: Place) -> list[str]:
    wide: list[str] = []
    assert await page.locator("h1").count() == 1, place
    for look in LOOKS:
        await page.set_viewport_size({"width": look.width, "height": 800})
        await page.emulate_media(color_scheme="dark" if look.scheme == "dark" else "light")
        await look_over(page, f"page-{place.name}", look)
        wide += await sideways(page, look)
    return wide
