"""What a person takes out of the service stands in the log of acts; what machines fetch by thousands fills it not."""

from tests.contract.api.people import asking, person
from tests.contract.api.service import ACME, Service
from tests.contract.api.test_decision_pages import reviewed_call


async def test_dossier_brief_and_contestation_are_exports(service: Service) -> None:
    _, batch, (first,) = await reviewed_call(service, "# One")
    owner = await person(service, "owner", "Olga Owner")
    before = len(await service.services.audit_log.entries(ACME))
    taken = (
        (batch, "dossier", f"/v1/batches/{batch}/dossier"),
        (first, "brief", f"/v1/evaluations/{first}/brief"),
        (first, "contestation", f"/v1/evaluations/{first}/contestation"),
        (first, "contestation", f"/v1/evaluations/{first}/contestation?format=pdf"),
    )
    async with service.caller() as machine, asking(service, owner) as owners:
        for _, _, path in taken:
            assert (await machine.get(path)).status_code == 200
        assert len(await service.services.audit_log.entries(ACME)) == before
        for _, _, path in taken:
            assert (await owners.get(path)).status_code == 200
    log = (await service.services.audit_log.entries(ACME))[before:]
    assert [(one.about, (one.content or {})["format"]) for one in log] == [(about, name) for about, name, _ in taken]
    assert {(one.act, one.actor) for one in log} == {("exported", owner.member.id)}
