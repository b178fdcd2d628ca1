"""Evaluator process: leases and runs jobs, delivers webhooks and emails, and does housekeeping."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from assayer.ports import Clock
from cluster.engine import Engine
from cluster.job_performer import make_performer, make_worker
from cluster.mail import build_mail_deliverer, build_mail_outbox
from cluster.settings import Settings
from cluster.submitted_documents import open_documents
from cluster.telemetry import open_trace_export
from cluster.webhooks import load_secret_cipher, open_deliverer, reencrypt_secrets
from orchestrator.execution.chores import Chore, ChoreLock, run_chores
from orchestrator.execution.mail_delivery import MailDeliverer
from orchestrator.execution.webhook_delivery import WebhookDeliverer
from orchestrator.execution.worker import Worker
from orchestrator.store import Database, NotificationListener, NotificationsMissed, PgJobs, PgLeases, Subscription
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.chore_lock import PgChoreLock
from orchestrator.store.documents import PgDocuments
from orchestrator.store.tombstones import PgTombstones
from orchestrator.store.webhooks import PgWebhooks


@dataclass(frozen=True)
class Evaluator:
    """Runs leased jobs, deliveries and housekeeping chores. Any number of evaluators, in different processes, can share
    one database."""

    worker: Worker
    overnight: Worker
    """Worker with its own concurrency slots, for overnight jobs, which spend most of their time waiting."""
    deliverer: WebhookDeliverer
    mail: MailDeliverer | None
    """Email deliverer; None if the service sends no email."""
    chores: tuple[Chore, ...]
    lock: ChoreLock
    longest_pause: float
    """Maximum delay in seconds between two attempts while the database is unreachable."""

    async def run(self) -> None:
        """Run until cancelled; call `drain` before cancelling."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.worker.run())
            group.create_task(self.overnight.run())
            group.create_task(self.deliverer.run())
            if self.mail is not None:
                group.create_task(self.mail.run())
            group.create_task(run_chores(self.chores, self.lock, self.longest_pause))

    @property
    def in_hand(self) -> int:
        """Number of jobs running here, without overnight jobs: a drain returns those to the queue immediately."""
        return self.worker.running_count

    async def drain(self, seconds: float) -> None:
        """Stop leasing, wait up to `seconds` for running jobs, then return unfinished ones to the queue. Overnight jobs
        are returned immediately, because waiting for their batch would take hours."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.worker.drain(seconds))
            group.create_task(self.overnight.drain(0))


@asynccontextmanager
async def open_evaluator(
    name: str,
    settings: Settings,
    database: Database,
    listener: NotificationListener,
    engine: Engine,
    clock: Clock,
    batch_only: bool = False,
) -> AsyncIterator[Evaluator]:
    """Open an evaluator. With `batch_only`, it leases no interactive jobs."""
    keep_days = settings.batches.document_days
    jobs = PgJobs(database, document_days=keep_days)
    leases = PgLeases(database, settings.queue, keep_documents=keep_days != 0)
    cipher, mails = load_secret_cipher(settings), build_mail_outbox(settings, database)
    outbox = PgWebhooks(database, mails)
    work, log = settings.work, PgAuditLog(database)
    documents, retention = open_documents(settings, database), settings.retention
    await reencrypt_secrets(outbox, cipher)
    performer = make_performer(settings, database, engine)
    parts = (settings, database, listener, performer)
    with open_trace_export(database) as traces:
        async with (
            listener.subscribe("assayer_jobs") as notifications,
            open_deliverer(settings.webhooks, outbox, cipher, _WakeOnFinishedJob(notifications), clock) as deliverer,
            PgChoreLock(database) as lock,
        ):
            yield Evaluator(
                worker=make_worker(name, *parts, batch_only),
                overnight=make_worker(f"{name} overnight", *parts, overnight_only=True),
                deliverer=deliverer,
                mail=build_mail_deliverer(settings, mails, clock),
                chores=(
                    Chore("take back expired leases", work.expire_seconds, leases.expire),
                    Chore(
                        "delete what is kept no longer", work.purge_seconds, lambda: jobs.purge(clock.now(), retention)
                    ),
                    Chore("delete words kept no longer", work.purge_seconds, lambda: log.purge(clock.now())),
                    Chore(
                        "forget old documents", work.purge_seconds, lambda: jobs.delete_expired_documents(clock.now())
                    ),
                    *_create_tombstone_chores(PgTombstones(database), settings, clock),
                    *(_create_document_chores(documents, settings, clock) if documents is not None else ()),
                    *traces,
                ),
                lock=lock,
                longest_pause=work.longest_pause_seconds,
            )


def _create_tombstone_chores(tombstones: PgTombstones, settings: Settings, clock: Clock) -> tuple[Chore, ...]:
    days = settings.retention.tombstone_days
    if days is None:
        return ()
    retention_period = dt.timedelta(days=days)
    return (
        Chore(
            "forget what was deleted",
            settings.work.purge_seconds,
            lambda: tombstones.purge(clock.now() - retention_period),
        ),
    )


def _create_document_chores(documents: PgDocuments, settings: Settings, clock: Clock) -> tuple[Chore, Chore]:
    work, abandoned_seconds = settings.work, settings.batches.abandoned_seconds

    async def look_for_abandoned() -> None:
        await documents.release_abandoned(clock.now(), abandoned_seconds)

    return (
        Chore("delete documents of jobs that have ended", work.expire_seconds, documents.delete_released),
        Chore("look for documents of no job", work.purge_seconds, look_for_abandoned),
    )


@dataclass(frozen=True)
class _WakeOnFinishedJob:
    """Notification source that wakes the deliverer when a job has ended."""

    notifications: Subscription

    async def next(self, timeout: float) -> str | None:
        try:
            async with asyncio.timeout(timeout):
                while (notification := await self.notifications.next(timeout)) == "queued":
                    continue
        except TimeoutError:
            return None
        return None if isinstance(notification, NotificationsMissed) else notification
