"""Sign-in links in mails to reviewers: each works once and for a limited time. Reminders of missing reviews."""

import datetime as dt
import re
from collections.abc import AsyncIterator

import httpx2
import pytest

from orchestrator.access.roles import MemberId
from orchestrator.store.mails import PgMails
from tests.contract.api.browsing import EACH_LOOK, Look, look_over, open_console
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.reviewed_calls import choose_reviewers, list_member_ids
from tests.contract.api.service import Service
from tests.contract.mail_sending import send_mails
from tests.contract.mail_server import MailServer, run_mail_server

_ORIGIN = {"Origin": "http://api"}
_LINK = re.compile(r"https://assayer\.example\.org(/console/sign-in/link/[\w-]{43})")


@pytest.fixture
async def smtp() -> AsyncIterator[MailServer]:
    async with run_mail_server() as mail_server:
        yield mail_server


async def _create_link(service: Service, member: Person) -> str:
    token = await service.services.mails.links.create(MemberId(member.member.id), service.services.clock.now())
    return f"/console/sign-in/link/{token}"


async def _use(browser: httpx2.AsyncClient, link: str) -> httpx2.Response:
    return await browser.post(link, headers=_ORIGIN)


async def test_invitation_and_reminder_bring_links_that_are_stored_only_as_hashes(
    service: Service, officer: Person, smtp: MailServer
) -> None:
    invited = {"name": "Grace Hopper", "email": "grace@example.org", "role": "reviewer"}
    assert (await officer.post("/v1/members", json=invited)).status_code == 201
    async with send_mails(service, smtp.port):
        (letter,) = await smtp.receive(1)
    (path,) = _LINK.findall(letter.text)
    assert "key" not in letter.text
    assert "can be used once, within 14 days" in letter.text
    token = path.rpartition("/")[2]
    stored = await service.database.fetch("SELECT sign_in_links::text AS link, news::text FROM sign_in_links, mails")
    assert stored
    assert not any(token in value for row in stored for value in row.values())
    async with service.open_client(url=None) as browser:
        assert "Grace Hopper" in (await browser.get(path)).text
        assert (await _use(browser, path)).headers["location"] == "/console/queue"
        assert "Grace Hopper, reviewer" in (await browser.get("/console/queue")).text
    (grace,) = [item for item in (await officer.get("/v1/members")).json()["items"] if item["name"] == "Grace Hopper"]
    assert grace["can_sign_in"], "the officer sees that she has been here"


async def test_link_works_once_and_not_for_others(service: Service, owner: Person, ada: Person) -> None:
    link = await _create_link(service, ada)
    async with service.open_client(url=None) as browser:
        assert (await browser.post(link, headers={"Origin": "http://elsewhere"})).status_code == 403
        assert (await browser.get(link)).status_code == 200, "opening it does not use it up"
        assert (await _use(browser, link)).status_code == 303
        assert (await _use(browser, link)).status_code == 410
        assert "has been used or has expired" in (await browser.get(link)).text
        assert (await _use(browser, await _create_link(service, owner))).status_code == 410, (
            "owners never sign in this way"
        )


@pytest.mark.parametrize("method", ["expired", "removed", "another address", "another role"])
async def test_link_ends_with_its_time_or_its_person(service: Service, owner: Person, ada: Person, method: str) -> None:
    link, member = await _create_link(service, ada), f"/v1/members/{ada.member.id}"
    match method:
        case "expired":
            await service.database.execute("UPDATE sign_in_links SET expires_at = now() - interval '1 second'")
        case "removed":
            assert (await owner.delete(member)).status_code < 300
        case "another address":
            assert (await owner.patch(member, json={"email": "other@example.org"})).status_code == 200
        case _:
            assert (await owner.patch(member, json={"role": "officer"})).status_code == 200
    async with service.open_client(url=None) as browser:
        assert (await _use(browser, link)).status_code == 410


@EACH_LOOK
async def test_reviewer_asks_for_a_link_and_opens_the_queue_with_it(
    service: Service, officer: Person, ada: Person, look: Look, smtp: MailServer
) -> None:
    async with open_console(service, officer.key, look, is_refused=True) as (page, url):
        await page.context.clear_cookies()
        await page.goto(f"{url}/console/sign-in")
        for address in ("nobody@example.org", ada.member.email, ada.member.email):
            await page.get_by_label("Email address that was invited").fill(address)
            await page.get_by_role("button", name="Send me a link").click()
            await page.get_by_text("If this address belongs to a reviewer, a link has been sent to it.").wait_for()
        await look_over(page, "sign-in-sent", look)
        async with send_mails(service, smtp.port):
            (letter,) = await smtp.receive(1)
        assert letter.recipients == (ada.member.email,)
        (path,) = _LINK.findall(letter.text)
        await page.goto(url + path)
        await look_over(page, "sign-in-link", look)
        await page.get_by_role("button", name="Continue to your queue").click()
        await page.get_by_text("Ada Byron, reviewer").wait_for()
        await page.goto(url + path)
        await page.get_by_text("This link has been used or has expired.").wait_for()


@EACH_LOOK
async def test_officer_reminds_reviewers_of_missing_reviews(
    service: Service, officer: Person, ada: Person, look: Look, smtp: MailServer
) -> None:
    batch, _ = await call_of(service, "# One", "# Two")
    due = (dt.datetime.now(dt.UTC) - dt.timedelta(days=2)).date()
    await service.database.execute("UPDATE batches SET name = 'Spring', opinions_due = $1", due)
    await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    await service.database.execute("DELETE FROM mails")
    async with open_console(service, officer.key, look) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}/panel")
        await page.get_by_text(f"overdue since {due}").first.wait_for()
        await page.get_by_role("button", name="Remind 1 reviewer by email").click()
        await page.get_by_text("Everyone who accepts email was reminded within the last 24 hours.").wait_for()
        await look_over(page, "panel-reminded", look)
    async with send_mails(service, smtp.port):
        (letter,) = await smtp.receive(1)
    assert letter.message["Subject"] == f"Reminder: 2 reviews missing, due by {due}: Spring"
    assert _LINK.search(letter.text)
    async with open_session(service, officer.key) as browser:
        assert (await submit_form(browser, f"/console/calls/{batch}/panel", "/reminders")).status_code == 303
    assert len(await service.services.mails.list_for_member(ada.member.tenant, MemberId(ada.member.id))) == 1
    actions = [entry.action for entry in await service.services.audit_log.list_entries(ada.member.tenant)]
    assert actions.count("reviewers reminded") == 1


async def test_reviewers_of_a_call_are_asked_for_bids_by_mail_with_a_link(
    service: Service, officer: Person, ada: Person, smtp: MailServer
) -> None:
    bob = await add_person(service, "reviewer", "Bob Noyce")
    batch, _ = await call_of(service, "# One")
    await choose_reviewers(officer, batch, list_member_ids(ada))
    for expected in (True, True):
        assert (await officer.put(f"/v1/batches/{batch}/bidding", json={"open": expected})).status_code == 200
    async with send_mails(service, smtp.port):
        (letter,) = await smtp.receive(1)
    assert letter.recipients == (ada.member.email,)
    assert letter.message["Subject"].startswith("Which proposals would you like to review? Unnamed call of ")
    (path,) = _LINK.findall(letter.text)
    async with service.open_client(url=None) as browser:
        queue = (await _use(browser, path)).headers["location"]
        assert "1 call asks which proposals you would like to review" in (await browser.get(queue)).text
    assert not await service.services.mails.list_for_member(bob.member.tenant, MemberId(bob.member.id))


async def test_page_states_that_no_mail_is_sent(service: Service, officer: Person, ada: Person) -> None:
    mails = PgMails(service.database, enabled=False)
    silent_service = service.with_services(mails=mails)
    batch, _ = await call_of(silent_service, "# One")
    await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    async with open_session(silent_service, officer.key) as browser:
        page = f"/console/calls/{batch}/panel"
        page_text = (await browser.get(page)).text
        assert "This service does not send email" in page_text
        assert ada.member.email in page_text, "the officer can write to her"
        assert (await submit_form(browser, page, "/reminders")).status_code == 409
        assert "Send me a link" not in (await browser.get("/console/sign-in")).text
