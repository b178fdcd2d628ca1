"""Defects that a programme officer and reviewers met in the console, each played in Chromium as they played it."""

from orchestrator.jobs.models import Problem
from tests.contract.api.browsing import EACH_LOOK, PHONE, Look, look_over, open_console
from tests.contract.api.evaluated_calls import TITLES, call_with_reports, evaluate_call_of_six
from tests.contract.api.people import Person
from tests.contract.api.reviewed_calls import call_with_reviewer
from tests.contract.api.service import Service
from tests.contract.pdf_files import build_document
from tests.unit.batch_bodies import WORDS


@EACH_LOOK
async def test_unreadable_document_is_never_assigned(
    service: Service, officer: Person, ada: Person, look: Look
) -> None:
    files = [("file", ("broken.pdf", build_document([]))), ("file", ("one.txt", f"# One\n\n{WORDS}".encode()))]
    answer = await officer.post("/v1/batches?name=Spring", files=files)
    assert answer.json()["accepted"] == 2, answer.text
    batch = answer.json()["id"]
    await service.finish(Problem(type="unreadable", title="It cannot be read", detail="Send it again."))
    await service.finish()
    async with open_console(service, officer.key, look) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}/assignments?per_proposal=1")
        await page.get_by_role("button", name="Assign it").click()
        await page.get_by_role("button", name="Withdraw").wait_for()
        assert await page.get_by_role("button", name="Withdraw").count() == 1
        assert await page.get_by_text("1 of 1 proposal", exact=True).count() == 1, "only one can be reviewed"
    (assigned,) = (await ada.get("/v1/assignments")).json()["items"]
    assert assigned["row"] == 2


@EACH_LOOK
async def test_chosen_proposals_stay_chosen_while_the_table_is_searched(service: Service, look: Look) -> None:
    batch = await call_with_reports(service)
    async with open_console(service, await service.create_key(), look) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}")
        await page.get_by_label(f"Compare {TITLES[0]}").check()
        await page.get_by_label("Search titles").fill("slag")
        await page.get_by_role("heading", name="1 proposal", exact=True).wait_for()
        await page.get_by_label(f"Compare {TITLES[1]}").check()
        await page.get_by_text("2 chosen, 1 of them not shown here").wait_for()
        await look_over(page, "table-chosen-elsewhere", look)
        await page.get_by_role("button", name="Compare selected").click()
        await page.get_by_role("heading", name="Compare 2 proposals").wait_for()


@EACH_LOOK
async def test_saved_view_is_not_replaced_unasked(service: Service, look: Look) -> None:
    batch, other_call = await call_with_reports(service), await evaluate_call_of_six(service)
    async with open_console(service, await service.create_key(), look, is_refused=True) as (page, url):
        for call, query, replace in (
            (batch, "q=slag", False),
            (other_call, "q=worth", False),
            (other_call, "q=worth", True),
        ):
            await page.goto(f"{url}/console/calls/{call}?{query}")
            await page.get_by_label("Save this view as").fill("Mine")
            await page.get_by_label("Replace a view of this name").set_checked(replace)
            await page.get_by_role("button", name="Save", exact=True).click()
            if call == other_call and not replace:
                await page.get_by_text("A view called “Mine” already exists").wait_for()
            else:
                await page.get_by_role("link", name="Mine", exact=True).wait_for()
    rows = await service.database.fetch("SELECT query FROM saved_views")
    assert [row["query"] for row in rows] == ["q=worth"]


async def test_form_of_a_long_proposal_opens_with_one_tap_on_a_phone(service: Service) -> None:
    ada, _, (first,) = await call_with_reviewer(service, "# One")
    look = Look(PHONE, "light")
    async with open_console(service, ada.key, look) as (page, url):
        await page.goto(f"{url}/console/review/{first}")
        await page.locator("section.text").evaluate(
            "one => one.querySelector('.told').append(...Array.from({length: 400}, () => document.createElement('p'))"
            ".map(line => (line.textContent = 'More of the proposal.', line)))"
        )
        link = page.get_by_role("link", name="Your review")
        assert await link.evaluate("one => one.getBoundingClientRect().top < innerHeight"), "it is in sight at once"
        await link.click()
        form = page.get_by_role("button", name="Give first review")
        assert await form.evaluate("one => one.getBoundingClientRect().top < 2 * innerHeight")


async def test_agreeing_with_a_claim_takes_one_click(service: Service) -> None:
    ada, _, (first,) = await call_with_reviewer(service, "# One")
    assert (await ada.post(f"/v1/evaluations/{first}/opinions", json={"score": 4})).status_code == 200
    async with open_console(service, ada.key, Look(1280, "light")) as (page, url):
        await page.goto(f"{url}/console/review/{first}")
        await page.get_by_role("button", name="Agree with claim 1", exact=True).click()
        await page.locator("#claim-1").get_by_text("You agree").wait_for()
        report = page.get_by_role("link", name="Read the report")
        assert await report.get_attribute("target") == "_blank", "the report has no way back of its own"
