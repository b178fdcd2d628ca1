"""PostgreSQL notifications: sending them, listening to them, and handing those about jobs to workers.

Notifications are hints: whoever misses one finds the rows all the same. They are sent right after the commit of what
they announce, not in the same transaction: PostgreSQL lets one transaction with notifications commit at a time, each
waiting for the disk, which holds the whole queue to one commit per flush (benchmarks/queue on a disk that takes 8 ms a
flush: 266 finished jobs a second, 426 this way). Sent apart they wait for no disk, and commits share flushes. A process
killed between the two leaves rows that nobody was notified of: listeners also poll now and then.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeAlias

import asyncpg
from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from assayer.errors import StorageError, said_by
from orchestrator.jobs.models import JobId
from orchestrator.store.database import Connection, Database
from orchestrator.store.database_errors import RETRYABLE_ERRORS

__all__ = [
    "CHANNELS",
    "JOB_QUEUED",
    "Channel",
    "JobNotificationHandler",
    "Notification",
    "NotificationListener",
    "NotificationSource",
    "NotificationsMissed",
    "Subscription",
    "cancelled_notifications",
    "event_notification",
    "finished_notifications",
    "handle_job_notifications",
    "notify",
]

_LOG = logging.getLogger(__name__)

_CONNECTION_ERRORS: tuple[type[Exception], ...] = (
    *RETRYABLE_ERRORS,
    asyncpg.InterfaceError,
    asyncpg.PostgresError,
    StorageError,
)
_MAX_PENDING = 1_000
_PING_SECONDS = 10.0
"""Between pings that show whether the connection is alive."""
_WAIT_SECONDS = 60.0
"""Of one wait; nothing depends on it."""

Channel: TypeAlias = Literal["assayer_jobs", "assayer_events"]
"""assayer_jobs says `queued`, `cancelled JOB` or `finished JOB`; assayer_events names a job that has a new event."""
CHANNELS: tuple[Channel, ...] = ("assayer_jobs", "assayer_events")

Notification: TypeAlias = tuple[Channel, str]

JOB_QUEUED: Notification = ("assayer_jobs", "queued")

_NOTIFY = """
    SELECT set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
    FROM unnest($1::text[], $2::text[]) AS news (channel, payload)
"""


def event_notification(job: str) -> Notification:
    return "assayer_events", job


def finished_notifications(job: str) -> tuple[Notification, Notification]:
    return ("assayer_jobs", f"finished {job}"), event_notification(job)


def cancelled_notifications(job: str) -> tuple[Notification, Notification]:
    return ("assayer_jobs", f"cancelled {job}"), event_notification(job)


async def notify(connection: Connection, notifications: Iterable[Notification]) -> None:
    """Call it after the commit, outside of any transaction."""
    if sent := list(notifications):
        await connection.fetch(_NOTIFY, [channel for channel, _ in sent], [payload for _, payload in sent])


class NotificationsMissed:
    """Notifications may have been missed: the connection was lost, or too many were pending. Look at the rows
    instead."""


class Subscription:
    """The notifications that one subscriber has not taken yet."""

    def __init__(self) -> None:
        self._pending: deque[str] = deque()
        self._missed = False
        self._arrived = asyncio.Event()

    async def next(self, timeout: float) -> str | NotificationsMissed | None:
        """The next payload; None when `timeout` seconds brought nothing."""
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
        """A subscriber that looks at the rows needs no notifications from before."""
        self._pending.clear()
        self._missed = True
        self._arrived.set()


class NotificationListener:
    """One connection for all subscribers of this process; use as an async context manager.

    It outlives restarts of the server. Subscribe first, then look at the rows, then wait for changes."""

    def __init__(self, database: Database, channels: Sequence[Channel] = CHANNELS) -> None:
        self._database = database
        self._channels = channels
        self._subscriptions: dict[tuple[str, str | None], set[Subscription]] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._listen_until_cancelled(), name="listener")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @asynccontextmanager
    async def subscribe(self, channel: Channel, only: str | None = None) -> AsyncIterator[Subscription]:
        """All payloads of a channel, or only one. While there is no connection nothing arrives; when there is one
        again, the first thing to arrive is NotificationsMissed."""
        if channel not in self._channels:
            raise ValueError(f"This listener does not listen on {channel}.")
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
                _LOG.warning("the connection for notifications was lost: %s", said_by(error))
            finally:
                connection.terminate()

    async def _listen(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        """Returns when the connection is gone."""
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        for channel in self._channels:
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


class NotificationSource(Protocol):
    def subscribe(self, channel: Channel) -> AbstractAsyncContextManager[Subscription]: ...


class JobNotificationHandler(Protocol):
    def on_queued(self) -> None: ...

    def on_cancelled(self, job: JobId) -> None: ...

    def on_missed(self) -> None:
        """Notifications may have been missed."""
        ...


async def handle_job_notifications(listener: NotificationSource, handler: JobNotificationHandler) -> None:
    """Until it is cancelled."""
    async with listener.subscribe("assayer_jobs") as notifications:
        while True:
            payload = await notifications.next(_WAIT_SECONDS)
            if isinstance(payload, NotificationsMissed):
                handler.on_missed()
            elif payload == "queued":
                handler.on_queued()
            elif payload is not None and payload.startswith("cancelled "):
                handler.on_cancelled(JobId(payload.removeprefix("cancelled ")))
