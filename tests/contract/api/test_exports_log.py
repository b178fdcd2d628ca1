"""Exports by people and by machines are in the audit log."""

from tests.contract.api.people import add_person
from tests.contract.api.reviewed_calls import call_with_reviewer
from tests.contract.api.service import ACME, Service


async def test_dossier_brief_and_contestation_are_logged_as_exports(service: Service) -> None:
    _, batch, (first,) = await call_with_reviewer(service, "# One")
    owner = await add_person(service, "owner", "Olga Owner")
    before = len(await service.services.audit_log.list_entries(ACME))
    exports = (
        (batch, "dossier", f"/v1/batches/{batch}/dossier"),
        (first, "brief", f"/v1/evaluations/{first}/brief"),
        (first, "contestation", f"/v1/evaluations/{first}/contestation"),
        (first, "contestation", f"/v1/evaluations/{first}/contestation?format=pdf"),
    )
    for client in (service.machine, owner):
        for _, _, path in exports:
            assert (await client.get(path)).status_code == 200
    log = (await service.services.audit_log.list_entries(ACME))[before:]
    exported = [(about, name) for about, name, _ in exports]
    assert [(entry.subject, (entry.content or {})["format"]) for entry in log] == exported * 2
    assert {entry.action for entry in log} == {"exported"}
    assert [entry.actor == owner.member.id for entry in log] == [False] * 4 + [True] * 4
