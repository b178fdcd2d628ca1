"""Members of a tenant: roles, keys, changes at the same time, and the command."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from orchestrator.access.audit_chain import ActBy, Actor
from orchestrator.reviewing.models import ReviewRefused
from tests.contract.api.commands import Program
from tests.contract.api.people import Person, add_person
from tests.contract.api.problems import check_problem
from tests.contract.api.service import ACME, BODY, Service, serve


async def test_member_has_the_rights_of_their_role_until_removed(service: Service, owner: Person, ada: Person) -> None:
    check_problem(await ada.get("/v1/evaluations"), 403, "forbidden")
    await owner.patch(f"/v1/members/{ada.member.id}", json={"role": "auditor"})
    assert (await ada.get("/v1/evaluations")).status_code == 200
    check_problem(await ada.post("/v1/evaluations", json=BODY), 403, "forbidden")
    await owner.delete(f"/v1/members/{ada.member.id}")
    assert check_problem(await ada.get("/v1/evaluations"), 401, "unauthenticated").reason == "revoked"
    people = (await owner.get("/v1/members")).json()["items"]
    assert {item["name"]: item["removed_at"] is None for item in people} == {
        "Olga Owner": True,
        "Ada Byron": False,
    }


async def test_a_new_key_takes_the_place_of_the_old(service: Service, owner: Person, ada: Person) -> None:
    answer = await owner.post(f"/v1/members/{ada.member.id}/key")
    assert answer.headers["cache-control"] == "no-store"
    check_problem(await ada.get("/v1/assignments"), 401, "unauthenticated")
    async with service.open_client(answer.json()["secret"]) as renewed:
        assert (await renewed.get("/v1/assignments")).status_code == 200
    entry = (await service.services.audit_log.list_entries(ACME))[-1]
    assert (entry.action, entry.subject, entry.actor) == ("key given", ada.member.id, owner.member.id)
    assert entry.content == {"by": "Olga Owner", "key": answer.json()["id"], "shown_to": "Olga Owner"}


async def test_concurrent_key_requests_leave_a_single_working_key(service: Service, owner: Person, ada: Person) -> None:
    path = f"/v1/members/{ada.member.id}/key"
    answers = await asyncio.gather(*(owner.post(path) for _ in range(6)))
    works = []
    for item in answers:
        async with service.open_client(item.json()["secret"]) as reviewer:
            works.append((await reviewer.get("/v1/assignments")).status_code)
    assert sorted(works) == [200, 401, 401, 401, 401, 401]


async def test_concurrent_changes_of_a_member_are_all_kept(service: Service, owner: Person, ada: Person) -> None:
    path = f"/v1/members/{ada.member.id}"
    for n in range(8):
        role = ("auditor", "reviewer")[n % 2]
        changes = ({"role": role}, {"affiliation": f"Institute {n}"}, {"name": f"Ada {n}"})
        await asyncio.gather(*(owner.patch(path, json=change) for change in changes))
        member = (await owner.get(path)).json()
        assert (member["role"], member["affiliation"], member["name"]) == (role, f"Institute {n}", f"Ada {n}")


async def test_member_demoted_during_the_request_cannot_change_members(service: Service) -> None:
    owner, otto = await add_person(service, "owner", "Olga Owner"), await add_person(service, "officer", "Otto Officer")
    members = service.services.members
    asked = ActBy(Actor(otto.member.id, "Otto", "officer"), service.services.clock.now())
    await owner.patch(f"/v1/members/{otto.member.id}", json={"role": "auditor"})
    with pytest.raises(ReviewRefused, match="Your role has changed"):
        await members.change(ACME, otto.member.id, {"role": "officer"}, asked)
    member = await members.get(ACME, otto.member.id)
    assert member is not None
    assert member.role == "auditor"


async def test_officers_cannot_create_owners_or_keys_for_others(owner: Person, officer: Person, ada: Person) -> None:
    new = {"name": "Eve", "email": "eve@example.org", "role": "owner"}
    path = f"/v1/members/{owner.member.id}"
    for answer in (
        await officer.post("/v1/members", json=new),
        await officer.patch(f"/v1/members/{officer.member.id}", json={"role": "owner"}),
        await officer.patch(path, json={"role": "reviewer"}),
        await officer.delete(path),
        await officer.post(f"{path}/key"),
        await officer.post(f"/v1/members/{ada.member.id}/key"),
    ):
        check_problem(answer, 403, "forbidden")


async def test_concurrent_changes_cannot_remove_the_last_owner(service: Service) -> None:
    olga, oona = await add_person(service, "owner", "Olga Owner"), await add_person(service, "owner", "Oona Owner")
    answers = await asyncio.gather(
        olga.patch(f"/v1/members/{olga.member.id}", json={"role": "auditor"}),
        oona.delete(f"/v1/members/{oona.member.id}"),
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    (refusals,) = [answer for answer in answers if answer.status_code == 409]
    assert "Make another member an owner first" in str(check_problem(refusals, 409, "conflict").detail)
    members = await service.services.members.list(ACME)
    assert sum(member.role == "owner" and member.removed_at is None for member in members) == 1


async def test_an_invitation_sent_again_makes_no_second_member(service: Service) -> None:
    async with service.open_caller("manage") as robot:
        body = {"name": "Ada", "email": "ada@example.org", "role": "reviewer"}
        first, second = [await robot.post("/v1/members", json=body) for _ in range(2)]
        response = await robot.post("/v1/members", json=body | {"email": "ADA@example.org"})
    assert first.json() == second.json()
    check_problem(response, 409, "conflict")


async def test_members_command_invites_changes_lists_and_removes(service: Service, tmp_path: Path) -> None:
    async with serve(service.app) as url:
        program = Program(url, await service.create_key("read", "manage"), tmp_path)
        invited = await program.run("admin", "members", "invite", "Ada Byron", "ada@example.org", "--key")
        assert invited.code == 0, invited.err
        async with service.open_client(invited.out.strip()) as reviewer:
            assert (await reviewer.get("/v1/assignments")).status_code == 200
        changed = await program.run("admin", "members", "change", "ADA@example.org", "--role", "auditor", "--json")
        assert json.loads(changed.out)["role"] == "auditor"
        key = json.loads((await program.run("admin", "members", "key", "ada@example.org", "--json")).out)["secret"]
        async with service.open_client(key) as reader:
            assert (await reader.get("/v1/audit-log")).status_code == 200
        result = await program.run("admin", "members", "list", COLUMNS="200")
        assert re.search(r"mb_\w+ +Ada Byron +ada@example\.org +auditor +can sign in", result.out)
        removed = await program.run("admin", "members", "remove", "ada@example.org", "--json")
        assert json.loads(removed.out)["removed_at"] is not None
        assert (await program.run("admin", "members", "key", "ada@example.org")).code != 0
