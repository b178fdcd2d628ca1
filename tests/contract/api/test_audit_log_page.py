"""The page of the audit log: filtered, turned, its chain checked and saved."""

from orchestrator.access.audit_chain import ActBy, Actor, AuditedAct, AuditEntry, find_audit_faults
from orchestrator.jobs.models import TenantId
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import add_person
from tests.contract.api.service import ACME, Service

HERE = "/console/audit-log"


async def write_entries(
    service: Service, count: int, act: AuditedAct = "remark added", tenant: TenantId = ACME
) -> None:
    for number in range(count):
        actor, now = Actor("mb_grace", "Grace Hopper", "officer"), service.services.clock.now()
        await service.services.audit_log.record(
            tenant, ActBy(actor, now), act, f"ev_{number}", text=f"Remark {number}."
        )


async def test_entries_are_listed_newest_first_and_filtered_by_actor_act_and_subject(service: Service) -> None:
    auditor = await add_person(service, "auditor", "Eva Auditor")
    await write_entries(service, 60)
    await write_entries(service, 1, "score overridden")
    async with open_session(service, auditor.key) as browser:
        newest = (await browser.get(HERE)).text
        assert newest.index('id="entry-63"') < newest.index('id="entry-62"')
        assert 'id="entry-13"' not in newest
        older = (await browser.get(HERE, params={"before": "14"})).text
        assert 'id="entry-13"' in older
        assert "Older entries" not in older
        page = (await browser.get(HERE, params={"actor": "mb_grace", "act": "remark added", "about": "ev_7"})).text
        assert page.count('<tr id="entry-') == 1
        assert "Remark 7." in page
        assert (await browser.get(HERE, params={"act": "baked a cake"})).status_code == 422
        assert "No entries match." in (await browser.get(HERE, params={"about": "ev_none"})).text


async def test_chain_is_checked_against_a_stored_tip(service: Service) -> None:
    auditor = await add_person(service, "auditor", "Eva Auditor")
    early = await service.services.audit_log.get_head(ACME)
    await write_entries(service, 3)
    head = await service.services.audit_log.get_head(ACME)
    async with open_session(service, auditor.key) as browser:
        assert f"{head.number}:{head.hash}" in (await browser.get(HERE)).text
        page = (await browser.get(f"{HERE}/check")).text
        assert f"The log is intact: {head.number} entries." in page
        answer = await browser.get(f"{HERE}/check", params={"kept": f"{early.number}:{early.hash}"})
        assert "and it contains your stored head" in answer.text
        longer = await browser.get(f"{HERE}/check", params={"kept": f"99:{head.hash}"})
        assert "is missing: 99 entries were published" in longer.text
        response = await browser.get(f"{HERE}/check", params={"kept": f"{head.number}:{'0' * 64}"})
        assert "differs from the published head of the log" in response.text
        unread = await browser.get(f"{HERE}/check", params={"kept": "yesterday"})
        assert unread.status_code == 422
        assert "A head must have the form NUMBER:HASH" in unread.text


async def test_long_chain_is_checked_and_exported_completely(service: Service) -> None:
    auditor = await add_person(service, "auditor", "Eva Auditor")
    await write_entries(service, 1_001)
    head = await service.services.audit_log.get_head(ACME)
    async with open_session(service, auditor.key) as browser:
        assert f"The log is intact: {head.number:,} entries." in (await browser.get(f"{HERE}/check")).text
        saved = await browser.get(f"{HERE}/export")
    assert saved.headers["content-disposition"] == 'attachment; filename="audit-log.jsonl"'
    entries = [AuditEntry.model_validate_json(line) for line in saved.text.splitlines()[1:]]
    assert list(find_audit_faults(entries, head)) == []
