"""The log of acts over HTTP and as a command: who may read it, what writes it, and that nothing in it can be undone."""

import asyncio
import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assayer.errors import StorageError
from orchestrator.access.audit_chain import ActBy, Actor, AuditEntry, AuditHead, find_audit_faults
from orchestrator.jobs.models import TenantId
from tests.contract.api.commands import Program
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.service import ACME, BODY, OTHER, Service, serve

ADA = Actor("mb_ada", "Ada", "officer")


async def _write(service: Service, count: int, tenant: TenantId = ACME) -> None:
    for number in range(count):
        actor = ActBy(ADA, service.services.clock.now())
        await service.services.audit_log.record(tenant, actor, "score overridden", f"ev_{number}", score=number / 3)


async def _log(service: Service, tenant: TenantId = ACME) -> list[AuditEntry]:
    return await service.services.audit_log.list_entries(tenant)


async def test_entries_are_paged_in_order(service: Service) -> None:
    await _write(service, 5)
    await _write(service, 1, OTHER)
    async with service.open_caller("manage") as manager:
        first = (await manager.get("/v1/audit-log?limit=3")).json()
        second = (await manager.get("/v1/audit-log", params={"limit": 3, "after": first["next"]})).json()
        head = AuditHead.model_validate((await manager.get("/v1/audit-log/head")).json())
    entries = [AuditEntry.model_validate(item) for item in (*first["items"], *second["items"])]
    assert [entry.number for entry in entries] == [1, 2, 3, 4, 5]
    assert second["next"] is None
    assert first["reader"] == second["reader"] == "machine"
    assert list(find_audit_faults(entries, head, "machine")) == []


async def test_concurrent_writes_form_a_single_chain(service: Service) -> None:
    await asyncio.gather(*(_write(service, 4) for _ in range(5)))
    head = await service.services.audit_log.get_head(ACME)
    assert head.number == 20
    assert list(find_audit_faults(await _log(service), head)) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_log SET actor = 'mb_eve'",
        "DELETE FROM audit_log WHERE number = 2",
        "TRUNCATE audit_log",
        "UPDATE audit_contents SET content = '{}'",
        "UPDATE audit_heads SET number = 1",
        "UPDATE audit_heads SET hash = ''",
        "DELETE FROM audit_heads",
    ],
)
async def test_database_rejects_changes_to_audit_entries(service: Service, statement: str) -> None:
    await _write(service, 2)
    before = await _log(service)
    with pytest.raises(StorageError):
        await service.database.execute(statement)
    assert await _log(service) == before


async def test_nul_characters_in_audit_text_are_replaced(service: Service) -> None:
    owner, ada = await add_person(service, "owner", "Olga Owner"), await add_person(service, "reviewer")
    _, (first,) = await call_of(service, "# One")
    body = {"reviewer": ada.member.id, "reason": "a friend\x00 of theirs"}
    declared = await owner.post(f"/v1/evaluations/{first}/conflicts", json=body)
    assert declared.status_code in (200, 201), declared.text
    reasons = "SELECT content::jsonb ->> 'reason' AS reason FROM audit_contents WHERE subject = $1"
    assert [row["reason"] for row in await service.database.fetch(reasons, first)] == ["a friend\ufffd of theirs"]
    assert list(find_audit_faults(await service.services.audit_log.list_entries(ACME))) == []


async def test_erasing_an_applicant_removes_text_but_keeps_the_hash_chain(service: Service) -> None:
    async with service.open_caller("submit", "read", "manage") as owner:
        batch = await owner.post("/v1/evaluations", json=BODY)
        job = batch.json()["id"]
        await service.finish()
        now = service.services.clock.now()
        await service.services.audit_log.record(
            ACME, ActBy(ADA, now), "score overridden", job, reason="Dr Who is a friend"
        )
        await service.services.audit_log.record(ACME, ActBy(ADA, now), "score overridden", "ev_other", reason="stays")
        head = await service.services.audit_log.get_head(ACME)
        assert (await owner.delete(f"/v1/evaluations/{job}?erase=true")).status_code == 204
    log = await _log(service)
    assert [entry.action for entry in log] == ["score overridden", "score overridden", "erased"]
    assert [entry.content is None for entry in log] == [True, False, False]
    assert log[2].content is not None
    assert log[2].content["entries"] == [1]
    assert list(find_audit_faults(log, await service.services.audit_log.get_head(ACME))) == []
    assert list(find_audit_faults(log, head)) == []
    stored = await service.database.fetch("SELECT content FROM audit_contents")
    assert not any("Dr Who" in row["content"] for row in stored)


async def test_erasure_by_source_does_not_log_the_source(service: Service) -> None:
    async with service.open_caller("submit", "read", "manage") as owner:
        rows = b'{"id": "A-2026-0007", "text": "' + b"An idea of enough words to be one. " * 9 + b'"}'
        await owner.post("/v1/batches", content=rows, headers={"Content-Type": "application/jsonl"})
        answer = await owner.post("/v1/erasures", json={"source": "A-2026-0007"})
        dry = await owner.post("/v1/erasures", json={"source": "nobody", "dry_run": True})
    assert len(answer.json()["jobs"]) == 1
    assert dry.status_code == 200
    log = await _log(service)
    assert [entry.action for entry in log] == ["call submitted", "erased"]
    assert not any("A-2026-0007" in entry.model_dump_json() for entry in log)


async def test_audit_log_outlives_its_tenant_without_text(service: Service) -> None:
    await _write(service, 2, OTHER)
    async with service.open_caller("admin") as admin:
        assert (await admin.delete("/v1/tenants/other")).status_code == 204
    log = await _log(service, OTHER)
    assert [entry.content is None for entry in log] == [True, True, False]
    assert list(find_audit_faults(log, await service.services.audit_log.get_head(OTHER))) == []


async def test_retention_removes_text_of_old_entries(service: Service) -> None:
    """Purging removes the content of entries past the retention period and keeps the rest."""
    await _write(service, 2)
    async with service.open_caller("admin") as admin:
        await admin.patch("/v1/tenants/acme", json={"retention_days": 30})
    log = service.services.audit_log
    assert await log.purge(service.services.clock.now()) == 0
    after_retention = service.services.clock.now() + dt.timedelta(days=31)
    assert await log.purge(after_retention) == 1
    assert await log.purge(after_retention) == 0
    entries = await _log(service)
    assert [(entry.action, entry.content is None) for entry in entries] == [
        ("score overridden", True),
        ("score overridden", True),
        ("erased", False),
    ]
    assert entries[-1].actor == "retention"
    assert list(find_audit_faults(entries, await log.get_head(ACME))) == []


async def test_exporting_results_is_logged(service: Service) -> None:
    rows = b'{"id": "a", "text": "' + b"An idea of enough words to be one. " * 9 + b'"}'
    answer = await service.machine.post("/v1/batches", content=rows, headers={"Content-Type": "application/jsonl"})
    batch = answer.json()["id"]
    await service.machine.get(f"/v1/batches/{batch}/results?format=csv")
    _, entry = await _log(service)
    assert (entry.action, entry.subject, entry.role) == ("exported", batch, "machine")


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


_DAMAGES: dict[str, Callable[[list[str]], list[str]]] = {
    "changed": lambda lines: [lines[0], lines[1].replace("Ada", "Eve"), *lines[2:]],
    "gap": lambda lines: [*lines[:2], *lines[3:]],
    "cut": lambda lines: lines[:-1],
}


def _read_lines(file: Path) -> list[str]:
    return file.read_text().splitlines(keepends=True)


async def test_command_exports_the_log_and_detects_damage(service: Service, tmp_path: Path, log_file: Path) -> None:
    await _write(service, 4)
    async with serve(service.app) as url:
        program = Program(url, (await add_person(service, "auditor")).key, tmp_path)
        saved = await program.run("admin", "audit-log", "export", log_file, "--json")
        head = (await program.run("admin", "audit-log", "head")).out.strip()
        document = await program.run("admin", "audit-log", "head", "--json")
    assert json.loads(saved.out) == {"head": head, "file": str(log_file), "entries": 6}, saved.err
    assert json.loads(document.out) == {"head": head}
    good = await program.run("admin", "audit-log", "verify", log_file, "--head", head)
    assert good.code == 0, good.out
    assert "6 entries, nothing changed, nothing missing" in good.err
    lines = await asyncio.to_thread(_read_lines, log_file)
    for damage in _DAMAGES.values():
        await asyncio.to_thread(log_file.write_text, "".join(damage(lines)))
        result = await program.run("admin", "audit-log", "verify", log_file, "--head", head)
        assert result.code == 1
        assert result.out.startswith("entry ")
    result = await program.run("admin", "audit-log", "verify", log_file, "--head", head, "--json")
    assert result.code == 1
    assert json.loads(result.out)["faults"][0].keys() == {"number", "detail"}


async def test_machine_key_verifies_the_log_without_reading_opinions(
    service: Service, owner: Person, ada: Person, tmp_path: Path, log_file: Path
) -> None:
    batch, (first,) = await call_of(service, "# One")
    await owner.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    await ada.post(f"/v1/evaluations/{first}/opinions", json={"score": 2, "note": "It is weak."})
    await ada.patch(f"/v1/evaluations/{first}/opinions", json={"score": 3, "note": "It is fair."})
    await owner.post(f"/v1/evaluations/{first}/override", json={"score": 4, "reason": "It is urgent."})
    await owner.post(f"/v1/evaluations/{first}/remarks", json={"text": "It is late."})
    await owner.post(
        f"/v1/batches/{batch}/sign-off", json={"note": "It is decided.", "allow_unfinished_evaluations": True}
    )
    items = (await owner.get("/v1/audit-log")).json()["items"]
    assert not any(entry["withheld"] for entry in items)
    async with service.open_caller("manage") as machine:
        answer = await machine.get("/v1/audit-log")
    entries = answer.json()["items"]
    assert "It is" not in answer.text
    assert [entry["action"] for entry in entries if entry["withheld"]] == [
        "blind opinion given",
        "opinion revised",
        "score overridden",
        "remark added",
        "signed off",
    ]
    assert all(entry["salt"] is None for entry in entries if entry["withheld"])
    assert all(entry["content"] for entry in entries if not entry["withheld"])
    async with serve(service.app) as url:
        program = Program(url, await service.create_key("manage"), tmp_path)
        saved = await program.run("admin", "audit-log", "export", log_file)
    good = await program.run("admin", "audit-log", "verify", log_file, "--head", saved.out.strip())
    assert good.code == 0, good.out
    assert "The text of 5 entries is withheld" in good.err
    assert "The header itself cannot be verified" in good.err
    lines = await asyncio.to_thread(_read_lines, log_file)
    assert '"reader":"machine"' in lines[0]
    for altered_lines in ([lines[0].replace("machine", "owner"), *lines[1:]], lines[1:]):
        await asyncio.to_thread(log_file.write_text, "".join(altered_lines))
        believed = await program.run("admin", "audit-log", "verify", log_file, "--head", saved.out.strip())
        assert believed.code == 1
        assert "withheld" in believed.out
    await asyncio.to_thread(log_file.write_text, "".join(lines[:-2] + lines[-1:]))
    assert (await program.run("admin", "audit-log", "verify", log_file, "--head", saved.out.strip())).code == 1
