"""The page on which reviewers are assigned to a call: tried, done, withdrawn; conflicts declared and cleared."""

from pathlib import Path

import httpx2
import pytest
from playwright.async_api import async_playwright

from tests.chromium import launch_options
from tests.contract.api.people import call_of, person
from tests.contract.api.service import OTHER, Service, served
from tests.contract.api.test_console_rankings import token_of
from tests.contract.api.test_console_tables import _look, signed_in
from tests.contract.api.test_erasure_pages import hidden


async def sent(browser: httpx2.AsyncClient, page: str, path: str = "", **fields: str) -> httpx2.Response:
    body = {"csrf_token": await token_of(browser, page), **fields}
    return await browser.post(f"{page}{path}", data=body, headers={"Origin": "http://api"})


async def test_reviewers_are_tried_assigned_and_withdrawn(service: Service) -> None:
    officer, ada = await person(service, "officer", "Otto Officer"), await person(service, "reviewer")
    batch, (first, _) = await call_of(service, "# One", "# Two")
    here = f"/console/calls/{batch}/assignments"
    async with signed_in(service, officer.key) as browser:
        assert here in (await browser.get(f"/console/calls/{batch}")).text
        tried = (await browser.get(here, params={"per_proposal": "2"})).text
        assert "2 new assignments" in tried
        assert "There is only 1 reviewer." in tried
        assert await service.services.assignments.queue(officer.member.tenant, member=None, batch=None) == []
        plan = {"per_proposal": "2", "shown": hidden(tried, "shown")}
        assert (await sent(browser, here, **plan)).status_code == 303
        assert "no opinion yet" in (await browser.get(here)).text
        given = {"evaluation": first, "reviewer": str(ada.member.id)}
        assert (await sent(browser, here, "/withdraw", **given)).status_code == 303
        again = await sent(browser, here, "/withdraw", **given)
        assert again.status_code == 409
        assert "Nothing was withdrawn" in again.text
    left = await service.services.assignments.queue(officer.member.tenant, member=None, batch=None)
    assert len(left) == 1


async def test_a_plan_that_has_changed_is_shown_again_before_anybody_is_assigned(service: Service) -> None:
    officer = await person(service, "officer", "Otto Officer")
    await person(service, "reviewer")
    batch, _ = await call_of(service, "# One")
    here = f"/console/calls/{batch}/assignments"
    async with signed_in(service, officer.key) as browser:
        shown = hidden((await browser.get(here, params={"per_proposal": "2"})).text, "shown")
        await person(service, "reviewer", "Bob Noyce")
        refused = await sent(browser, here, per_proposal="2", shown=shown)
    assert refused.status_code == 409
    assert "Nobody was assigned" in refused.text
    assert await service.services.assignments.queue(officer.member.tenant, member=None, batch=None) == []


async def test_a_conflict_is_declared_keeps_somebody_out_and_is_cleared_with_a_reason(service: Service) -> None:
    officer, ada = await person(service, "officer", "Otto Officer"), await person(service, "reviewer")
    batch, (first,) = await call_of(service, "# One")
    here, whose = f"/console/calls/{batch}/assignments", {"evaluation": first, "reviewer": str(ada.member.id)}
    async with signed_in(service, officer.key) as browser:
        assert (await sent(browser, here, "/conflicts", **whose, reason=" x ")).status_code == 409
        assert (await sent(browser, here, "/conflicts", **whose, reason="a former student")).status_code == 303
        tried = (await browser.get(here, params={"per_proposal": "1"})).text
        assert "Conflicts keep 1 of 1 from it." in tried
        assert "a former student" in tried
        cleared = await sent(browser, here, "/conflicts/clear", **whose, reason="twenty years ago")
        assert cleared.status_code == 303
        tried = (await browser.get(here, params={"per_proposal": "1"})).text
        assert "twenty years ago" in tried
        assert "1 new assignment," in tried
        assert (
            await sent(browser, here, "/conflicts", **whose | {"reviewer": "mb_no"}, reason="abc")
        ).status_code == 404


async def test_auditors_only_see_reviewers_see_nothing_and_strangers_find_no_call(service: Service) -> None:
    ada = await person(service, "reviewer")
    batch, (first,) = await call_of(service, "# One")
    other, (foreign,) = await call_of(service, "# Theirs", tenant=OTHER)
    here, whose = f"/console/calls/{batch}/assignments", {"evaluation": first, "reviewer": str(ada.member.id)}
    changes = {
        "": {"per_proposal": "1", "shown": "another"},
        "/withdraw": whose,
        "/conflicts": whose | {"reason": "because"},
        "/conflicts/clear": whose | {"reason": "because"},
    }
    async with signed_in(service, (await person(service, "auditor", "Eva Auditor")).key) as browser:
        seen = await browser.get(here, params={"per_proposal": "1"})
        assert seen.status_code == 200
        assert "What would be assigned" not in seen.text
        assert "Declare …" not in seen.text
        for path, fields in changes.items():
            assert (await sent(browser, here, path, **fields)).status_code == 403
    async with signed_in(service, ada.key) as browser:
        assert (await browser.get(here)).status_code == 403
    async with signed_in(service, (await person(service, "owner", tenant=OTHER)).key) as stranger:
        token = await token_of(stranger, "/console")
        assert (await stranger.get(here)).status_code == 404
        for path, fields in changes.items():
            body = {"csrf_token": token, **fields}
            assert (
                await stranger.post(f"{here}{path}", data=body, headers={"Origin": "http://api"})
            ).status_code == 404
    async with signed_in(service, (await person(service, "owner", "Olga Owner")).key) as owner:
        strange = whose | {"evaluation": foreign, "reason": "because"}
        for path in ("/withdraw", "/conflicts", "/conflicts/clear"):
            assert (await sent(owner, here, path, **strange)).status_code == 404
        assert (await owner.get(f"/console/calls/{other}/assignments")).status_code == 404


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
async def test_an_officer_declares_a_conflict_and_assigns_by_keyboard(
    service: Service, tmp_path: Path, width: int, scheme: str
) -> None:
    officer = await person(service, "officer", "Otto Officer")
    await person(service, "reviewer")
    await person(service, "reviewer", "Grace Hopper", affiliation="Yale University")
    batch, _ = await call_of(service, "# Rehearsal by risk of forgetting", "# Two", "# By Yale University")
    complaints: list[str] = []
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page = await context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(f"{url}/console")
        await page.locator("input:focus").wait_for()
        await page.keyboard.type(officer.key)
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Calls").wait_for()
        await page.goto(f"{url}/console/calls/{batch}")
        await page.get_by_role("link", name="Assign reviewers").press("Enter")
        await page.locator("summary", has_text="Declare").first.press("Enter")
        await page.get_by_label("Why they must not review it").first.fill("a former student")
        await page.keyboard.press("Enter")
        await page.get_by_text("a former student").wait_for()
        await page.get_by_label("Reviewers for each proposal").fill("2")
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="What would be assigned").wait_for()
        await _look(page, page.url, tmp_path, "tried", width)
        await page.get_by_role("button", name="Assign").press("Enter")
        await page.get_by_role("button", name="Withdraw").first.wait_for()
        await page.locator("summary", has_text="Clear it").first.press("Enter")
        await _look(page, page.url, tmp_path, "assigned", width)
        await browser.close()
    assert complaints == []


async def test_people_assignments_and_the_log_work_without_scripts(service: Service) -> None:
    owner = await person(service, "owner", "Olga Owner")
    batch, _ = await call_of(service, "# One")
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
        page = await context.new_page()
        await page.goto(f"{url}/console/sign-in")
        await page.get_by_label("API key").fill(owner.key)
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="People").click()
        await page.get_by_label("Name").fill("Grace Hopper")
        await page.get_by_label("Address").fill("grace@example.org")
        await page.get_by_role("button", name="Invite").click()
        await page.get_by_role("link", name="Change Grace Hopper").wait_for()
        await page.goto(f"{url}/console/calls/{batch}/assignments")
        await page.get_by_role("button", name="Show who would get what").click()
        await page.get_by_role("button", name="Assign it").click()
        await page.get_by_role("button", name="Withdraw").click()
        await page.get_by_text("nobody", exact=True).wait_for()
        await page.get_by_role("link", name="Audit log").click()
        await page.get_by_role("button", name="Check the chain").click()
        await page.get_by_text("The chain is whole").wait_for()
        await browser.close()
