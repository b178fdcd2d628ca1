"""Requests that are held open: event streams, and requests that wait for a verdict."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Protocol

from fastapi import Request

from assayer.errors import StorageError
from assayer.ports import Clock
from orchestrator.api.authentication import Reader
from orchestrator.api.services import Services, StreamLimitDependency
from orchestrator.jobs.models import TERMINAL, Job, JobId, TenantId
from orchestrator.store import PgItemOutcomes
from orchestrator.store.reward_groups import RewardGroup

__all__ = ["count_as_stream", "wait_for_change", "wait_for_group", "wait_for_outcomes", "wait_for_verdict"]

_MIN_INTERVAL_SECONDS = 1.0
_MEMBER_SECONDS = 1.0
"""Between two looks for members of a group that have come: nobody is notified of them."""


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


async def wait_for_outcomes(
    seconds: float, services: Services, outcomes: PgItemOutcomes[Any], job: Job, after: int
) -> None:
    """Returns when the job has an outcome with a greater number, has ended, is gone, or the time is over."""
    try:
        async with (
            asyncio.timeout(seconds),
            services.listener.subscribe("assayer_events", only=job.id) as notifications,
        ):
            while not (await outcomes.after(job.id, after, 1)).outcomes:
                found = await services.jobs.get(job.tenant, job.id)
                if found is None or found.state in TERMINAL:
                    return
                await notifications.next(services.settings.poll_seconds)
    except (TimeoutError, StorageError):
        return


async def wait_for_group(seconds: float, services: Services, tenant: TenantId, group: str) -> RewardGroup | None:
    """The group once all its members are judged, or its time or that of the caller is over. None when it cannot be
    seen."""
    clock = services.clock
    end = clock.monotonic() + seconds
    try:
        async with services.listener.subscribe("assayer_jobs") as notifications:
            while True:
                found = await services.groups.state(tenant, group)
                left = end - clock.monotonic()
                if found is None or found.has_ended or left <= 0 or (found.missing and found.seconds_left <= 0):
                    return found
                if found.missing:
                    await asyncio.sleep(min(left, _MEMBER_SECONDS, max(found.seconds_left, 0.01)))
                    continue
                running = {f"finished {one.job}" for one in found.members.values() if one.state not in TERMINAL}
                await _finished(notifications, running, clock, min(left, services.settings.poll_seconds))
    except StorageError:
        return None


async def _finished(notifications: _Notifications, awaited: set[str], clock: Clock, seconds: float) -> None:
    """Returns when all of these were heard, some may have been missed, or the time is over."""
    end = clock.monotonic() + seconds
    while awaited and (rest := end - clock.monotonic()) > 0:
        heard = await notifications.next(rest)
        if not isinstance(heard, str):
            return
        awaited.discard(heard)
