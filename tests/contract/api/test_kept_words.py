"""Typed text survives an expired session and a rejected request: in that tab, for that person, until it is accepted."""

import pytest
from playwright.async_api import Page

from tests.contract.api.browsing import DROP_FILE, PHONE_AND_DESK, look_over, open_console
from tests.contract.api.people import Person, add_person
from tests.contract.api.reviewed_calls import create_assigned_call
from tests.contract.api.service import TEXT, Service

WORDS = 'Sound, and cheap; "twice" <b>read</b>.\nA second line.'
KEPT = "Object.keys(sessionStorage).filter(name => name.startsWith('words of')).length"


async def _sign_in(page: Page, key: str) -> None:
    await page.get_by_label("API key").fill(key)
    await page.keyboard.press("Enter")


async def test_unsent_opinion_is_restored_after_signing_in_again(service: Service) -> None:
    ada, _, (first,) = await create_assigned_call(service, "# One")
    async with open_console(service, ada.key, PHONE_AND_DESK[0]) as (page, url):
        await page.goto(f"{url}/console/review/{first}")
        await page.get_by_label("4", exact=True).check()
        await page.get_by_label("Why").fill(WORDS)
        await page.context.clear_cookies()
        await page.get_by_role("button", name="Give first review").click()
        await _sign_in(page, ada.key)
        await page.get_by_text("Your text from before you were signed out.").wait_for()
        assert page.url == f"{url}/console/review/{first}"
        assert await page.get_by_label("Why").input_value() == WORDS
        assert await page.get_by_label("4", exact=True).is_checked()
        assert ada.key not in await page.evaluate("JSON.stringify(sessionStorage)")
        await look_over(page, "kept-words", PHONE_AND_DESK[0])
        await page.get_by_role("button", name="Give first review").click()
        await page.get_by_text("First review (cannot be changed)").wait_for()
        assert await page.get_by_text("Your text").count() == 0
        assert await page.evaluate(KEPT) == 0


@pytest.mark.slow
async def test_unsent_text_is_not_shown_to_another_user(service: Service) -> None:
    _, _, (first,) = await create_assigned_call(service, "# One")
    officer = await add_person(service, "officer", "Olga Officer")
    async with open_console(service, officer.key, PHONE_AND_DESK[1]) as (page, url):
        remark = f"{url}/console/proposals/{first}"
        await page.goto(remark)
        await page.get_by_label("Add a remark").fill(WORDS)
        await page.goto(remark)
        await page.get_by_text("Your unsaved text.").wait_for()
        assert await page.get_by_label("Add a remark").input_value() == WORDS
        await page.context.clear_cookies()
        await page.goto(remark)
        await _sign_in(page, (await add_person(service, "owner", "Oona Owner")).key)
        await page.get_by_label("Add a remark").wait_for()
        assert await page.get_by_label("Add a remark").input_value() == ""
        assert await page.evaluate(KEPT) == 0
        await page.get_by_label("Add a remark").fill(WORDS)
        await page.get_by_role("button", name="Sign out").click()
        await page.get_by_label("API key").wait_for()
        assert await page.evaluate(KEPT) == 0


@pytest.mark.slow
async def test_stale_page_returns_the_unsent_text(service: Service) -> None:
    ada, _, (first,) = await create_assigned_call(service, "# One")
    async with open_console(service, ada.key, PHONE_AND_DESK[0], is_refused=True) as (page, url):
        await page.goto(f"{url}/console/review/{first}")
        await page.get_by_label("4", exact=True).check()
        await page.get_by_label("Why").fill(WORDS)
        await page.context.clear_cookies()
        other_page = await page.context.new_page()
        await other_page.goto(f"{url}/console")
        await _sign_in(other_page, ada.key)
        await other_page.get_by_role("button", name="Sign out").wait_for()
        await page.get_by_role("button", name="Give first review").click()
        await page.get_by_role("heading", name="The page was out of date").wait_for()
        assert WORDS in await page.inner_text("main")
        await look_over(page, "refusal", PHONE_AND_DESK[0])
        await page.get_by_role("link", name="Go back").click()
        assert await page.get_by_label("Why").input_value() == WORDS
        await page.get_by_role("button", name="Give first review").click()
        await page.get_by_text("First review (cannot be changed): 4 of 5").wait_for()


@pytest.mark.slow
async def test_new_call_keeps_its_files_while_signing_in_again(service: Service, officer: Person) -> None:
    async with open_console(service, officer.key, PHONE_AND_DESK[1], is_refused=True) as (page, url):
        await page.goto(f"{url}/console/calls/new")
        assert await page.get_by_text("needs JavaScript").count() == 0
        await page.get_by_label("Name", exact=True).fill("Spring")
        await page.evaluate(DROP_FILE, ["one.txt", TEXT])
        await page.get_by_text("1 file,").wait_for()
        await page.context.clear_cookies()
        await page.get_by_role("button", name="Submit").click()
        await page.get_by_text("then press “Submit” again").wait_for()
        assert page.url == f"{url}/console/calls/new"
        async with page.context.expect_page() as popup:
            await page.get_by_role("link", name="sign in in another tab").click()
        popup_page = await popup.value
        await _sign_in(popup_page, officer.key)
        await popup_page.get_by_role("heading", name="Submit proposals").wait_for()
        await page.get_by_role("button", name="Submit").click()
        await page.get_by_role("heading", name="1 proposal submitted").wait_for()
    (created,) = await service.services.jobs.list_batches(officer.member.tenant, after=None, limit=9)
    assert created.name == "Spring"


@pytest.mark.slow
async def test_new_call_page_explains_the_alternative_without_javascript(service: Service, officer: Person) -> None:
    async with open_console(service, officer.key, PHONE_AND_DESK[1]) as (signed_page, url):
        assert signed_page.context.browser is not None
        cookies = await signed_page.context.storage_state()
        bare = await signed_page.context.browser.new_context(java_script_enabled=False, storage_state=cookies)
        page = await bare.new_page()
        await page.goto(f"{url}/console/calls/new")
        await page.get_by_text("submit the call from the command line").wait_for()
        assert await page.get_by_role("button", name="Submit").is_disabled()
        assert await page.get_by_role("button", name="Check and estimate").is_disabled()
