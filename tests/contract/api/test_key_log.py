"""Keys in the log of acts: who made and revoked them, never their secrets, and no key in the name of a person."""

from orchestrator.access.audit_chain import AuditEntry
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.problems import check_problem
from tests.contract.api.service import ACME, OTHER, Service


async def _log(service: Service) -> list[AuditEntry]:
    return await service.services.audit_log.list_entries(ACME)


async def test_key_creation_and_revocation_are_logged(service: Service, owner: Person) -> None:
    before = len(await _log(service))
    answer = (await owner.post("/v1/keys", json={"name": "nightly", "scopes": ["submit", "read"]})).json()
    for _ in range(2):
        assert (await owner.delete(f"/v1/keys/{answer['id']}")).status_code == 200
    log = (await _log(service))[before:]
    assert [(item.action, item.actor, item.role, item.subject) for item in log] == [
        ("key made", owner.member.id, "owner", answer["id"]),
        ("key revoked", owner.member.id, "owner", answer["id"]),
    ]
    assert log[0].content == {
        "by": "Olga Owner",
        "name": "nightly",
        "scopes": ["read", "submit"],
        "expires_at": None,
    }
    assert log[1].content == {"by": "Olga Owner", "name": "nightly", "scopes": ["read", "submit"]}
    assert answer["secret"] not in "".join(item.model_dump_json() for item in log)


async def test_repeated_key_request_creates_a_single_key_and_entry(service: Service) -> None:
    async with service.open_caller("manage") as machine:
        for _ in range(2):
            body, headers = {"name": "nightly", "scopes": ["read"]}, {"Idempotency-Key": "once"}
            assert (await machine.post("/v1/keys", json=body, headers=headers)).status_code == 201
        assert (await machine.post("/v1/keys", json={"name": "x", "scopes": ["admin"]})).status_code == 403
    assert [item.action for item in await _log(service)] == ["key made"]


async def test_key_for_another_tenant_is_logged_in_that_tenant(service: Service) -> None:
    async with service.open_caller("admin", tenant=ACME) as operator:
        body = {"name": "theirs", "scopes": ["read"], "tenant": "other"}
        assert (await operator.post("/v1/keys", json=body)).status_code == 201
    assert await _log(service) == []
    (entry,) = await service.services.audit_log.list_entries(OTHER)
    assert (entry.action, entry.role) == ("key made", "machine")


async def test_key_named_like_a_member_cannot_act_as_that_member(service: Service) -> None:
    await add_person(service, "auditor", "Audi Tor")
    owner = await add_person(service, "owner", "Olga Owner")
    batch, (first,) = await call_of(service, "# One")
    response = (await owner.post("/v1/keys", json={"name": "Audi Tor", "scopes": ["manage"]})).json()
    async with open_session(service, response["secret"]) as browser:
        path = f"/console/calls/{batch}/panel"
        assert "key “Audi Tor”" in (await browser.get(path)).text
        fields = {"evaluation": first, "score": "5", "reason": "It is the best."}
        answer = await submit_form(browser, path, f"/console/calls/{batch}/override", **fields)
        assert "does not belong to a member" in check_problem(answer, 403, "forbidden").detail
    assert "score overridden" not in {entry.action for entry in await _log(service)}
    async with service.open_client(response["secret"]) as machine:
        revoked = await machine.delete(f"/v1/keys/{response['id']}")
        assert revoked.status_code == 200, revoked.text
    entry = (await _log(service))[-1]
    assert (entry.action, entry.actor, entry.role) == ("key revoked", response["id"], "machine")
    assert entry.content is not None
    assert entry.content["by"] == "key “Audi Tor”"
