"""The page on which it is said who reviews a call: all, those ticked, those invited for it; who would lose what."""

import re

import httpx2
import pytest

from orchestrator.jobs.models import BatchId
from tests.contract.api.browsing import PHONE, Look, at_the_console, look_over, sideways
from tests.contract.api.people import asking, call_of, person
from tests.contract.api.service import ACME, Service
from tests.contract.api.test_assignments_page import sent
from tests.contract.api.test_call_reviewers import GRACE, assign, choose, ids, people_of
from tests.contract.api.test_console_rankings import token_of
from tests.contract.api.test_console_tables import signed_in
from tests.contract.api.test_erasure_pages import hidden


async def posted(browser: httpx2.AsyncClient, page: str, path: str, **fields: str | list[str]) -> httpx2.Response:
    body = {"csrf_token": await token_of(browser, page), **fields}
    return await browser.post(f"{page}{path}", data=body, headers={"Origin": "http://api"})


def told(page: str) -> str:
    """Its words, without tags."""
    return " ".join(re.sub(r"<[^>]+>", "", page).split())


async def test_a_page_says_who_would_be_asked_and_who_never_signed_in(service: Service) -> None:
    officer = await person(service, "officer", "Otto Officer")
    ada, bob = await people_of(service, "Ada Byron", "Bob Noyce")
    batch, _ = await call_of(service, "# One")
    here = f"/console/calls/{batch}/assignments"
    async with asking(service, officer) as officers, signed_in(service, officer.key) as browser:
        await officers.post("/v1/members", json=GRACE | {"role": "reviewer"})
        page = told((await browser.get(here)).text)
        assert "Nobody is chosen for this call: all 3 reviewers would be asked, 1 of whom has never signed in." in page
        assert "Grace Hopper never signed in" in page
        chosen = await posted(browser, here, "/reviewers", reviewer=ids(ada, bob), listed=ids(ada, bob))
        assert chosen.status_code == 303
        page = told((await browser.get(here)).text)
        assert "2 of 3 reviewers are chosen for this call. Only they are asked." in page
        async with signed_in(service, (await person(service, "auditor", "Eva Auditor")).key) as auditors:
            entries = told((await auditors.get("/console/audit-log", params={"act": "reviewers chosen"})).text)
        assert re.search(r"added: (Ada Byron, Bob Noyce|Bob Noyce, Ada Byron)", entries)
        everybody = await posted(browser, here, "/reviewers", everybody="yes")
        assert everybody.status_code == 303
        assert "all 3 reviewers would be asked" in told((await browser.get(here)).text)


async def test_whoever_is_not_listed_stays_chosen(service: Service) -> None:
    officer = await person(service, "officer", "Otto Officer")
    people = await people_of(service, *(f"Reviewer {number:03}" for number in range(104)))
    batch, _ = await call_of(service, "# One")
    here = f"/console/calls/{batch}/assignments"
    async with asking(service, officer) as officers, signed_in(service, officer.key) as browser:
        page = (await browser.get(here)).text
        assert page.count('name="reviewer" type="checkbox"') == 100
        assert "The first 100 of 104 are listed" in told(page)
        found = (await browser.get(here, params={"find": "reviewer.103@"})).text
        assert re.findall(r'name="reviewer" type="checkbox" value="(\w+)"', found) == ids(people[103])
        await choose(officers, batch, ids(people[0], people[1]))
        ticked = await posted(browser, here, "/reviewers", reviewer=ids(people[103]), listed=ids(people[103]))
        assert ticked.status_code == 303
        chosen = await service.services.call_reviewers.chosen(ACME, BatchId(batch))
        assert chosen == frozenset(ids(people[0], people[1], people[103]))
        unticked = await posted(browser, here, "/reviewers", listed=ids(people[0]))
        assert unticked.status_code == 303
        none = await posted(browser, here, "/reviewers", listed=ids(people[1], people[103]))
        assert none.status_code == 409
        assert "Tick at least one" in none.text
        nobody = (await browser.get(here, params={"find": "nobody of this name"})).text
        assert "No reviewer fits" in nobody


async def test_assignments_are_ended_only_once_that_was_shown(service: Service) -> None:
    officer = await person(service, "officer", "Otto Officer")
    ada, bob = await people_of(service, "Ada Byron", "Bob Noyce")
    batch, evaluations = await call_of(service, "# One", "# Two", "# Three")
    here, fields = f"/console/calls/{batch}/assignments", {"reviewer": ids(bob), "listed": ids(ada, bob)}
    async with asking(service, officer) as officers, signed_in(service, officer.key) as browser:
        await assign(officers, batch, per_proposal=1, reviewers=ids(ada))
        async with asking(service, ada) as reviewer:
            await reviewer.post(f"/v1/evaluations/{evaluations[0]}/opinions", json={"score": 4})
        shown = await posted(browser, here, "/reviewers", **fields)
        assert shown.status_code == 200
        assert "2 assignments without an opinion would end: Ada Byron, 2." in told(shown.text)
        assert await service.services.call_reviewers.chosen(ACME, BatchId(batch)) is None
        stale = await posted(browser, here, "/reviewers", **fields, ends="another")
        assert "would end" in stale.text
        done = await posted(browser, here, "/reviewers", **fields, ends=hidden(shown.text, "ends"))
        assert done.status_code == 303
        page = told((await browser.get(here)).text)
        assert "Ada Byron not asked any more" in page
        assert "1 of 2 reviewers is chosen for this call. Only they are asked." in page
        tried = (await browser.get(here, params={"per_proposal": "1"})).text
        assert "2 new assignments" in tried
        plan = {"per_proposal": "1", "shown": hidden(tried, "shown")}
        assert (await sent(browser, here, **plan)).status_code == 303
    queue = await service.services.assignments.queue(ACME, member=None, batch=BatchId(batch))
    assert {(one.evaluation, one.member) for one in queue} == {
        (evaluations[0], ada.member.id),
        (evaluations[1], bob.member.id),
        (evaluations[2], bob.member.id),
    }


async def test_what_an_invitation_lacks_is_said_and_nothing_typed_is_lost(service: Service) -> None:
    officer = await person(service, "officer", "Otto Officer")
    batch, _ = await call_of(service, "# One")
    here = f"/console/calls/{batch}/assignments"
    async with signed_in(service, officer.key) as browser:
        wrong = await posted(browser, here, "/invite", name="Grace Hopper", email="grace", affiliation="Yale")
        assert wrong.status_code == 422
        assert "An address reads name@example.org." in wrong.text
        assert 'value="Grace Hopper"' in wrong.text
        otto = await posted(browser, here, "/invite", name="Otto", email=officer.member.email)
        assert otto.status_code == 409
        assert "an officer, no reviewer" in otto.text
        assert (
            await posted(browser, here, "/invite", name="Grace Hopper", email="grace@example.org")
        ).status_code == 303


async def test_a_signed_off_call_offers_no_choice_and_an_auditor_only_sees(service: Service) -> None:
    owner, auditor = await person(service, "owner", "Olga Owner"), await person(service, "auditor", "Eva Auditor")
    await person(service, "reviewer")
    batch, _ = await call_of(service, "# One")
    here = f"/console/calls/{batch}/assignments"
    async with signed_in(service, auditor.key) as browser:
        page = (await browser.get(here)).text
        assert "the 1 reviewer would be asked" in told(page)
        assert 'checkbox" value="mb_' not in page
        assert "Invite" not in page
    async with asking(service, owner) as owners, signed_in(service, owner.key) as browser:
        await owners.post(f"/v1/batches/{batch}/sign-off", json={"despite_unfinished": True})
        page = (await browser.get(here)).text
        assert 'checkbox" value="mb_' not in page
        for path in ("/reviewers", "/invite"):
            fields = {"everybody": "yes", "name": "Grace Hopper", "email": "grace@example.org"}
            late = await posted(browser, here, path, **fields)
            assert late.status_code == 409
            assert "signed off" in late.text


@pytest.mark.parametrize("look", [Look(PHONE, "dark"), Look(1280, "light")], ids=str)
async def test_an_officer_chooses_by_mouse_and_invites_by_keyboard(service: Service, look: Look) -> None:
    officer = await person(service, "officer", "Otto Officer")
    await people_of(service, *(f"Reviewer {number:02}" for number in range(24)), "Ada Byron")
    batch, _ = await call_of(service, "# One", "# Two")
    async with at_the_console(service, officer.key, look) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}")
        await page.get_by_role("link", name="Assign reviewers").click()
        await page.get_by_text("all 25 reviewers would be asked").wait_for()
        await page.locator("summary", has_text="Choose who reviews this call").click()
        await page.get_by_label("Name, address or institution").fill("byron")
        await page.get_by_role("button", name="Find").click()
        await page.get_by_role("checkbox", name="Ada Byron").click()
        await look_over(page, "call-reviewers-found", look)
        await page.get_by_role("button", name="Choose those ticked").click()
        await page.get_by_text("1 of 25 reviewers is chosen for this call").wait_for()
        await page.locator("summary", has_text="Invite somebody for this call").press("Enter")
        await page.get_by_label("Name", exact=True).press_sequentially("Grace Hopper")
        await page.keyboard.press("Tab")
        await page.keyboard.type("grace@example.org")
        await page.keyboard.press("Tab")
        await page.keyboard.type("Yale University")
        await page.keyboard.press("Enter")
        await page.get_by_text("2 of 26 reviewers are chosen for this call").wait_for()
        await page.get_by_text("never signed in").first.wait_for()
        await page.get_by_label("Reviewers for each proposal").fill("2")
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="What would be assigned").wait_for()
        await page.get_by_role("button", name="Assign").press("Enter")
        await page.get_by_role("button", name="Withdraw").first.wait_for()
        await page.locator("summary", has_text="Choose who reviews this call").press("Enter")
        box = page.get_by_role("checkbox", name="Ada Byron")
        await box.focus()
        await page.keyboard.press("Space")
        await page.get_by_role("button", name="Choose those ticked").press("Enter")
        await page.get_by_text("2 assignments without an opinion would end").wait_for()
        await look_over(page, "call-reviewers-ends", look)
        await page.get_by_role("button", name="Choose, and end these 2").click()
        await page.get_by_text("1 of 26 reviewers is chosen for this call").wait_for()
        assert await sideways(page, look) == []
        await look_over(page, "call-reviewers", look)
    queue = await service.services.assignments.queue(ACME, member=None, batch=BatchId(batch))
    assert len({one.member for one in queue}) == 1


async def test_who_would_not_judge_blind_is_not_counted_among_those_asked(service: Service) -> None:
    owner, otto = await person(service, "owner", "Olga Owner"), await person(service, "officer", "Otto Officer")
    ada, _ = await people_of(service, "Ada Byron", "Bob Noyce")
    batch, _ = await call_of(service, "# One")
    here = f"/console/calls/{batch}/assignments"
    async with asking(service, owner) as owners, signed_in(service, owner.key) as browser:
        await owners.patch(f"/v1/members/{otto.member.id}", json={"role": "reviewer"})
        page = told((await browser.get(here)).text)
        assert "Nobody is chosen for this call: 2 of 3 reviewers would be asked." in page
        without = (
            "1 gets nothing, having been able to read the reports in another role: no first opinion would be blind."
        )
        assert without in page
        await choose(owners, batch, ids(ada, otto))
        page = told((await browser.get(here)).text)
        assert f"2 of 3 reviewers are chosen for this call. Only they are asked. {without}" in page
        await choose(owners, batch, ids(otto))
        tried = told((await browser.get(here, params={"per_proposal": "1"})).text)
        assert "All who were chosen for this call could read the reports in another role" in tried


async def test_of_reviewers_found_by_words_those_ticked_are_asked_and_nobody_else(service: Service) -> None:
    """Where nobody was chosen before, whoever is not listed does not stay as they are: they were asked until then."""
    officer = await person(service, "officer", "Otto Officer")
    ada, bob = await people_of(service, "Ada Byron", "Bob Noyce")
    batch, _ = await call_of(service, "# One")
    here = f"/console/calls/{batch}/assignments"
    async with asking(service, officer) as officers, signed_in(service, officer.key) as browser:
        page = told((await browser.get(here, params={"find": "byron"})).text)
        assert "Tick who is asked to review this call, and nobody else" in page
        assert "whoever is not listed stays as they are" not in page
        await choose(officers, batch, ids(ada, bob))
        page = told((await browser.get(here, params={"find": "byron"})).text)
        assert "Tick who is asked to review this call; whoever is not listed stays as they are" in page


async def test_a_conflict_is_declared_of_who_gave_an_opinion_and_is_not_asked_any_more(service: Service) -> None:
    officer = await person(service, "officer", "Otto Officer")
    ada, bob = await people_of(service, "Ada Byron", "Bob Noyce")
    batch, (first,) = await call_of(service, "# One")
    here = f"/console/calls/{batch}/assignments"
    async with asking(service, officer) as officers, asking(service, ada) as reviewer:
        await assign(officers, batch, per_proposal=1, reviewers=ids(ada))
        await reviewer.post(f"/v1/evaluations/{first}/opinions", json={"score": 4})
        await choose(officers, batch, ids(bob))
    async with signed_in(service, officer.key) as browser:
        assert f'<option value="{ada.member.id}">' in (await browser.get(here)).text


async def test_a_call_that_is_signed_off_names_those_who_had_its_proposals_and_nobody_else(service: Service) -> None:
    owner = await person(service, "owner", "Olga Owner")
    (ada,) = await people_of(service, "Ada Byron")
    batch, _ = await call_of(service, "# One")
    here = f"/console/calls/{batch}/assignments"
    async with asking(service, owner) as owners, signed_in(service, owner.key) as browser:
        await assign(owners, batch, per_proposal=1, reviewers=ids(ada))
        despite = {"despite_unfinished": True, "despite_missing": True}
        assert (await owners.post(f"/v1/batches/{batch}/sign-off", json=despite)).status_code == 200
        await people_of(service, "Bob Noyce")
        page = told((await browser.get(here)).text)
        assert "Ada Byron" in page
        assert "Bob Noyce" not in page
        assert "would be asked" not in page
