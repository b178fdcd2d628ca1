"""The page of one's own account: who one is, and whether mails come."""

import asyncio

from tests.contract.api.console_forms import fetch_csrf_token, open_session, submit_form
from tests.contract.api.people import add_person
from tests.contract.api.service import Service

HERE = "/console/account"
ORIGIN = {"Origin": "http://api"}


async def test_a_reviewer_switches_mails_off_and_on_again(service: Service) -> None:
    grace = await add_person(service, "reviewer", "Grace Hopper", affiliation="Yale University")
    members, tenant = service.services.members, grace.member.tenant
    async with open_session(service, grace.key) as browser:
        text = (await browser.get(HERE)).text
        assert "grace.hopper@example.org" in text
        assert "Yale University" in text
        assert 'value="true" checked' in text
        assert (await submit_form(browser, HERE)).status_code == 303
        assert 'value="true" checked' not in (await browser.get(HERE)).text
        member = await members.get(tenant, grace.member.id)
        assert member == grace.member.model_copy(update={"receives_email": False, "can_sign_in": True})
        assert (await submit_form(browser, HERE, receives_email="true")).status_code == 303
        assert (await submit_form(browser, HERE, receives_email="true")).status_code == 303
    member = await members.get(tenant, grace.member.id)
    assert member is not None
    assert member.receives_email
    actions = [(entry.action, entry.actor) for entry in await service.services.audit_log.list_entries(tenant)]
    assert actions[-2:] == [("member changed", grace.member.id)] * 2


async def test_concurrent_account_save_does_not_restore_a_removed_role(service: Service) -> None:
    owner, otto = await add_person(service, "owner", "Olga Owner"), await add_person(service, "officer", "Otto Officer")
    path = f"/v1/members/{otto.member.id}"
    async with open_session(service, otto.key) as browser:
        body = {"csrf_token": await fetch_csrf_token(browser, HERE)}
        for _ in range(10):
            demotion = owner.patch(path, json={"role": "reviewer"})
            saves = [{"receives_email": "true"} if n % 2 else {} for n in range(8)]
            await asyncio.gather(*(browser.post(HERE, data=body | save, headers=ORIGIN) for save in saves), demotion)
            assert (await owner.get(path)).json()["role"] == "reviewer"
            await owner.patch(path, json={"role": "officer"})


async def test_undelivered_email_is_shown_to_the_inviting_officer(service: Service) -> None:
    officer, grace = await add_person(service, "officer", "Otto"), await add_person(service, "reviewer", "Grace Hopper")
    await service.database.run(lambda connection: service.services.mails.queue_invitation(connection, grace.member))
    async with open_session(service, officer.key) as browser:
        assert "queued" in (await browser.get(f"/console/members/{grace.member.id}")).text
        query = (
            "UPDATE mails SET state = 'failed', attempt = 1, last_result = 'mail.test answered 550 <no such mailbox>.'"
        )
        await service.database.execute(query)
        people = (await browser.get("/console/members")).text
        page = (await browser.get(f"/console/members/{grace.member.id}")).text
    assert "email not delivered" in people
    assert '<span class="mark failed">failed</span>' in page
    assert "550 &lt;no such mailbox&gt;" in page
