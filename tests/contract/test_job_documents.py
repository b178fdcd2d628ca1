"""Documents of jobs in files: there while the job may need them, gone with it, whatever dies in between."""

import datetime as dt
import os
from pathlib import Path

import pytest

from assayer.errors import FullTextError, StorageError
from cluster.submitted_documents import SubmittedDocuments
from orchestrator.jobs.models import JobId, TenantPlan
from orchestrator.jobs.submissions import QueueFull
from orchestrator.store import Database, PgJobs
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.documents import PgDocuments
from orchestrator.store.erasure import PgErasures
from orchestrator.store.idempotency import IdempotencyRecord
from tests.contract.store_jobs import ACME, PDF, Losing, Queue, build_document_job, create_tenant, read_stored_files

HOUR = dt.timedelta(hours=1)


class Broken(SubmittedDocuments):
    """A store that has failed."""

    async def write(self, name: str, data: bytes) -> None:
        raise StorageError("No space is left.")

    async def delete(self, name: str) -> None:
        raise StorageError("It is out of reach.")


@pytest.fixture
async def queue(database: Database, documents: PgDocuments) -> Queue:
    await create_tenant(database)
    return Queue(database, documents=documents)


@pytest.fixture
def documents(database: Database, tmp_path: Path) -> PgDocuments:
    return PgDocuments(database, SubmittedDocuments(str(tmp_path)))


async def test_document_is_stored_in_a_file_and_not_in_the_row(
    queue: Queue, documents: PgDocuments, tmp_path: Path
) -> None:
    await queue.add(build_document_job("a"), build_document_job("b", document=b"another"))

    leases = {lease.job: lease for lease in await queue.acquire_leases(2)}

    assert read_stored_files(tmp_path) == [PDF, b"another"]
    assert await queue.database.fetch("SELECT FROM jobs WHERE document IS NOT NULL") == []
    assert [lease.document for lease in leases.values()] == [None, None]
    file = leases[JobId("b")].document_file
    assert file is not None
    assert await documents.read(file) == b"another"


async def test_document_is_kept_while_its_job_waits_for_retry(
    queue: Queue, documents: PgDocuments, tmp_path: Path
) -> None:
    await queue.add(build_document_job())
    await queue.leases.give_back(await queue.acquire_lease(), "It timed out.", attempt_failed=True, after_seconds=0)

    assert await documents.delete_released() == 0
    assert read_stored_files(tmp_path) == [PDF]
    assert (await queue.acquire_lease()).document_file is not None


async def test_undeletable_file_is_recorded_and_deleted_later(
    queue: Queue, documents: PgDocuments, tmp_path: Path
) -> None:
    await queue.add(build_document_job())
    broken = PgDocuments(queue.database, Broken(str(tmp_path)))
    erasures = PgErasures(queue.database, PgAuditLog(queue.database))

    assert await Queue(queue.database, documents=broken).delete(JobId("a"))

    assert read_stored_files(tmp_path) == [PDF]
    assert await erasures.find_remaining(ACME, ["a"]) == ["a"]
    assert await documents.delete_released() == 1
    assert read_stored_files(tmp_path) == []
    assert await erasures.find_remaining(ACME, ["a"]) == []


async def test_rejected_submission_leaves_document_store_empty(
    queue: Queue, documents: PgDocuments, tmp_path: Path
) -> None:
    await queue.tenants.update(ACME, TenantPlan(name="acme", max_queued=1))

    with pytest.raises(QueueFull):
        await queue.add(build_document_job("a"), build_document_job("b"))

    await documents.delete_released()
    assert read_stored_files(tmp_path) == []


async def test_failing_store_rejects_the_submission(queue: Queue, tmp_path: Path) -> None:
    broken = PgDocuments(queue.database, Broken(str(tmp_path)))

    with pytest.raises(StorageError, match="No space is left"):
        await PgJobs(queue.database, documents=broken).add(ACME, [build_document_job()])

    assert await queue.jobs.get(ACME, JobId("a")) is None


async def test_repeated_submission_keeps_a_single_file(queue: Queue, documents: PgDocuments, tmp_path: Path) -> None:
    jobs = PgJobs(Losing(queue.database), documents=documents)
    record = IdempotencyRecord(key="k", request=b"1", status=202, body=b"{}", location="/a")

    await jobs.add(ACME, [build_document_job("a")], record=record)
    assert await jobs.add(ACME, [build_document_job("a")], record=record) is not None
    await documents.delete_released()

    assert read_stored_files(tmp_path) == [PDF]
    file = (await queue.acquire_lease()).document_file
    assert file is not None
    assert await documents.read(file) == PDF


async def test_file_of_a_crashed_submission_is_deleted(queue: Queue, documents: PgDocuments, tmp_path: Path) -> None:
    now = dt.datetime.now(dt.UTC)
    await documents.write_documents([build_document_job("died")])
    await queue.add(build_document_job("lives", document=b"another"))

    await documents.release_abandoned(now, 900)
    assert await documents.delete_released() == 0
    await documents.release_abandoned(now + HOUR, 900)

    assert await documents.delete_released() == 1
    assert read_stored_files(tmp_path) == [b"another"]


def _begin_to_write(folder: Path, file: str, end: str) -> Path:
    name = file.rpartition("/")[2]
    (place,) = folder.rglob(name)
    partial = place.with_name(f".{name}.{end}")
    partial.write_bytes(PDF[:9])
    return partial


async def test_leftovers_of_a_killed_write_are_deleted_with_its_file(
    queue: Queue, documents: PgDocuments, tmp_path: Path
) -> None:
    (job,) = await documents.write_documents([build_document_job("died")])
    leftover, being_written = (_begin_to_write(tmp_path, str(job.document_file), end) for end in ("0a1b", "2c3d"))
    os.utime(leftover, (0, 0))

    await documents.release_abandoned(dt.datetime.now(dt.UTC) + HOUR, 900)
    assert await documents.delete_released() == 1

    assert not leftover.exists()
    assert being_written.exists()


async def test_lost_document_is_reported(documents: PgDocuments) -> None:
    with pytest.raises(FullTextError, match="no longer in the document store"):
        await documents.read("ab/none")
