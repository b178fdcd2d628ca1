"""Support for requests that are held open: event streams, and requests that wait for a result."""

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
_MEMBER_CHECK_SECONDS = 1.0
"""Interval in seconds between checks for new group members, about which there are no notifications."""


class _Notifications(Protocol):
    async def next(self, timeout: float) -> object: ...


async def count_as_stream(request: Request, context: Reader, streams: StreamLimitDependency) -> AsyncIterator[None]:
    """Count the request as a stream while it is open; use as a dependency. Raises HttpProblem if there are too many."""
    with streams.hold(context.tenant, request.scope):
        yield


async def wait_for_change(notifications: _Notifications, clock: Clock, max_seconds: float) -> None:
    """Wait up to `max_seconds` for a notification, then one more second, so that a burst counts as a single change."""
    if await notifications.next(max_seconds) is None:
        return
    deadline = clock.monotonic() + _MIN_INTERVAL_SECONDS
    while (remaining := deadline - clock.monotonic()) > 0:
        await notifications.next(remaining)


async def wait_for_verdict(seconds: float, services: Services, tenant: TenantId, job: JobId) -> Job | None:
    """Wait until a job has ended, and return it. Return None if it does not end within `seconds`, does not exist for
    the tenant, or if the database fails; this does not affect the job."""
    try:
        async with asyncio.timeout(seconds), services.listener.subscribe("assayer_events", only=job) as notifications:
            while True:
                ended_job = await services.jobs.get(tenant, job)
                if ended_job is None or ended_job.state in TERMINAL:
                    return ended_job
                await notifications.next(services.settings.poll_seconds)
    except (TimeoutError, StorageError):
        return None


async def wait_for_outcomes(
    seconds: float, services: Services, outcomes: PgItemOutcomes[Any], job: Job, after: int
) -> None:
    """Wait until the job has an outcome that follows outcome `after`, has ended or was deleted, but at most
    `seconds`."""
    try:
        async with (
            asyncio.timeout(seconds),
            services.listener.subscribe("assayer_events", only=job.id) as notifications,
        ):
            while not (await outcomes.list_after(job.id, after, 1)).outcomes:
                current_job = await services.jobs.get(job.tenant, job.id)
                if current_job is None or current_job.state in TERMINAL:
                    return
                await notifications.next(services.settings.poll_seconds)
    except (TimeoutError, StorageError):
        return


async def wait_for_group(seconds: float, services: Services, tenant: TenantId, group: str) -> RewardGroup | None:
    """Return a group once all members are judged, or at the group's or the caller's timeout. Return None if the group
    does not exist for the tenant, or if the database fails."""
    clock = services.clock
    deadline = clock.monotonic() + seconds
    try:
        async with services.listener.subscribe("assayer_jobs") as notifications:
            while True:
                reward_group = await services.reward_groups.get(tenant, group)
                seconds_left = deadline - clock.monotonic()
                if (
                    reward_group is None
                    or reward_group.has_ended
                    or seconds_left <= 0
                    or (reward_group.missing and reward_group.seconds_left <= 0)
                ):
                    return reward_group
                if reward_group.missing:
                    await asyncio.sleep(min(seconds_left, _MEMBER_CHECK_SECONDS, max(reward_group.seconds_left, 0.01)))
                    continue
                running_jobs = {
                    f"finished {member.job}" for member in reward_group.members.values() if member.state not in TERMINAL
                }
                await _wait_until_finished(
                    notifications, running_jobs, clock, min(seconds_left, services.settings.poll_seconds)
                )
    except StorageError:
        return None


async def _wait_until_finished(
    notifications: _Notifications, awaited_notifications: set[str], clock: Clock, seconds: float
) -> None:
    """Wait until the notifications in `awaited_notifications` have all arrived. Return early if some may have been
    missed, or after `seconds`."""
    deadline = clock.monotonic() + seconds
    while awaited_notifications and (remaining := deadline - clock.monotonic()) > 0:
        notification = await notifications.next(remaining)
        if not isinstance(notification, str):
            return
        awaited_notifications.discard(notification)
