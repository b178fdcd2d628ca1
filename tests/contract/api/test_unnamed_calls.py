"""Calls that were sent without a name: people read when they were sent and how large they are, not an id."""

import datetime as dt

from tests.contract.api.browsing import PHONE_AND_DESK, look_over, open_console
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.reviewed_calls import assign_reviewers
from tests.contract.api.service import Service


async def test_a_call_without_a_name_is_named_by_its_day_and_size(service: Service, owner: Person, ada: Person) -> None:
    batch, _ = await call_of(service, "# One", "# Two")
    assert (await owner.patch(f"/v1/batches/{batch}", json={"name": ""})).status_code == 200
    await assign_reviewers(owner, batch, per_proposal=1)
    created_at = (await owner.get(f"/v1/batches/{batch}")).json()["created_at"]
    day = f"{dt.datetime.fromisoformat(created_at):%d %B %Y}".lstrip("0")
    title = f"Unnamed call of {day}, 2 proposals"
    async with open_console(service, owner.key, PHONE_AND_DESK[1]) as (page, _):
        await page.get_by_role("link", name=title, exact=True).press("Enter")
        await page.get_by_role("heading", name=title, exact=True).wait_for()
        assert await page.title() == f"{title} · assayer"
        await look_over(page, "call-unnamed", PHONE_AND_DESK[1])
    async with open_session(service, ada.key) as reviewer:
        assert f">{title}</h2>" in (await reviewer.get("/console/queue")).text, "the database words it alike"
    officer = await add_person(service, "officer", "Otto Officer")
    assert (await officer.patch(f"/v1/batches/{batch}", json={"name": "Spring"})).status_code == 200
    async with open_session(service, officer.key) as browser:
        assert "Unnamed" not in (await browser.get("/console")).text
