"""How well the corpus covers the fields of a call's proposals: drawn, and the proposals of each field found."""

import html
import re

from assayer.models import EvaluationId
from assayer.models.paper import CorpusFit
from orchestrator.jobs.models import BatchId, JobVerdict
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases, PgReports
from tests.contract.api.service import ACME, OTHER, Service
from tests.contract.api.test_console_tables import signed_in
from tests.contract.store_records import report

REEFS = "Coral reef larvae settle on a coral reef where other larvae settled."
QUBITS = "Photons in a cavity drive a qubit, and a qubit in a cavity emits photons."


async def call_of_two_fields(service: Service) -> BatchId:
    """Eight about reefs, which the corpus covers, and eight about qubits, which it does not."""
    rows = "\n".join(f'Number {n},"{REEFS if n < 8 else QUBITS} {"We test it. " * 20}"' for n in range(16))
    async with service.caller() as owner:
        made = await owner.post("/v1/batches", files=[("file", ("call.csv", f"title,text\n{rows}\n".encode()))])
    leases = PgLeases(service.database, QueueSettings())
    for _ in range(16):
        lease = await service.lease()
        run = EvaluationId(f"run_{lease.job}")
        assert await leases.record_run(lease, run, {})
        made_of = report(run)
        about = REEFS if "Coral" in lease.request.model_dump_json() else QUBITS
        fit = CorpusFit(level="good" if about == REEFS else "poor", value=0.5, criterion="nearness")
        changes = {
            "coverage": made_of.coverage.model_copy(update={"corpus_fit": fit}),
            "idea": made_of.idea.model_copy(update={"text": about}),
        }
        await PgReports(service.database).keep(made_of.model_copy(update=changes), [], {})
        assert await leases.finish(lease, JobVerdict(state="done", run_id=run, cost_usd=0.25))
    return BatchId(made.json()["id"])


async def test_fields_are_drawn_with_how_well_the_corpus_covers_them_and_lead_to_their_proposals(
    service: Service,
) -> None:
    batch = await call_of_two_fields(service)
    async with signed_in(service, await service.key()) as client:
        page = (await client.get(f"/console/calls/{batch}/plots")).text
        listed = re.findall(r'<tr><th scope="row">([a-z, ]+)</th>.*?<a href="([^"]*field=[^"]*)">8</a>', page)
        assert len(listed) == 2, page
        poor = next(html.unescape(link) for name, link in listed if "qubit" in name)
        table = (await client.get(poor)).text
        assert "8 proposals" in table
        assert "Number 8<" in table
        assert "Number 7<" not in table
        assert "0 proposals" in (await client.get(f"{poor}&fit=good")).text
        gone = (await client.get(f"/console/calls/{batch}?field=volcanoes")).text
        assert "it may be gone or have another name" in gone
    assert (await service.services.series.words(OTHER, batch)).runs == []


async def test_words_of_reports_from_before_they_were_counted_are_counted_when_plots_are_looked_at(
    service: Service,
) -> None:
    batch = await call_of_two_fields(service)
    before = await service.services.series.words(ACME, batch)
    await service.database.execute("UPDATE report_figures SET figures = figures - 'words'")
    assert [list(one) for one in (await service.services.series.words(ACME, batch)).words] == [[]] * 16
    async with signed_in(service, await service.key()) as client:
        assert "qubit" in (await client.get(f"/console/calls/{batch}/plots")).text
    assert await service.services.series.words(ACME, batch) == before
