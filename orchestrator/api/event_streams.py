"""Requests that are held open: event streams, and requests that wait for a verdict."""

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from fastapi import Request

from assayer.errors import StorageError
from assayer.ports import Clock
from orchestrator.api.authentication import Reader
from orchestrator.api.services import Services, StreamLimitDependency
from orchestrator.jobs.models import TERMINAL, Job, JobId, TenantId

__all__ = ["count_as_stream", "wait_for_change", "wait_for_verdict"]

_MIN_INTERVAL_SECONDS = 1.0


class _Notifications(Protocol):
    async def next(self, timeout: float) -> object: ...


async def count_as_stream(request: Request, caller: Reader, streams: StreamLimitDependency) -> AsyncIterator[None]:
    """A dependency: the request counts as a stream. Raises HttpProblem when there are too many."""
    with streams.hold(caller.tenant, request.scope):
        yield


async def wait_for_change(notifications: _Notifications, clock: Clock, most: float) -> None:
    """Returns a second after a notification, so that many at once are one change; at the latest after `most`
    seconds."""
    if await notifications.next(most) is None:
        return
    until = clock.monotonic() + _MIN_INTERVAL_SECONDS
    while (rest := until - clock.monotonic()) > 0:
        await notifications.next(rest)


async def wait_for_verdict(seconds: float, services: Services, tenant: TenantId, job: JobId) -> Job | None:
    """The job once it has ended; None when it has not within that time, is gone, or cannot be seen: it is accepted
    all the same, and whoever waits is told so."""
    try:
        async with asyncio.timeout(seconds), services.listener.subscribe("assayer_events", only=job) as notifications:
            while True:
                found = await services.jobs.get(tenant, job)
                if found is None or found.state in TERMINAL:
                    return found
                await notifications.next(services.settings.poll_seconds)
    except (TimeoutError, StorageError):
        return None
