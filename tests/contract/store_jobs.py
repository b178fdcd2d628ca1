"""Jobs, tenants and leases that the tests of the queue write."""

import datetime as dt
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import TypeVar

from assayer.models import Idea, IdeaId
from orchestrator.access.audit_chain import ActBy, Actor
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import BatchId, Job, JobId, JobVerdict, Lease, Priority, TenantId, TenantPlan
from orchestrator.jobs.requests import EvaluationRequest, Limits
from orchestrator.jobs.submissions import BatchStatus, NewJob
from orchestrator.settings import QueueSettings
from orchestrator.store import Database, PgJobs, PgLeases, PgTenants
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection
from orchestrator.store.documents import PgDocuments
from orchestrator.store.erasure import PgErasures

T = TypeVar("T")
ACME, OTHER, RICH = TenantId("acme"), TenantId("other"), TenantId("rich")
OPERATOR = Actor("ak_test", "test", "machine")
DONE = JobVerdict(state="succeeded", cost_usd=0.5)
PDF = b"%PDF of a proposal"
NOW = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)
_NUMBERS = count(1)


def build_job(
    name: str = "", priority: Priority = "batch", max_usd: float | None = None, row: int | None = None
) -> NewJob:
    title = name or f"ev_{next(_NUMBERS)}"
    idea = Idea(id=IdeaId(f"idea_{title}"), title=title, text="We study ore.", sections=(), source="test")
    work = EvaluationRequest(idea=idea, limits=Limits(max_usd=max_usd))
    return NewJob(id=JobId(title), request=work, subject=title, priority=priority, row=row)


def build_document_job(
    name: str = "a", row: int | None = None, max_usd: float | None = None, document: bytes = PDF
) -> NewJob:
    request = EvaluationRequest(idea=None, source=f"{name}.pdf", limits=Limits(max_usd=max_usd))
    return NewJob(id=JobId(name), request=request, subject=f"{name}.pdf", priority="batch", document=document, row=row)


def read_stored_files(folder: Path) -> list[bytes]:
    return sorted(file.read_bytes() for file in folder.rglob("*") if file.is_file())


class Queue:
    """The stores of one database, and short ways to use them."""

    def __init__(
        self,
        database: Database,
        settings: QueueSettings | None = None,
        documents: PgDocuments | None = None,
        document_days: int | None = 30,
    ) -> None:
        self.database = database
        self.documents = documents
        self.jobs = PgJobs(database, documents=documents, document_days=document_days)
        self.leases = PgLeases(database, settings or QueueSettings(), keep_documents=document_days != 0)
        self.tenants = PgTenants(database)

    async def add(self, *jobs: NewJob, tenant: TenantId = ACME) -> None:
        await self.jobs.add(tenant, jobs)

    async def acquire_leases(self, free: int = 1, interactive_only: int = 0, worker: str = "worker") -> list[Lease]:
        return await self.leases.acquire(worker, FreeSlots(free, interactive_only))

    async def acquire_lease(self) -> Lease:
        (lease,) = await self.acquire_leases()
        return lease

    async def get(self, job: JobId, tenant: TenantId = ACME) -> Job:
        """Return a job that is there."""
        job_found = await self.jobs.get(tenant, job)
        assert job_found is not None
        return job_found

    async def get_batch(self, batch: BatchId, tenant: TenantId = ACME) -> BatchStatus:
        """Return a batch that is there."""
        batch_found = await self.jobs.get_batch(tenant, batch)
        assert batch_found is not None
        return batch_found

    async def delete(self, job: JobId, tenant: TenantId = ACME) -> bool:
        """Delete a job. Returns whether it existed."""
        was_known = await self.jobs.get(tenant, job) is not None
        await PgErasures(self.database, PgAuditLog(self.database), self.documents).erase(
            tenant, [job], ActBy(OPERATOR, NOW)
        )
        return was_known and await self.jobs.get(tenant, job) is None

    async def delete_tenant(self, tenant: TenantId = ACME) -> bool:
        return await self.tenants.delete(tenant, ActBy(OPERATOR, NOW))

    async def expire_leases(self) -> None:
        """Expire all leases of running jobs, as if no heartbeat had arrived for a long time."""
        await self.database.execute("UPDATE jobs SET leased_until = now() - interval '1 s' WHERE state = 'running'")


async def create_tenant(database: Database, name: TenantId = ACME, **plan: object) -> None:
    await PgTenants(database).create(name, TenantPlan.model_validate({"name": name} | plan))


class Losing(Database):
    """Database that behaves as if the connection were lost after each commit: every piece of work runs twice."""

    def __init__(self, database: Database) -> None:
        self._through = database

    @property
    def patience_seconds(self) -> float:
        return self._through.patience_seconds

    async def run(self, work: Callable[[Connection], Awaitable[T]], seconds: float | None = None) -> T:
        await self._through.run(work, seconds)
        return await self._through.run(work, seconds)
