"""Requests that are held open: event streams, and requests that wait for a result."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Protocol

from fastapi import Request

from assayer.errors import StorageError
from assayer.ports import Clock
from orchestrator.jobs.models import TERMINAL, Job, JobId, TenantId
from orchestrator.store import PgItemOutcomes
from orchestrator.store.reward_groups import RewardGroup
from orchestrator.web.authentication import Reader
from orchestrator.web.services import Services, StreamLimitDependency

_MIN_INTERVAL_SECONDS = 1.0
_MEMBER_SECONDS = 1.0
"""Seconds between checks for new members of a group, for which there is no notification."""


class _Notifications(Protocol):
    async def next(self, timeout: float) -> object: ...


async def count_as_stream(request: Request, context: Reader, streams: StreamLimitDependency) -> AsyncIterator[None]:
    """Dependency that counts the request as a stream. Raises HttpProblem if there are too many."""
    with streams.hold(context.tenant, request.scope):
        yield


async def wait_for_change(notifications: _Notifications, clock: Clock, most: float) -> None:
    """Wait up to `most` seconds for a notification, then one more second, so that a burst counts as a single
    change."""
    if await notifications.next(most) is None:
        return
    until = clock.monotonic() + _MIN_INTERVAL_SECONDS
    while (remaining := until - clock.monotonic()) > 0:
        await notifications.next(remaining)


async def wait_for_verdict(seconds: float, services: Services, tenant: TenantId, job: JobId) -> Job | None:
    """Wait until a job has ended and return it. Return None if it does not end within `seconds`, was deleted or is not
    visible to the tenant, or if the database fails; the job remains accepted in each case."""
    try:
        async with asyncio.timeout(seconds), services.listener.subscribe("assayer_events", only=job) as notifications:
            while True:
                ended = await services.jobs.get(tenant, job)
                if ended is None or ended.state in TERMINAL:
                    return ended
                await notifications.next(services.settings.poll_seconds)
    except (TimeoutError, StorageError):
        return None


async def wait_for_outcomes(
    seconds: float, services: Services, outcomes: PgItemOutcomes[Any], job: Job, after: int
) -> None:
    """Wait until the job has an outcome with a number above `after`, has ended or was deleted, or until the timeout."""
    try:
        async with (
            asyncio.timeout(seconds),
            services.listener.subscribe("assayer_events", only=job.id) as notifications,
        ):
            while not (await outcomes.after(job.id, after, 1)).outcomes:
                current = await services.jobs.get(job.tenant, job.id)
                if current is None or current.state in TERMINAL:
                    return
                await notifications.next(services.settings.poll_seconds)
    except (TimeoutError, StorageError):
        return


async def wait_for_group(seconds: float, services: Services, tenant: TenantId, group: str) -> RewardGroup | None:
    """Wait until all members of a group are judged, or until the group's or the caller's timeout, and return the group.
    Return None if the group is not visible to the tenant, or if the database fails."""
    clock = services.clock
    end = clock.monotonic() + seconds
    try:
        async with services.listener.subscribe("assayer_jobs") as notifications:
            while True:
                state = await services.reward_groups.state(tenant, group)
                left = end - clock.monotonic()
                if state is None or state.has_ended or left <= 0 or (state.missing and state.seconds_left <= 0):
                    return state
                if state.missing:
                    await asyncio.sleep(min(left, _MEMBER_SECONDS, max(state.seconds_left, 0.01)))
                    continue
                running = {
                    f"finished {member.job}" for member in state.members.values() if member.state not in TERMINAL
                }
                await _wait_until_finished(notifications, running, clock, min(left, services.settings.poll_seconds))
    except StorageError:
        return None


async def _wait_until_finished(notifications: _Notifications, awaited: set[str], clock: Clock, seconds: float) -> None:
    """Wait until the notification of every awaited job has arrived. Return early if some may have been missed, or
    after `seconds`."""
    end = clock.monotonic() + seconds
    while awaited and (remaining := end - clock.monotonic()) > 0:
        notification = await notifications.next(remaining)
        if not isinstance(notification, str):
            return
        awaited.discard(notification)
