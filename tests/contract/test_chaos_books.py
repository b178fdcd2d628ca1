"""The reader of the chaos finds every cent that is charged wrongly and every word that was left."""

import datetime as dt
from pathlib import Path

import pytest

from assayer.models import EvaluationId, Message
from benchmarks.chaos.ledger_audit import Erased, LedgerAudit, audit
from benchmarks.chaos.simulated_users import build_word_document
from cluster.submitted_documents import SubmittedDocuments
from orchestrator.jobs.models import JobId, JobVerdict
from orchestrator.store import Database, PgAnswerCache, PgJobs
from orchestrator.store.documents import PgDocuments
from tests.contract.store_jobs import ACME, Queue, build_job, create_tenant
from tests.contract.store_records import answer, build_answered_row, call

RUN = EvaluationId("ev_run")
MARKER = "This is variant 7 of the plan."
ERASED = (Erased(job="a", marker=MARKER),)


@pytest.fixture
async def queue(database: Database) -> Queue:
    await create_tenant(database)
    queue = Queue(database)
    await queue.add(build_job("a"))
    lease = await queue.acquire_lease()
    await queue.leases.record_run(lease, RUN, {})
    await pay(database)
    await queue.leases.finish(lease, JobVerdict(state="succeeded", run_id=RUN))
    return queue


async def pay(database: Database, run: str = RUN) -> None:
    row = build_answered_row(f"key of {run}", run, call(cost_usd=0.25)).model_copy(
        update={"at": dt.datetime.now(dt.UTC)}
    )
    altered_answer = answer(row.key).model_copy(
        update={"messages": (Message(role="user", content=f"Judge this. {MARKER}"),)}
    )
    await PgAnswerCache(database).record(row, altered_answer)


async def audit_books(queue: Queue, tmp_path: Path, *, erasures: tuple[Erased, ...] = ()) -> LedgerAudit:
    return await queue.database.run(lambda connection: audit(connection, erasures, tmp_path))


def list_broken_rules(findings: LedgerAudit) -> dict[str, list[str]]:
    return {rule: list(run_ids) for rule, run_ids in findings.broken.items() if run_ids}


async def test_consistent_data_has_no_accounting_faults(queue: Queue, tmp_path: Path) -> None:
    audited = await audit_books(queue, tmp_path)

    assert list_broken_rules(audited) == {}
    assert (audited.tokens, audited.ledger_usd, audited.spent_usd) == (110, 0.25, 0.25)


async def test_complete_erasure_leaves_no_accounting_faults(queue: Queue, tmp_path: Path) -> None:
    await queue.delete(build_job("a").id)
    await queue.database.execute("UPDATE erased_runs SET erased_at = erased_at + interval '10 s'")

    audited = await audit_books(queue, tmp_path, erasures=ERASED)

    assert list_broken_rules(audited) == {}
    assert (audited.ledger_usd, audited.spent_usd) == (0.25, 0.25)


async def test_charge_that_is_too_small_is_found(queue: Queue, tmp_path: Path) -> None:
    await queue.database.execute("UPDATE jobs SET cost_usd = 0.2")

    assert list_broken_rules(await audit_books(queue, tmp_path)) == {
        "charged another sum than was paid for them": ["a", GONE]
    }


async def test_cost_that_was_never_charged_to_the_tenant_is_found(queue: Queue, tmp_path: Path) -> None:
    await queue.database.execute("DELETE FROM spending")

    assert list_broken_rules(await audit_books(queue, tmp_path)) == {
        "charged another sum than was paid for them": [GONE]
    }


GONE = "all that were erased"


async def test_paid_run_without_an_evaluation_is_reported(queue: Queue, tmp_path: Path) -> None:
    await pay(queue.database, "ev_of_nobody")

    assert list_broken_rules(await audit_books(queue, tmp_path)) == {
        "runs that were paid for and belong to no evaluation": ["ev_of_nobody"]
    }


async def test_document_stored_for_a_retry_is_not_reported_as_left_over(queue: Queue, tmp_path: Path) -> None:
    documents = PgDocuments(queue.database, SubmittedDocuments(str(tmp_path)))
    await PgJobs(queue.database, documents=documents).add(
        ACME, [build_job("b").model_copy(update={"document": build_word_document(MARKER)})]
    )
    await queue.jobs.cancel(ACME, JobId("b"))
    assert list_broken_rules(await audit_books(queue, tmp_path)) == {}

    await queue.database.execute("UPDATE jobs SET document_file = NULL")

    assert list(list_broken_rules(await audit_books(queue, tmp_path))) == [
        "places where words of erased ideas are left"
    ]


async def test_text_left_after_an_erasure_is_reported_everywhere(queue: Queue, tmp_path: Path) -> None:
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / "left").write_bytes(build_word_document(MARKER))
    await queue.database.execute("UPDATE jobs SET subject = $1", f"Plan. {MARKER}")

    broken_rules = list_broken_rules(await audit_books(queue, tmp_path, erasures=ERASED))

    assert broken_rules["erased, and still in the tables"] == ["a"]
    places = broken_rules["places where words of erased ideas are left"]
    assert {"1 rows of jobs", "answers.messages"} <= set(places)
    assert any(place.endswith("/ab/left") for place in places)
