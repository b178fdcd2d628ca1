"""Finished calls are archived with one click and taken out of the archive with one."""

from tests.contract.api.browsing import PHONE_AND_DESK, look_over, open_console
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.evaluated_calls import evaluate_call_of_six
from tests.contract.api.people import Person, call_of
from tests.contract.api.service import Service


async def test_a_finished_call_is_archived_and_restored(service: Service, owner: Person) -> None:
    batch = await evaluate_call_of_six(service)
    assert (await owner.patch(f"/v1/batches/{batch}", json={"name": "Spring"})).status_code == 200
    before, look = (await owner.get(f"/v1/batches/{batch}")).json(), PHONE_AND_DESK[1]
    async with open_console(service, owner.key, look) as (page, url):
        await page.get_by_role("link", name="Spring").press("Enter")
        await page.get_by_role("button", name="Archive").press("Enter")
        await look_over(page, "call-archived", look)
        await page.goto(f"{url}/console")
        assert await page.get_by_role("link", name="Spring").count() == 0
        await page.get_by_role("link", name="Archived calls").press("Enter")
        await look_over(page, "calls-archived", look)
        assert (await owner.get(f"/v1/batches/{batch}")).json() == before
        assert [item["id"] for item in (await owner.get("/v1/batches")).json()["items"]] == [batch]
        await page.get_by_role("link", name="Spring").press("Enter")
        await page.get_by_role("button", name="Unarchive").press("Enter")
        await page.get_by_role("button", name="Archive").wait_for()
        await page.goto(f"{url}/console")
        await page.get_by_role("link", name="Spring").wait_for()
    entries = (await owner.get("/v1/audit-log")).json()["items"]
    actions = [entry["action"] for entry in entries if entry["subject"] == batch]
    assert actions[-2:] == ["call archived", "call unarchived"]


async def test_a_call_under_way_is_not_archived(service: Service, owner: Person) -> None:
    batch, _ = await call_of(service, "# One", "# Two")
    path = f"/console/calls/{batch}"
    async with open_session(service, owner.key) as browser:
        assert "Archive</button>" not in (await browser.get(path)).text
        await submit_form(browser, f"{path}/terms", f"{path}/archive", archived="true")
        assert f'href="{path}"' in (await browser.get("/console")).text
        assert "There are no archived calls." in (await browser.get("/console?archived=true")).text
