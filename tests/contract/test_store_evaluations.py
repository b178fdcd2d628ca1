"""Reports, and the state of their evaluations."""

from pathlib import Path

from assayer.models import EvaluationId
from benchmarks.chaos.findings import Accepted
from benchmarks.chaos.reader import read_findings
from orchestrator.jobs.models import JobId, JobVerdict, TenantId
from orchestrator.settings import QueueSettings
from orchestrator.store import Database, PgReports
from tests.contract.store_jobs import Queue, build_job, create_tenant
from tests.contract.store_records import report

ID = EvaluationId("ev_1")
CUSTOMER = TenantId("tenant-1")
"""Named as the chaos names its own, whose reader judges here."""


async def test_unknown_report_id_returns_none(database: Database) -> None:
    assert await PgReports(database).get(ID) is None


async def test_nul_characters_in_reports_are_replaced(database: Database) -> None:
    evaluations = PgReports(database)

    await evaluations.store(report(text="a\0b \\u0000 \\\0"))

    stored = await evaluations.get(ID)
    assert stored is not None
    assert stored.idea.text == "a\ufffdb \\u0000 \\\ufffd"


async def test_later_report_replaces_the_earlier(database: Database) -> None:
    evaluations = PgReports(database)
    await evaluations.store(report())

    await evaluations.store(report(text="We smelt it again."))

    assert await evaluations.get(ID) == report(text="We smelt it again.")


async def test_evaluation_has_a_single_final_state_and_only_success_has_report(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    await create_tenant(database, CUSTOMER)
    queue, evaluations = Queue(database, QueueSettings(max_failures=1)), PgReports(database)
    runs = {name: EvaluationId(f"ev_of_{name}") for name in ("cancelled", "failed", "taken")}
    leases = {}
    for name, run in runs.items():
        await queue.add(build_job(name), tenant=CUSTOMER)
        leases[name] = await queue.acquire_lease()
        assert await queue.leases.record_run(leases[name], run, {})

    await queue.jobs.cancel(CUSTOMER, JobId("cancelled"))
    await queue.leases.give_back(leases["failed"], "It failed.", attempt_failed=True, after_seconds=0)
    await queue.expire_leases()
    await queue.leases.expire()
    second = await queue.acquire_lease()
    assert await queue.leases.record_run(second, runs["taken"], {})
    await evaluations.store(report(runs["taken"]))
    assert await queue.leases.finish(second, JobVerdict(state="succeeded", run_id=runs["taken"]))
    # Those who lost their leases come to an end all the same: one with a report, one without.
    await evaluations.store(report(runs["taken"]))
    assert not await queue.leases.finish(leases["taken"], JobVerdict(state="succeeded", run_id=runs["taken"]))
    assert await queue.leases.give_back(leases["cancelled"], "It failed.", attempt_failed=True, after_seconds=0) is None

    accepted = [Accepted(tenant=CUSTOMER, key=name, job=name) for name in runs]
    findings = await read_findings(database_url, accepted, [], tmp_path)
    assert findings.violations == []
    assert findings.states == {"cancelled": 1, "failed": 1, "succeeded": 1}
    assert [await evaluations.get(run) is not None for run in runs.values()] == [False, False, True]
