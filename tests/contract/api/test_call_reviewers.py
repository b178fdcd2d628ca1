"""Reviewers of a call: chosen and invited for it, drawn from when proposals are assigned, and removed again."""

import asyncio

import httpx2
import pytest

from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.reviewing.models import ReviewRefused
from tests.contract.api.erasures import wait_for_blocked_statements
from tests.contract.api.people import OPERATOR, Person, add_person, call_of
from tests.contract.api.problems import check_problem
from tests.contract.api.reviewed_calls import (
    OUTSIDE_REVIEWER,
    assign_reviewers,
    choose_reviewers,
    invite_reviewers,
    list_member_ids,
)
from tests.contract.api.service import ACME, OTHER, Service


async def get_reviewers(client: httpx2.AsyncClient, batch: str) -> tuple[bool, list[str]]:
    answer = (await client.get(f"/v1/batches/{batch}/reviewers")).json()
    return answer["chosen"], [item["id"] for item in answer["reviewers"]]


async def list_assignments_by_member(client: httpx2.AsyncClient, batch: str) -> dict[str, set[str]]:
    queue = (await client.get("/v1/assignments", params={"batch": batch})).json()["items"]
    has: dict[str, set[str]] = {}
    for item in queue:
        has.setdefault(item["member"], set()).add(item["evaluation"])
    return has


async def test_only_chosen_reviewers_are_assigned_proposals_of_a_call(service: Service, officer: Person) -> None:
    ada, bob, carol = await invite_reviewers(service, "Ada Byron", "Bob Noyce", "Carol Shaw")
    batch, _ = await call_of(service, "# One", "# Two", "# Three", "# Four")
    other_batch, _ = await call_of(service, "# Another")
    assert await get_reviewers(officer, batch) == (False, list_member_ids(ada, bob, carol))
    chosen = await choose_reviewers(officer, batch, list_member_ids(ada, carol))
    assert (sorted(chosen["added"]), chosen["removed"], chosen["withdrawn"]) == (
        sorted(list_member_ids(ada, carol)),
        [],
        [],
    )
    assert await get_reviewers(officer, batch) == (True, list_member_ids(ada, carol))
    outcome = await assign_reviewers(officer, batch, per_proposal=1)
    assert outcome["loads"] == dict.fromkeys(list_member_ids(ada, carol), 2)
    assert (await assign_reviewers(officer, other_batch, per_proposal=3))["assigned"] == 3
    response = await officer.post(f"/v1/batches/{batch}/assignments", json={"reviewers": list_member_ids(bob)})
    assert "do not review this call" in check_problem(response, 422, "invalid-request").detail
    everyone_chosen = await choose_reviewers(officer, batch, None)
    assert (sorted(everyone_chosen["removed"]), everyone_chosen["withdrawn"]) == (
        sorted(list_member_ids(ada, carol)),
        [],
    )
    assert await get_reviewers(officer, batch) == (False, list_member_ids(ada, bob, carol))


async def test_reviewer_who_never_signed_in_is_marked(service: Service) -> None:
    officer, _ = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    batch, _ = await call_of(service, "# One")
    await officer.post("/v1/members", json=OUTSIDE_REVIEWER | {"role": "reviewer"})
    answer = (await officer.get(f"/v1/batches/{batch}/reviewers")).json()
    assert {item["name"]: item["can_sign_in"] for item in answer["reviewers"]} == {
        "Ada Byron": True,
        "Grace Hopper": False,
    }


async def test_invited_reviewer_is_chosen_for_the_call_and_notified(
    service: Service, officer: Person, ada: Person
) -> None:
    batch, _ = await call_of(service, "# One")
    path = f"/v1/batches/{batch}/reviewers"
    answer = await officer.post(path, json=OUTSIDE_REVIEWER)
    assert answer.status_code == 201, answer.text
    grace = answer.json()
    assert (grace["role"], grace["can_sign_in"], grace["affiliation"]) == ("reviewer", False, "Yale University")
    assert (await officer.post(path, json=OUTSIDE_REVIEWER)).json()["id"] == grace["id"]
    # No reviewers had been chosen before; now only she is.
    assert await get_reviewers(officer, batch) == (True, [grace["id"]])
    assert (await assign_reviewers(officer, batch, per_proposal=2))["loads"] == {grace["id"]: 1}
    known = await officer.post(path, json={"name": "A. Byron", "email": ada.member.email.upper()})
    assert (known.json()["id"], known.json()["name"]) == (ada.member.id, "Ada Byron")
    assert await get_reviewers(officer, batch) == (True, [ada.member.id, grace["id"]])
    no_reviewer = await officer.post(path, json={"name": "Otto", "email": officer.member.email})
    assert "officer" in check_problem(no_reviewer, 409, "conflict").detail
    mails = (await officer.get(f"/v1/members/{grace['id']}/emails")).json()["items"]
    assert sorted((mail["kind"], mail["batch"]) for mail in mails) == [
        ("member invited", batch),
        ("reviews assigned", batch),
    ]
    entries = await service.services.audit_log.list_entries(ACME)
    (invited,) = [entry for entry in entries if entry.action == "member invited" and entry.subject == grace["id"]]
    assert (invited.content or {})["call"] == batch
    chosen = [entry for entry in entries if entry.action == "reviewers chosen"]
    assert [(item.subject, (item.content or {})["added"]) for item in chosen] == [
        (batch, [grace["id"]]),
        (batch, [ada.member.id]),
    ]


async def test_former_report_readers_cannot_be_invited_to_review_the_call(service: Service, owner: Person) -> None:
    """The invitation would name a call in which they cannot get any proposal."""
    otto, erin = await add_person(service, "officer", "Otto Other"), await add_person(service, "officer", "Erin Else")
    batch, _ = await call_of(service, "# One")
    path = f"/v1/batches/{batch}/reviewers"
    await owner.patch(f"/v1/members/{otto.member.id}", json={"role": "reviewer"})
    await owner.delete(f"/v1/members/{erin.member.id}")
    for person in (otto, erin):
        body = {"name": person.member.name, "email": person.member.email}
        refused = check_problem(await owner.post(path, json=body), 409, "conflict")
        assert "could read this call's reports in another role until" in refused.detail
    assert await get_reviewers(owner, batch) == (False, list_member_ids(otto))


async def test_inviting_a_reviewer_keeps_existing_assignments(service: Service, officer: Person) -> None:
    ada, _ = await invite_reviewers(service, "Ada Byron", "Bob Noyce")
    batch, (first, _) = await call_of(service, "# One", "# Two")
    await assign_reviewers(officer, batch, per_proposal=1, reviewers=list_member_ids(ada))
    grace = (await officer.post(f"/v1/batches/{batch}/reviewers", json=OUTSIDE_REVIEWER)).json()
    assert await get_reviewers(officer, batch) == (True, [str(ada.member.id), grace["id"]])
    assert first in (await list_assignments_by_member(officer, batch))[str(ada.member.id)]


async def test_removed_reviewer_keeps_opinions_and_open_assignments_are_reassigned(service: Service) -> None:
    officer = await add_person(service, "officer", "Otto Officer")
    ada, bob = await invite_reviewers(service, "Ada Byron", "Bob Noyce")
    batch, evaluations = await call_of(service, "# One", "# Two", "# Three")
    await choose_reviewers(officer, batch, list_member_ids(ada))
    await assign_reviewers(officer, batch, per_proposal=1)
    await ada.post(f"/v1/evaluations/{evaluations[0]}/opinions", json={"score": 4})
    preview = await choose_reviewers(officer, batch, list_member_ids(bob), dry_run=True)
    ending = {(item["evaluation"], item["member"]) for item in preview["withdrawn"]}
    assert ending == {(evaluation, ada.member.id) for evaluation in evaluations[1:]}
    assert await get_reviewers(officer, batch) == (True, list_member_ids(ada))
    chosen = await choose_reviewers(officer, batch, list_member_ids(bob))
    assert (chosen["added"], chosen["removed"], len(chosen["withdrawn"])) == (
        list_member_ids(bob),
        list_member_ids(ada),
        2,
    )
    items = (await ada.get("/v1/assignments")).json()["items"]
    assert [item["evaluation"] for item in items] == [evaluations[0]]
    check_problem(await ada.get(f"/v1/evaluations/{evaluations[1]}/proposal"), 404, "not-found")
    panel = (await officer.get(f"/v1/batches/{batch}/panel")).json()
    assert [len(row["opinions"]) for row in panel["rows"]] == [1]
    outcome = await assign_reviewers(officer, batch, per_proposal=1)
    assert (outcome["assigned"], outcome["loads"], outcome["unfilled_proposals"]) == (2, {bob.member.id: 2}, [])
    withdrawn = [
        entry for entry in await service.services.audit_log.list_entries(ACME) if entry.action == "assignment withdrawn"
    ]
    assert {item.subject for item in withdrawn} == set(evaluations[1:])
    assert {(item.content or {})["reason"] for item in withdrawn} == {"is no longer a reviewer of this call"}


async def test_removing_all_chosen_reviewers_does_not_open_the_call_to_everyone(service: Service) -> None:
    officer = await add_person(service, "officer", "Otto Officer")
    ada, _ = await invite_reviewers(service, "Ada Byron", "Bob Noyce")
    batch, _ = await call_of(service, "# One")
    await choose_reviewers(officer, batch, list_member_ids(ada))
    await officer.delete(f"/v1/members/{ada.member.id}")
    assert await get_reviewers(officer, batch) == (True, [])
    problem = check_problem(await officer.post(f"/v1/batches/{batch}/assignments", json={}), 409, "conflict")
    assert "chosen for this call" in problem.detail


async def test_invalid_reviewer_choice_is_rejected_and_changes_nothing(
    service: Service, officer: Person, ada: Person
) -> None:
    foreign_reviewer = await add_person(service, "reviewer", "Eve Other", tenant=OTHER)
    batch, _ = await call_of(service, "# One")
    path = f"/v1/batches/{batch}/reviewers"
    for wrong in (
        [],
        ["mb_none"],
        list_member_ids(foreign_reviewer),
        list_member_ids(officer),
        [*list_member_ids(ada), "mb_none"],
    ):
        check_problem(await officer.put(path, json={"reviewers": wrong}), 422, "invalid-request")
    check_problem(await officer.put(path, json={}), 422, "invalid-request")
    assert await get_reviewers(officer, batch) == (False, list_member_ids(ada))
    for body in ({"name": "Grace", "email": "no address"}, OUTSIDE_REVIEWER | {"role": "owner"}):
        check_problem(await officer.post(path, json=body), 422, "invalid-request")
    assert [
        entry for entry in await service.services.audit_log.list_entries(ACME) if entry.action == "reviewers chosen"
    ] == []


async def test_a_call_that_is_signed_off_keeps_its_reviewers(service: Service, owner: Person, ada: Person) -> None:
    batch, _ = await call_of(service, "# One")
    path = f"/v1/batches/{batch}/reviewers"
    await owner.post(f"/v1/batches/{batch}/sign-off", json={"allow_unfinished_evaluations": True})
    for body in (
        {"reviewers": list_member_ids(ada)},
        {"reviewers": None},
        {"reviewers": list_member_ids(ada), "dry_run": True},
    ):
        check_problem(await owner.put(path, json=body), 409, "conflict")
    check_problem(await owner.post(path, json=OUTSIDE_REVIEWER), 409, "conflict")
    members = (await owner.get("/v1/members")).json()["items"]
    assert "Grace Hopper" not in [member["name"] for member in members]
    assert await service.services.reviewing.call_reviewers.get_chosen(ACME, BatchId(batch)) is None


async def test_reviewer_removed_from_the_call_before_assignment_is_not_assigned(service: Service) -> None:
    ada, bob = await invite_reviewers(service, "Ada Byron", "Bob Noyce")
    batch, (first, second) = await call_of(service, "# One", "# Two")
    stores, now = service.services, service.services.clock.now()
    await stores.reviewing.call_reviewers.choose(ACME, BatchId(batch), [bob.member.id], ActBy(OPERATOR, now))
    pairs = [(JobId(item), person.member.id) for item in (first, second) for person in (ada, bob)]
    original_assign = await stores.reviewing.assignments.assign(
        ACME, BatchId(batch), dict.fromkeys(pairs, ""), ActBy(OPERATOR, now)
    )
    assert {person for _, person in original_assign} == {bob.member.id}


async def test_concurrent_choice_and_assignment_leave_proposals_only_with_chosen_reviewers(service: Service) -> None:
    officer = await add_person(service, "officer", "Otto Officer")
    _, bob = await invite_reviewers(service, "Ada Byron", "Bob Noyce")
    for turn in range(6):
        batch, _ = await call_of(service, *(f"# {turn}.{row}" for row in range(4)))
        await asyncio.gather(
            assign_reviewers(officer, batch, per_proposal=2), choose_reviewers(officer, batch, list_member_ids(bob))
        )
        assert (await list_assignments_by_member(officer, batch)).keys() <= set(list_member_ids(bob))


@pytest.mark.parametrize("act", ["invite", "assign"])
async def test_members_are_locked_before_the_audit_log_tip(service: Service, officer: Person, act: str) -> None:
    """People are locked before the end of the log, as by the code that changes them; otherwise the two would
    deadlock."""
    ada, bob = await invite_reviewers(service, "Ada Byron", "Bob Noyce")
    batch, (first, second) = await call_of(service, "# One", "# Two")
    pairs = [(JobId(first), ada.member.id), (JobId(second), bob.member.id)]
    stores, now = service.services, service.services.clock.now()
    assert (
        len(
            await stores.reviewing.assignments.assign(
                ACME, BatchId(batch), dict.fromkeys(pairs, ""), ActBy(OPERATOR, now)
            )
        )
        == 2
    )
    await stores.members.remove(ACME, bob.member.id, ActBy(OPERATOR, now))
    holder = await service.database.connect_unpooled()
    async with holder.transaction():
        await holder.fetch("SELECT FROM members WHERE id = $1 FOR UPDATE", ada.member.id)
        if act == "invite":
            task = asyncio.create_task(officer.post(f"/v1/batches/{batch}/reviewers", json=OUTSIDE_REVIEWER))
        else:
            task = asyncio.create_task(officer.post(f"/v1/batches/{batch}/assignments", json={}))
        await wait_for_blocked_statements(service.database, 1)
        await holder.execute("SET LOCAL lock_timeout = '200ms'")
        assert await holder.fetch("SELECT FROM audit_heads WHERE tenant = $1 FOR UPDATE", ACME)
    assert (await task).status_code in (200, 201)
    await holder.close()


async def test_reviewer_choice_is_tenant_scoped_and_erased_with_its_call(service: Service) -> None:
    owner, ada = await add_person(service, "owner", "Olga Owner"), await add_person(service, "reviewer")
    (batch, _), (kept, _) = await call_of(service, "# One"), await call_of(service, "# Two")
    stores, now = service.services, service.services.clock.now()
    for item in (batch, kept):
        await choose_reviewers(owner, item, list_member_ids(ada))
    assert await stores.reviewing.call_reviewers.get_chosen(OTHER, BatchId(batch)) is None
    with pytest.raises(ReviewRefused, match="does not exist"):
        await stores.reviewing.call_reviewers.choose(OTHER, BatchId(batch), [MemberId("mb_1")], ActBy(OPERATOR, now))
    await stores.erasures.erase(ACME, [], ActBy(OPERATOR, now), batch=BatchId(batch))
    await service.services.jobs.purge(now)
    check_problem(await owner.get(f"/v1/batches/{batch}/reviewers"), 410, "gone")
    rows = await service.database.fetch("SELECT batch, member FROM call_reviewers")
    assert [tuple(row) for row in rows] == [(kept, ada.member.id)]
