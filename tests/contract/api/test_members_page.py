"""The page of people: invited, changed, given a key and removed, each by whom the rules allow."""

import httpx2
import pytest

from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.people import Person, add_person
from tests.contract.api.service import Service

HERE = "/console/members"
GRACE = {"name": "Grace Hopper", "email": "grace@example.org", "affiliation": "Yale University", "role": "reviewer"}


async def submit_page_form(browser: httpx2.AsyncClient, path: str, page: str = HERE, **fields: str) -> httpx2.Response:
    return await submit_form(browser, page, path, **fields)


async def test_member_is_invited_changed_issued_a_key_and_removed(service: Service, owner: Person) -> None:
    async with open_session(service, owner.key) as browser:
        answer = await submit_page_form(browser, HERE, **GRACE)
        assert answer.status_code == 303, answer.text
        id = answer.headers["location"].partition("#")[2]
        page = (await browser.get(HERE)).text
        assert "Grace Hopper" in page
        assert "not yet" in page
        changed = await submit_page_form(browser, f"{HERE}/{id}", **GRACE | {"role": "auditor"})
        assert changed.status_code == 303, changed.text
        key_page = await submit_page_form(browser, f"{HERE}/{id}/key")
        assert key_page.headers["cache-control"] == "no-store"
        secret = key_page.text.partition('id="secret">')[2].partition("<")[0]
        async with open_session(service, secret) as grace:
            assert "Grace Hopper, auditor" in (await grace.get(HERE)).text
            assert "Their keys and sessions stop working immediately" not in (await grace.get(HERE)).text
            assert "sessions stop working immediately" in (await browser.get(f"{HERE}/{id}/remove")).text
            assert (await submit_page_form(browser, f"{HERE}/{id}/remove")).status_code == 303
            assert (await grace.get(HERE)).status_code == 303
        assert "removed 20" in (await browser.get(HERE)).text
        assert (await browser.get(f"{HERE}/{id}")).status_code == 409
    actions = [entry.action for entry in await service.services.audit_log.list_entries(owner.member.tenant)]
    assert actions[-4:] == ["member invited", "member changed", "key given", "member removed"]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", " ", "A name must be 1 to 200 characters long."),
        ("email", "grace", "An email address must have the form name@example.org."),
        ("role", "king", "The role must be owner, officer, reviewer or auditor."),
        ("email", "otto.officer@example.org", "already belongs to a member"),
        ("role", "owner", "Only an owner can appoint, change or remove an owner."),
    ],
)
async def test_invalid_member_form_is_explained_and_input_is_kept(
    service: Service, officer: Person, field: str, value: str, words: str
) -> None:
    async with open_session(service, officer.key) as browser:
        answer = await submit_page_form(browser, HERE, **GRACE | {field: value})
        assert answer.status_code in (403, 409, 422)
        assert words in answer.text
        assert 'value="Yale University"' in answer.text
    assert len(await service.services.members.list(officer.member.tenant)) == 1


async def test_officer_can_edit_a_member_but_not_the_members_email_address(service: Service) -> None:
    officer, ada = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    page = f"{HERE}/{ada.member.id}"
    async with open_session(service, officer.key) as browser:
        assert "Only an owner can change the address" in (await browser.get(page)).text
        answer = await submit_page_form(browser, page, **GRACE)
        assert answer.status_code == 403
        assert "Only an owner may change the address" in answer.text
        assert (await submit_page_form(browser, page, **GRACE | {"email": ada.member.email})).status_code == 303
    changed = await service.services.members.get(ada.member.tenant, ada.member.id)
    assert changed is not None
    assert (changed.name, changed.email) == ("Grace Hopper", ada.member.email)


async def test_officers_cannot_change_owners_and_auditors_only_view(service: Service) -> None:
    owner = await add_person(service, "owner", "Olga Owner")
    officer = await add_person(service, "officer", "Otto Officer")
    changes = (f"{HERE}/{owner.member.id}", f"{HERE}/{owner.member.id}/remove")
    async with open_session(service, officer.key) as browser:
        page = (await browser.get(HERE)).text
        assert changes[0] not in page
        assert "<option>owner" not in page
        for path in changes:
            assert (await browser.get(path)).status_code == 403
            assert (await submit_page_form(browser, path, **GRACE)).status_code == 403
        assert (await submit_page_form(browser, f"{changes[0]}/key")).status_code == 403
    async with open_session(service, owner.key) as browser:
        assert "<option>owner" in (await browser.get(HERE)).text
        assert "Create a key" in (await browser.get(changes[0])).text
    async with open_session(service, (await add_person(service, "auditor", "Eva Auditor")).key) as browser:
        page = (await browser.get(HERE)).text
        assert "Olga Owner" in page
        assert "Invite a person" not in page


async def test_officer_changes_no_roles_not_even_their_own(service: Service) -> None:
    officer, reviewer = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    async with open_session(service, officer.key) as browser:
        for person in (officer, reviewer):
            form = {"name": person.member.name, "email": person.member.email, "affiliation": "", "role": "auditor"}
            answer = await submit_page_form(browser, f"{HERE}/{person.member.id}", **form)
            assert "Create a key" not in (await browser.get(f"{HERE}/{person.member.id}")).text
            assert answer.status_code == 403
            assert "Only an owner can change" in answer.text
            form["role"] = person.member.role
            assert (await submit_page_form(browser, f"{HERE}/{person.member.id}", **form)).status_code == 303
