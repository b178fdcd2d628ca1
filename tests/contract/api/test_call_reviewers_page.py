"""The page on which it is said who reviews a call: all, those ticked, those invited for it; who would lose what."""

import re

from orchestrator.jobs.models import BatchId
from tests.contract.api.browsing import EACH_LOOK, PHONE_AND_DESK, Look, look_over, open_console
from tests.contract.api.console_forms import find_hidden_field, open_session, submit_form
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.reviewed_calls import (
    OUTSIDE_REVIEWER,
    assign_reviewers,
    choose_reviewers,
    invite_reviewers,
    list_member_ids,
)
from tests.contract.api.service import ACME, Service


def strip_tags(page: str) -> str:
    """Return the text of a page without its tags."""
    return " ".join(re.sub(r"<[^>]+>", "", page).split())


async def test_page_shows_reviewers_to_ask_and_those_who_never_signed_in(service: Service, officer: Person) -> None:
    ada, bob = await invite_reviewers(service, "Ada Byron", "Bob Noyce")
    batch, _ = await call_of(service, "# One")
    path = f"/console/calls/{batch}/assignments"
    async with open_session(service, officer.key) as browser:
        await officer.post("/v1/members", json=OUTSIDE_REVIEWER | {"role": "reviewer"})
        page = strip_tags((await browser.get(path)).text)
        assert (
            "No reviewers are chosen for this call: all 3 reviewers would be asked, 1 of whom has never signed in."
            in page
        )
        assert "Grace Hopper never signed in" in page
        chosen = await submit_form(
            browser, path, "/reviewers", reviewer=list_member_ids(ada, bob), listed=list_member_ids(ada, bob)
        )
        assert chosen.status_code == 303
        page = strip_tags((await browser.get(path)).text)
        assert "2 of 3 reviewers are chosen for this call. Only they are asked." in page
        async with open_session(service, (await add_person(service, "auditor", "Eva Auditor")).key) as auditors:
            entries = strip_tags((await auditors.get("/console/audit-log", params={"act": "reviewers chosen"})).text)
        assert re.search(r"added: (Ada Byron, Bob Noyce|Bob Noyce, Ada Byron)", entries)
        answer = await submit_form(browser, path, "/reviewers", everybody="yes")
        assert answer.status_code == 303
        assert "all 3 reviewers would be asked" in strip_tags((await browser.get(path)).text)


async def test_reviewers_not_listed_on_the_page_stay_chosen(service: Service, officer: Person) -> None:
    people = await invite_reviewers(service, *(f"Reviewer {number:03}" for number in range(104)))
    batch, _ = await call_of(service, "# One")
    path = f"/console/calls/{batch}/assignments"
    async with open_session(service, officer.key) as browser:
        page = (await browser.get(path)).text
        assert page.count('name="reviewer" type="checkbox"') == 100
        assert "The first 100 of 104 are listed" in strip_tags(page)
        found_page = (await browser.get(path, params={"find": "reviewer.103@"})).text
        assert re.findall(r'name="reviewer" type="checkbox" value="(\w+)"', found_page) == list_member_ids(people[103])
        await choose_reviewers(officer, batch, list_member_ids(people[0], people[1]))
        ticked = await submit_form(
            browser, path, "/reviewers", reviewer=list_member_ids(people[103]), listed=list_member_ids(people[103])
        )
        assert ticked.status_code == 303
        chosen = await service.services.reviewing.call_reviewers.get_chosen(ACME, BatchId(batch))
        assert chosen == frozenset(list_member_ids(people[0], people[1], people[103]))
        unticked = await submit_form(browser, path, "/reviewers", listed=list_member_ids(people[0]))
        assert unticked.status_code == 303
        none = await submit_form(browser, path, "/reviewers", listed=list_member_ids(people[1], people[103]))
        assert none.status_code == 409
        assert "Select at least one" in none.text
        empty_page = (await browser.get(path, params={"find": "nobody of this name"})).text
        assert "No reviewer matches" in empty_page


async def test_ending_assignments_requires_confirmation_on_the_page(service: Service, officer: Person) -> None:
    ada, bob = await invite_reviewers(service, "Ada Byron", "Bob Noyce")
    batch, evaluations = await call_of(service, "# One", "# Two", "# Three")
    path, fields = (
        f"/console/calls/{batch}/assignments",
        {"reviewer": list_member_ids(bob), "listed": list_member_ids(ada, bob)},
    )
    async with open_session(service, officer.key) as browser:
        await assign_reviewers(officer, batch, per_proposal=1, reviewers=list_member_ids(ada))
        await ada.post(f"/v1/evaluations/{evaluations[0]}/opinions", json={"score": 4})
        response = await submit_form(browser, path, "/reviewers", **fields)
        assert response.status_code == 200
        assert "2 assignments without a review would end: Ada Byron, 2." in strip_tags(response.text)
        assert await service.services.reviewing.call_reviewers.get_chosen(ACME, BatchId(batch)) is None
        stale = await submit_form(browser, path, "/reviewers", **fields, ends="another")
        assert "would end" in stale.text
        answer = await submit_form(browser, path, "/reviewers", **fields, ends=find_hidden_field(response.text, "ends"))
        assert answer.status_code == 303
        page = strip_tags((await browser.get(path)).text)
        assert "Ada Byron no longer asked" in page
        assert "1 of 2 reviewers is chosen for this call. Only they are asked." in page
        preview_page = (await browser.get(path, params={"per_proposal": "1"})).text
        assert "2 new assignments" in preview_page
        plan = {"per_proposal": "1", "shown": find_hidden_field(preview_page, "shown")}
        assert (await submit_form(browser, path, **plan)).status_code == 303
    queue = await service.services.reviewing.assignments.list_assignments(ACME, member=None, batch=BatchId(batch))
    assert {(item.evaluation, item.member) for item in queue} == {
        (evaluations[0], ada.member.id),
        (evaluations[1], bob.member.id),
        (evaluations[2], bob.member.id),
    }


async def test_invalid_invitation_is_explained_and_input_is_kept(service: Service, officer: Person) -> None:
    batch, _ = await call_of(service, "# One")
    path = f"/console/calls/{batch}/assignments"
    async with open_session(service, officer.key) as browser:
        wrong = await submit_form(browser, path, "/invite", name="Grace Hopper", email="grace", affiliation="Yale")
        assert wrong.status_code == 422
        assert "An email address must have the form name@example.org." in wrong.text
        assert 'value="Grace Hopper"' in wrong.text
        otto = await submit_form(browser, path, "/invite", name="Otto", email=officer.member.email)
        assert otto.status_code == 409
        assert "who is an officer, not a reviewer" in otto.text
        assert (
            await submit_form(browser, path, "/invite", name="Grace Hopper", email="grace@example.org")
        ).status_code == 303


async def test_form_stays_open_for_the_next_invitation(service: Service, officer: Person) -> None:
    batch, _ = await call_of(service, "# One")
    async with open_console(service, officer.key, PHONE_AND_DESK[1]) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}/assignments")
        for name in ("Grace Hopper", "Jean Bartik"):
            await page.get_by_label("Name", exact=True).fill(name)
            await page.get_by_label("Email address").fill(f"{name.replace(' ', '.')}@example.org")
            await page.get_by_role("button", name="Invite").click()
            await page.get_by_role("rowheader").filter(has_text=name).wait_for()
        assert await page.get_by_label("Name", exact=True).is_visible()


@EACH_LOOK
async def test_several_reviewers_are_invited_at_once_and_mistakes_are_named_by_line(
    service: Service, officer: Person, look: Look
) -> None:
    batch, _ = await call_of(service, "# One")
    people = (
        f"Grace Hopper, grace@example.org, Yale University; Navy\n\nJean Bartik\nKlara\tklara@\n"
        f"Otto, {officer.member.email}\nByron, Ada; ada@example.org"
    )
    async with open_console(service, officer.key, look, is_refused=True) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}/assignments")
        text = page.get_by_label("One person per line")
        await text.fill(people)
        await page.get_by_role("button", name="Add these reviewers").click()
        await page.get_by_text("2 people were invited, 3 were not.").wait_for()
        await page.get_by_text("Line 3: Write it as: Name, name@example.org, Institution.").wait_for()
        await page.get_by_text("Line 4: An email address must have the form name@example.org.").wait_for()
        assert await page.get_by_text("Line 5: ").filter(has_text="who is an officer, not a reviewer").count() == 1
        assert await text.input_value() == people, "what was typed is kept"
        await look_over(page, "invitations-refused", look)
        await text.fill("\n".join(line for line in people.splitlines() if "example.org" in line and "Otto" not in line))
        await page.get_by_role("button", name="Add these reviewers").click()
        await page.get_by_role("rowheader").filter(has_text="Grace Hopper").wait_for()
        assert await page.get_by_role("rowheader").filter(has_text="Byron, Ada").count() == 1
    invited = {item.email: item for item in await service.services.members.list_reviewers(ACME)}
    assert sorted(invited) == ["ada@example.org", "grace@example.org"]
    assert invited["grace@example.org"].affiliation == "Yale University; Navy"


async def test_reviewer_choice_is_read_only_after_sign_off_and_for_auditors(service: Service) -> None:
    owner = await add_person(service, "owner", "Olga Owner")
    auditor = await add_person(service, "auditor", "Eva Auditor")
    await add_person(service, "reviewer")
    batch, _ = await call_of(service, "# One")
    assignments_path = f"/console/calls/{batch}/assignments"
    async with open_session(service, auditor.key) as browser:
        page = (await browser.get(assignments_path)).text
        assert "the 1 reviewer would be asked" in strip_tags(page)
        assert 'checkbox" value="mb_' not in page
        assert "Invite" not in page
    async with open_session(service, owner.key) as browser:
        await owner.post(f"/v1/batches/{batch}/sign-off", json={"allow_unfinished_evaluations": True})
        page = (await browser.get(assignments_path)).text
        assert 'checkbox" value="mb_' not in page
        for path in ("/reviewers", "/invite"):
            fields = {"everybody": "yes", "name": "Grace Hopper", "email": "grace@example.org"}
            late = await submit_form(browser, assignments_path, path, **fields)
            assert late.status_code == 409
            assert "signed off" in late.text
