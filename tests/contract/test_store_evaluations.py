"""Reports, the papers these cite, and the one place that tells how an evaluation stands."""

import asyncio
from pathlib import Path

import asyncpg
from pydantic import SecretStr

from assayer.models import EvaluationId, PaperId
from benchmarks.chaos.findings import Accepted
from benchmarks.chaos.reader import read
from orchestrator.jobs.models import JobId, JobVerdict, TenantId
from orchestrator.settings import QueueSettings
from orchestrator.store import Database, DatabaseSettings, PgPapers, PgReports
from tests.contract.store_jobs import Queue, job, tenant
from tests.contract.store_records import paper, report
from tests.contract.tables_of import tables_of

ID = EvaluationId("ev_1")
CUSTOMER = TenantId("tenant-1")
"""Named as the chaos names its own, whose reader judges here."""


async def test_get_unknown_id_is_none(database: Database) -> None:
    assert await PgReports(database).get(ID) is None


async def test_kept_report_comes_back_with_its_papers(database: Database) -> None:
    evaluations = PgReports(database)

    await evaluations.keep(report(), [paper(2), paper(1), paper(2)], {"cutoff": None})

    assert await evaluations.get(ID) == report()
    assert await evaluations.cited(ID) == [paper(1), paper(2)]


async def test_report_with_nul_is_stored_with_a_replacement(database: Database) -> None:
    evaluations = PgReports(database)

    await evaluations.keep(report(text="a\0b \\u0000 \\\0"), [paper(1, abstract="\0")], {})

    stored = await evaluations.get(ID)
    assert stored is not None
    assert stored.idea.text == "a\ufffdb \\u0000 \\\ufffd"
    assert [one.abstract for one in await evaluations.cited(ID)] == ["\ufffd"]


async def test_report_of_a_later_execution_takes_the_place_of_the_older(database: Database) -> None:
    evaluations = PgReports(database)
    await evaluations.keep(report(), [paper(1)], {})

    await evaluations.keep(report(text="We smelt it again."), [paper(2)], {})

    assert await evaluations.get(ID) == report(text="We smelt it again.")
    assert await evaluations.cited(ID) == [paper(2)]


async def test_cited_paper_that_changes_stays_as_it_was_in_the_older_report(database: Database) -> None:
    evaluations, papers = PgReports(database), PgPapers(database)
    await evaluations.keep(report(), [paper(1, abstract="As it was.")], {})

    await papers.save([paper(1, abstract="As it is now.")])

    assert await evaluations.cited(ID) == [paper(1, abstract="As it was.")]
    assert await papers.get([PaperId("corpus:1")]) == {PaperId("corpus:1"): paper(1, abstract="As it is now.")}


async def test_many_reports_at_once_with_shared_papers_are_all_kept(database: Database) -> None:
    evaluations = PgReports(database)
    shared = [paper(number) for number in range(40)]
    ids = [EvaluationId(f"ev_{number}") for number in range(24)]

    orders = [shared if number % 2 else shared[::-1] for number in range(24)]
    await asyncio.gather(*(evaluations.keep(report(one), order, {}) for one, order in zip(ids, orders, strict=True)))

    assert [await evaluations.get(one) for one in ids] == [report(one) for one in ids]
    assert len(await evaluations.cited(ids[0])) == 40


async def test_papers_unknown_ids_are_missing_from_the_answer(database: Database) -> None:
    papers = PgPapers(database)
    await papers.save([paper(1), paper(2)])
    await papers.save([])

    found = await papers.get([PaperId("corpus:2"), PaperId("corpus:3")])

    assert found == {PaperId("corpus:2"): paper(2)}


async def test_evaluation_has_one_state_after_a_cancel_a_dead_letter_and_a_take_over(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    await tenant(database, CUSTOMER)
    queue, evaluations = Queue(database, QueueSettings(max_failures=1)), PgReports(database)
    runs = {name: EvaluationId(f"ev_of_{name}") for name in ("cancelled", "dead", "taken")}
    leases = {}
    for name, run in runs.items():
        await queue.add(job(name), tenant=CUSTOMER)
        leases[name] = await queue.one()
        assert await queue.leases.record_run(leases[name], run, {})

    await queue.jobs.cancel(CUSTOMER, JobId("cancelled"))
    await queue.leases.give_back(leases["dead"], "It failed.", attempt_failed=True)
    await queue.silence()
    await queue.leases.expire()
    second = await queue.one()
    assert await queue.leases.record_run(second, runs["taken"], {})
    await evaluations.keep(report(runs["taken"]), [], {})
    assert await queue.leases.finish(second, JobVerdict(state="done", run_id=runs["taken"]))
    # Those who lost their leases come to an end all the same: one with a report, one without.
    await evaluations.keep(report(runs["taken"]), [], {})
    assert not await queue.leases.finish(leases["taken"], JobVerdict(state="done", run_id=runs["taken"]))
    assert await queue.leases.give_back(leases["cancelled"], "It failed.", attempt_failed=True) is None

    accepted = [Accepted(tenant=CUSTOMER, key=name, job=name) for name in runs]
    found = await read(database_url, accepted, [], tmp_path)
    assert found.violations == []
    assert found.states == {"cancelled": 1, "dead": 1, "done": 1}
    assert [await evaluations.get(run) is not None for run in runs.values()] == [False, False, True]


async def test_runs_of_an_earlier_version_that_have_no_report_are_forgotten_and_reports_stay(
    empty_database_url: str,
) -> None:
    await tables_of("0005", empty_database_url)
    connection = await asyncpg.connect(empty_database_url)
    insert = """
        INSERT INTO evaluations (id, idea_id, method, state, request, report)
        VALUES ($1, 'idea', 'scholareval', $2, '{}', $3)
    """
    await connection.execute(insert, "ev_stale", "running", None)
    await connection.execute(insert, "ev_failed", "failed", None)
    await connection.execute(insert, "ev_again", "running", report("ev_again").model_dump_json())
    await connection.close()

    async with Database(DatabaseSettings(url=SecretStr(empty_database_url))) as database:
        await database.migrate()
        kept = await database.fetch("SELECT id FROM evaluations")
        assert await PgReports(database).get(EvaluationId("ev_again")) == report("ev_again")
    assert [row["id"] for row in kept] == ["ev_again"]
