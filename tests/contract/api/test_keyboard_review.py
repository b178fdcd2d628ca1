"""A reviewer without a mouse: signs in, declares interests, reviews the whole queue by the call's form, answers the
program's claims and signs out."""

from playwright.async_api import async_playwright

from tests.chromium import launch_options
from tests.contract.api.browsing import EACH_LOOK, Look, open_console, open_page
from tests.contract.api.funding_calls import create_reviewed_call
from tests.contract.api.keyboard import Keyboard
from tests.contract.api.people import Person
from tests.contract.api.reviewed_calls import call_with_opinions
from tests.contract.api.service import Service, serve
from tests.unit.reports_fixture import make_full_report

_TITLE = make_full_report().idea.title
_ANSWERS = {
    "criteria": {"Impact": 8, "Cost": 4},
    "fields": {"Team": 3, "Ethics": "Consent of those interviewed."},
    "confidence": 4,
    "to_applicant": "Name the users.",
}


@EACH_LOOK
async def test_review_can_be_completed_with_the_keyboard_alone(
    service: Service, officer: Person, ada: Person, look: Look
) -> None:
    _, (first, second) = await create_reviewed_call(service, officer, ada)
    complaints: list[str] = []
    async with serve(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        page = await open_page(browser, look, complaints)
        keyboard = Keyboard(page)
        await page.goto(f"{url}/console")
        await page.wait_for_function("document.activeElement.tagName === 'INPUT'")
        await page.keyboard.type(ada.key)
        await keyboard.open("Sign in")
        await _declare_interests(keyboard)
        assert [stop.name.startswith(f"a {_TITLE}") for stop in await keyboard.walk()][-2:] == [True, True]
        await keyboard.open(_TITLE)
        await _fill_in_review(keyboard)
        await page.wait_for_url(f"**/console/review/{second}")
        await _fill_in_review(keyboard)
        await page.wait_for_url("**/console/queue")
        await page.get_by_text("0 of 2 await your review").wait_for()
        await keyboard.open(_TITLE)
        await _answer_claims(keyboard)
        await keyboard.open("Your queue", "Shift+Tab")
        await keyboard.open("Sign out", "Shift+Tab")
        await page.get_by_role("heading", name="Sign in", exact=True).wait_for()
        await browser.close()
    assert complaints == []
    for evaluation in (first, second):
        (opinion,) = (await ada.get(f"/v1/evaluations/{evaluation}/opinions")).json()["items"]
        assert (opinion["score"], opinion["note"], opinion["answers"]) == (4, "Sound, but late.", _ANSWERS)
    expertise = (await ada.get(f"/v1/members/{ada.member.id}/expertise")).json()
    assert (expertise["keywords"], expertise["people"]) == (["forgetting", "memory"], ["Cy Young"])
    assert expertise["declared_at"] is not None


async def _declare_interests(keyboard: Keyboard) -> None:
    await keyboard.open("Declare them")
    assert len(await keyboard.walk()) > 8
    await keyboard.type("Keywords", "forgetting, memory")
    await keyboard.type("Institutions", "Yale University")
    await keyboard.type("People such as", "Cy Young")
    await keyboard.open("Save and declare")
    await keyboard.open("Back to your queue")


async def _fill_in_review(keyboard: Keyboard) -> None:
    """Fill in every field of the form, and save."""
    names = [stop.name for stop in await keyboard.walk()]
    assert "button Save and next" in names
    await keyboard.unfold("Conflict or decline")
    await keyboard.move_to("A conflict of interest")
    await keyboard.move_to("Conflict or decline", "Shift+Tab")
    await keyboard.press("Space")
    await keyboard.page.get_by_text("Remove the proposal from my queue").wait_for(state="hidden")
    await keyboard.move_to("The proposal", "Shift+Tab")
    for score in (8, 4, 3):  # Impact, Cost and Team
        await keyboard.choose(score)
    await keyboard.type("Ethics", "Consent of those interviewed.")
    await keyboard.choose(4)
    await keyboard.choose(4)
    await keyboard.type("Comments to the panel", "Sound, but late.")
    await keyboard.type("Comments to the applicant", "Name the users.")
    await keyboard.open("Save and next")


async def _answer_claims(keyboard: Keyboard) -> None:
    await keyboard.walk()
    await keyboard.open("Agree with claim 1")
    await keyboard.page.locator("#claim-1").get_by_text("You agree").wait_for()


@EACH_LOOK
async def test_bars_that_stay_in_sight_never_cover_the_focus(service: Service, owner: Person, look: Look) -> None:
    batch, grace, _ = await call_with_opinions(service)
    assert (await grace.put(f"/v1/members/{grace.member.id}/expertise", json={})).is_success
    assert (await owner.put(f"/v1/batches/{batch}/bidding", json={"open": True})).is_success
    for person, path in (
        (grace, f"/console/bids/{batch}"),
        (owner, f"/console/calls/{batch}/decisions"),
        (owner, f"/console/calls/{batch}"),
    ):
        async with open_console(service, person.key, look) as (page, url):
            await page.set_viewport_size({"width": look.width, "height": 500})
            await page.goto(f"{url}{path}")
            assert len(await Keyboard(page).walk()) > 10
