"""PostgreSQL notifications about jobs: sending them, and delivering them to subscribers in this process.

Notifications are only hints: a process that misses one finds the rows by polling. They are sent right after the change
that they announce is committed, not in the same transaction, because PostgreSQL commits transactions with notifications
one at a time, each waiting for the disk. (benchmarks/queue, with 8 ms per disk flush: 266 finished jobs per second in
the same transaction, 426 when sent separately.) If a process is killed in between, the notification is lost."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Literal, Self, TypeAlias

import asyncpg
from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from assayer.errors import StorageError, error_text
from orchestrator.store.database import Connection, Database
from orchestrator.store.database_errors import DRIVER_ERRORS

_LOG = logging.getLogger(__name__)

_CONNECTION_ERRORS: tuple[type[Exception], ...] = (*DRIVER_ERRORS, StorageError)
_MAX_PENDING = 1_000
_PING_SECONDS = 10.0
"""Interval in seconds between pings that check whether the connection is alive."""
Channel: TypeAlias = Literal["assayer_jobs", "assayer_events"]
"""Notification channels: `assayer_jobs` carries `queued`, `cancelled JOB` or `finished JOB`; `assayer_events` carries
the id of a job with a new event."""
CHANNELS: tuple[Channel, ...] = ("assayer_jobs", "assayer_events")

Notification: TypeAlias = tuple[Channel, str]

JOB_QUEUED: Notification = ("assayer_jobs", "queued")

_SEND_NOTIFICATIONS = """
    SELECT set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
    FROM unnest($1::text[], $2::text[]) AS news (channel, payload)
"""


def make_event_notification(job: str) -> Notification:
    return "assayer_events", job


def make_finished_notifications(job: str) -> tuple[Notification, Notification]:
    return ("assayer_jobs", f"finished {job}"), make_event_notification(job)


def make_cancelled_notifications(rows: Iterable[asyncpg.Record]) -> list[Notification]:
    """Return the notifications about cancelled jobs, whose ids are in `rows`."""
    return [
        notification
        for row in rows
        for notification in (("assayer_jobs", f"cancelled {row['id']}"), make_event_notification(row["id"]))
    ]


async def notify(connection: Connection, notifications: Iterable[Notification]) -> None:
    """Send notifications. Call this after the commit, outside any transaction."""
    if pending := list(notifications):
        await connection.fetch(
            _SEND_NOTIFICATIONS, [channel for channel, _ in pending], [payload for _, payload in pending]
        )


class NotificationsMissed:
    """Signals that notifications may have been missed, because the connection was lost or too many were pending. The
    subscriber must read the rows instead."""


class Subscription:
    """A subscriber's queue of pending notifications."""

    def __init__(self) -> None:
        self._pending: deque[str] = deque()
        self._missed = False
        self._arrived = asyncio.Event()

    async def next(self, timeout: float) -> str | NotificationsMissed | None:
        """Return the next payload, NotificationsMissed if some may have been missed, or None if nothing arrives within
        `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                await self._arrived.wait()
        except TimeoutError:
            return None
        notification: str | NotificationsMissed = NotificationsMissed() if self._missed else self._pending.popleft()
        self._missed = False
        if not self._pending:
            self._arrived.clear()
        return notification

    def put(self, payload: str) -> None:
        if len(self._pending) == _MAX_PENDING:
            self.mark_missed()
        else:
            self._pending.append(payload)
            self._arrived.set()

    def mark_missed(self) -> None:
        """Record that notifications were missed. Discard pending ones, because the subscriber reads the rows anyway."""
        self._pending.clear()
        self._missed = True
        self._arrived.set()


class NotificationListener:
    """One connection shared by all subscribers of this process; use it as an async context manager.

    It survives server restarts. Subscribe first, then read the rows, then wait for changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._subscriptions: dict[tuple[str, str | None], set[Subscription]] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._listen_until_cancelled(), name="listener")
        return self

    async def __aexit__(self, *_: object) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @asynccontextmanager
    async def subscribe(self, channel: Channel, only: str | None = None) -> AsyncIterator[Subscription]:
        """Subscribe to a channel, or only to notifications with the payload `only`. Nothing arrives while there is no
        connection; the first item after reconnecting is NotificationsMissed."""
        subscription = Subscription()
        subscriptions = self._subscriptions.setdefault((channel, only), set())
        subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            subscriptions.discard(subscription)
            if not subscriptions:
                self._subscriptions.pop((channel, only), None)

    async def _listen_until_cancelled(self) -> None:
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(_CONNECTION_ERRORS), wait=wait_random_exponential(multiplier=0.05, max=2.0)
        )
        while True:
            connection: asyncpg.Connection[asyncpg.Record] = await retrying(self._database.connect_unpooled)
            try:
                await self._listen(connection)
            except _CONNECTION_ERRORS as error:
                _LOG.warning("the connection for notifications was lost: %s", error_text(error))
            finally:
                connection.terminate()

    async def _listen(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        """Listen until the connection is lost."""
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        for channel in CHANNELS:
            await connection.add_listener(channel, self._deliver)
        for subscriptions in self._subscriptions.values():
            for subscription in subscriptions:
                subscription.mark_missed()
        while not lost.is_set():
            try:
                async with asyncio.timeout(_PING_SECONDS):
                    await lost.wait()
            except TimeoutError:
                await connection.execute("SELECT 1")

    def _deliver(self, _: Any, __: int, channel: str, payload: object) -> None:
        text = str(payload)
        for key in ((channel, None), (channel, text)):
            for subscription in self._subscriptions.get(key, ()):
                subscription.put(text)
