"""Someone who could read reports in another role gives no "blind" opinion on calls from then, whatever their role
now."""

import httpx2
import pytest

from orchestrator.access.audit_chain import ActBy, Actor
from orchestrator.access.roles import PersonRole
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import OPERATOR, Person, add_person, call_of
from tests.contract.api.problems import check_problem
from tests.contract.api.service import ACME, Service


async def _make_assignment(owners: httpx2.AsyncClient, person: Person, role: PersonRole) -> None:
    answer = await owners.patch(f"/v1/members/{person.member.id}", json={"role": role})
    assert answer.status_code == 200, answer.text


async def _list_assigned_members(owners: httpx2.AsyncClient, batch: str) -> set[str]:
    items = (await owners.get("/v1/assignments", params={"batch": batch})).json()["items"]
    return {item["member"] for item in items}


@pytest.mark.parametrize("before", ["owner", "officer", "auditor"])
async def test_former_report_reader_is_not_assigned_to_the_call(
    service: Service, owner: Person, ada: Person, before: PersonRole
) -> None:
    otto = await add_person(service, before, "Otto Other")
    old, _ = await call_of(service, "# One", "# Two")
    await _make_assignment(owner, otto, "reviewer")
    new, (first, *_) = await call_of(service, "# Three", "# Four")
    body = {"per_proposal": 1, "reviewers": [ada.member.id, otto.member.id]}
    late_problem = check_problem(await owner.post(f"/v1/batches/{old}/assignments", json=body), 422, "invalid-request")
    assert "Otto Other could read this call's reports in another role until" in late_problem.detail
    outcome = (await owner.post(f"/v1/batches/{old}/assignments", json={"per_proposal": 2})).json()
    assert outcome["reviewers_not_blind"] == [otto.member.id]
    assert [item["missing_reviewers"] for item in outcome["unfilled_proposals"]] == [1, 1]
    assert await _list_assigned_members(owner, old) == {ada.member.id}
    answer = (await owner.post(f"/v1/batches/{new}/assignments", json={"per_proposal": 2})).json()
    assert answer["reviewers_not_blind"] == []
    assert await _list_assigned_members(owner, new) == {ada.member.id, otto.member.id}
    member = (await owner.get(f"/v1/members/{otto.member.id}")).json()
    assert member["read_reports_until"] is not None
    assert (await owner.get(f"/v1/members/{ada.member.id}")).json()["read_reports_until"] is None
    assert (await otto.post(f"/v1/evaluations/{first}/opinions", json={"score": 4})).status_code == 200
    async with open_session(service, owner.key) as browser:
        page = (await browser.get(f"/console/calls/{old}/assignments?per_proposal=2")).text
        assert "could read its reports in an earlier role until" in page
        assert "Only 1 reviewer is available" in page
        answer = (await browser.get(f"/console/calls/{new}/assignments")).text
        assert "could read its reports in an earlier role until" not in answer
        page_text = (await browser.get(f"/console/members/{otto.member.id}")).text
        assert "Could read reports in another role until" in page_text


async def test_earlier_assignment_of_a_report_reader_is_withdrawn_and_reassigned(service: Service) -> None:
    owner, otto = await add_person(service, "owner", "Olga Owner"), await add_person(service, "reviewer", "Otto Other")
    batch, (first,) = await call_of(service, "# One")
    await owner.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    await _make_assignment(owner, otto, "officer")
    assert (await otto.get(f"/v1/evaluations/{first}")).status_code == 200
    await _make_assignment(owner, otto, "reviewer")
    late_problem = check_problem(
        await otto.post(f"/v1/evaluations/{first}/opinions", json={"score": 4}), 409, "conflict"
    )
    assert "would not be blind" in late_problem.detail
    problem = check_problem(await owner.post(f"/v1/batches/{batch}/assignments", json={}), 409, "conflict")
    assert "Invite others" in problem.detail
    ada = await add_person(service, "reviewer")
    dry = (await owner.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1, "dry_run": True})).json()
    answer = (await owner.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})).json()
    assert (dry["assigned"], dry["withdrawn"]) == (answer["assigned"], answer["withdrawn"]) == (1, 1)
    assert await _list_assigned_members(owner, batch) == {ada.member.id}
    log = (await owner.get("/v1/audit-log")).json()["items"]
    (withdrawn,) = [item["content"] for item in log if item["action"] == "assignment withdrawn"]
    assert withdrawn["reason"] == "could read the reports in another role"


async def test_earlier_blind_opinion_is_kept_and_can_be_revised(service: Service, owner: Person, ada: Person) -> None:
    batch, (first,) = await call_of(service, "# One")
    await owner.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    opinions = f"/v1/evaluations/{first}/opinions"
    assert (await ada.post(opinions, json={"score": 4})).status_code == 200
    await _make_assignment(owner, ada, "officer")
    await _make_assignment(owner, ada, "reviewer")
    assert (await ada.post(opinions, json={"score": 4})).status_code == 200
    assert (await ada.patch(opinions, json={"score": 5})).status_code == 200
    panel = (await owner.get(f"/v1/batches/{batch}/panel")).json()
    assert panel["rows"][0]["opinions"][0]["blind_score"] == 4


async def test_report_access_is_remembered_after_removal_and_new_invitation(service: Service, owner: Person) -> None:
    otto = await add_person(service, "officer", "Otto Other")
    batch, _ = await call_of(service, "# One")
    assert (await owner.delete(f"/v1/members/{otto.member.id}")).status_code == 200
    body = {"name": "O. Other", "email": "Otto.Other@Example.org", "role": "reviewer"}
    again = (await owner.post("/v1/members", json=body)).json()
    assert again["id"] != otto.member.id
    assert again["read_reports_until"] is not None
    late_problem = check_problem(await owner.post(f"/v1/batches/{batch}/assignments", json={}), 409, "conflict")
    assert "Invite others" in late_problem.detail


async def test_report_access_is_remembered_for_the_same_account_at_another_address(service: Service) -> None:
    members, now = service.services.members, service.services.clock.now()
    account, provider = ("https://id.example.org", "otto"), ActBy(Actor("provider:sso", "sso", "machine"), now)
    otto = await add_person(service, "officer", "Otto Other")
    assert await members.find_or_bind_identity(ACME, *account, otto.member.email, provider) is not None
    await members.remove(ACME, otto.member.id, ActBy(OPERATOR, now))
    again = await add_person(service, "reviewer", "Second Address")
    assert again.member.read_reports_until is None
    bound = await members.find_or_bind_identity(ACME, *account, again.member.email, provider)
    assert bound is not None
    assert bound.id == again.member.id
    assert bound.read_reports_until is not None
