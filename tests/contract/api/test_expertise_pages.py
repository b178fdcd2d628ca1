"""Pages for expertise and bids, from the officer's form to the assignments, in a real Chromium."""

import pytest

from tests.contract.api.browsing import EACH_LOOK, Look, look_over, open_console
from tests.contract.api.console_forms import fetch_csrf_token, find_hidden_field, open_session, submit_form
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.service import Service

BEETLES = "# Bark beetles in spruce\n\nWe count bark beetles in spruce forests after storms."
PROOFS = "# Proof assistants\n\nWe formalise topology in a proof assistant."


@EACH_LOOK
async def test_officer_enters_expertise_reviewer_bids_and_officer_assigns(
    service: Service, officer: Person, ada: Person, look: Look
) -> None:
    bob = await add_person(service, "reviewer", "Bob Noyce")
    batch, (_, proofs) = await call_of(service, BEETLES, PROOFS)
    path = f"/console/calls/{batch}/assignments"
    async with open_console(service, officer.key, look) as (page, url):
        await page.goto(f"{url}{path}")
        await page.get_by_role("button", name="Ask for bids").click()
        await page.get_by_text("Reviewers are asked for bids: 0 bids so far.").wait_for()
        await page.get_by_role("link", name="Expertise of Ada Byron: unknown").click()
        await page.get_by_label("Keywords, separated by commas").fill("bark beetles, spruce forests")
        await page.get_by_label("Add papers").fill("Counting bark beetles in spruce (2024)\n10.1000/abc")
        await page.get_by_role("button", name="Save").click()
        await page.get_by_text("1 paper. They could not be looked up in the corpus").wait_for()
        assert await page.get_by_role("listitem").filter(has_text="10.1000/abc").count() == 1
        await look_over(page, "expertise", look)
        await page.get_by_role("link", name="Back to").click()
        await page.wait_for_url(f"{url}{path}")
    async with open_console(service, bob.key, look) as (page, url):
        await page.get_by_role("link", name="Bids", exact=True).click()
        await page.get_by_role("main").get_by_role("link").first.click()
        await page.get_by_role("link", name="Declare your conflicts of interest").click()
        await page.get_by_label("People such as advisers").fill("Cy Young")
        await page.get_by_role("button", name="Save and declare").click()
        await page.get_by_text("Conflicts of interest declared by you").wait_for()
        await page.goto(f"{url}/console/bids/{batch}")
        await page.get_by_text("shown only by its number until it has been evaluated").wait_for()
        await page.get_by_role("group", name="Proposal 2").get_by_label("Eager").check()
        await page.get_by_role("button", name="Save bids").click()
        await page.get_by_text("You have bid on 1 of 2.").wait_for()
        await look_over(page, "bids", look)
    async with open_console(service, officer.key, look) as (page, url):
        await page.goto(f"{url}{path}")
        await page.get_by_label("Reviewers per proposal").fill("1")
        await page.get_by_role("button", name="Plan assignments").click()
        await page.get_by_text("2 new assignments").wait_for()
        row = page.get_by_role("row").filter(has_text="Bark beetles in spruce")
        assert "The reviewer's only known paper is close" in await row.inner_text()
        await look_over(page, "planned-by-expertise", look)
        await page.get_by_role("button", name="Assign these 2").click()
        await page.get_by_text("The reviewer's bid: eager.").wait_for()
        await look_over(page, "assigned-by-expertise", look)
    assert [item["evaluation"] for item in (await bob.get("/v1/assignments")).json()["items"]] == [proofs]


async def test_expertise_saved_in_two_tabs_is_not_overwritten_and_the_text_is_kept(
    service: Service, officer: Person, ada: Person
) -> None:
    path = f"/console/members/{ada.member.id}/expertise"
    async with open_session(service, officer.key) as browser:
        version = find_hidden_field((await browser.get(path)).text, "version")
        first = await submit_form(browser, path, version=version, keywords="beetles")
        assert first.status_code == 200
        late = await submit_form(browser, path, version=version, keywords="topology")
        assert late.status_code == 409
        assert "topology" in late.text
        assert "was changed after you opened it" in late.text
        wrong = await submit_form(browser, path, version="1", keywords="x" * 300)
        assert wrong.status_code == 409
        assert "Keywords: " in wrong.text


async def test_papers_are_removed_by_their_box(service: Service, officer: Person, ada: Person) -> None:
    path = f"/console/members/{ada.member.id}/expertise"
    async with open_session(service, officer.key) as browser:
        await submit_form(browser, path, version="0", references="Counting bark beetles\nProof assistants again")
        page = (await submit_form(browser, path, version="1", removed=["0"])).text
    assert "Counting bark beetles" not in page
    assert "Proof assistants again" in page


@pytest.mark.parametrize("path", ["/console/expertise", "/console/bids"])
async def test_pages_of_reviewers_are_closed_to_officers(service: Service, officer: Person, path: str) -> None:
    async with open_session(service, officer.key) as browser:
        assert (await browser.get(path)).status_code == 403


async def test_bid_on_a_proposal_that_left_the_list_is_refused_on_the_page(
    service: Service, officer: Person, ada: Person
) -> None:
    batch, (first, _) = await call_of(service, BEETLES, PROOFS)
    path = f"/console/bids/{batch}"
    async with open_session(service, ada.key) as browser:
        assert (await browser.get(path)).status_code == 409
        await officer.put(f"/v1/batches/{batch}/bidding", json={"open": True})
        await submit_form(browser, "/console/expertise", version="0")
        assert (await submit_form(browser, path, **{f"bid-{first}": "conflict"})).status_code == 303
        again = await submit_form(browser, path, **{f"bid-{first}": "eager"})
        assert again.status_code == 409
        assert "Nothing was stored" in again.text


async def test_bids_on_an_unknown_call_are_not_found_even_if_none_is_chosen(service: Service, ada: Person) -> None:
    async with open_session(service, ada.key) as browser:
        form = {"csrf_token": await fetch_csrf_token(browser, "/console/queue")}
        answer = await browser.post("/console/bids/bt_none", data=form, headers={"Origin": "http://api"})
    assert answer.status_code == 404


async def test_plan_is_refused_if_a_reviewer_declared_interests_after_it_was_shown(
    service: Service, officer: Person, ada: Person
) -> None:
    batch, _ = await call_of(service, "# One\n\nAuthors: Cy Young\n\nText.")
    path = f"/console/calls/{batch}/assignments"
    async with open_session(service, officer.key) as browser:
        field = find_hidden_field((await browser.get(path, params={"per_proposal": "1"})).text, "shown")
        body = {"people": ["Cy Young"], "version": 0}
        await ada.put(f"/v1/members/{ada.member.id}/expertise", json=body)
        answer = await submit_form(browser, path, per_proposal="1", shown=field)
    assert answer.status_code == 409
    assert "found by a declared person" in answer.text
