"""A saved log says for whom it was saved: words that were taken out of it are not taken for withheld ones."""

import asyncio
import json
from pathlib import Path

from orchestrator.access.audit_chain import AuditEntry, AuditExport
from tests.contract.api.commands import Program
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import add_person, call_of
from tests.contract.api.service import Service, serve


async def test_blanked_text_in_an_owner_export_is_reported_as_a_fault(service: Service, tmp_path: Path) -> None:
    owner, file = await add_person(service, "owner", "Olga Owner"), tmp_path / "log.jsonl"
    _, (first,) = await call_of(service, "# One")
    await owner.post(f"/v1/evaluations/{first}/override", json={"score": 4, "reason": "It is urgent."})
    assert (await owner.get("/v1/audit-log")).json()["reader"] == "owner"
    async with serve(service.app) as url:
        program = Program(url, owner.key, tmp_path)
        saved = await program.run("admin", "audit-log", "export", file)
    head, *entries = [json.loads(line) for line in (await asyncio.to_thread(file.read_text)).splitlines()]
    assert head["reader"] == "owner"
    entries[-1] |= {"content": None, "salt": None, "withheld": True}
    await asyncio.to_thread(file.write_text, "".join(json.dumps(entry) + "\n" for entry in (head, *entries)))
    result = await program.run("admin", "audit-log", "verify", file, "--head", saved.out.strip())
    assert result.code == 1
    assert f"entry {len(entries)}: states that its content is withheld" in result.out
    assert "1 fault in " in result.err
    await asyncio.to_thread(file.write_text, "".join(json.dumps(entry) + "\n" for entry in (head, *entries, head)))
    twice = await program.run("admin", "audit-log", "verify", file)
    assert twice.code == 2
    assert "contains two audit logs" in twice.err


async def test_console_export_names_its_reader_role(service: Service) -> None:
    auditor = await add_person(service, "auditor", "Audi Tor")
    async with open_session(service, auditor.key) as browser:
        head, *entries = (await browser.get("/console/audit-log/export")).text.splitlines()
    assert AuditExport.model_validate_json(head).reader == "auditor"
    assert [AuditEntry.model_validate_json(entry).number for entry in entries] == [1, 2]
