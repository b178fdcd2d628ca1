"""Holding a request open until a job has its verdict."""

import asyncio

from assayer.errors import StorageError
from orchestrator.api.services import Services
from orchestrator.jobs.models import TERMINAL, Job, JobId, TenantId

__all__ = ["verdict_within"]


async def verdict_within(seconds: float, services: Services, tenant: TenantId, job: JobId) -> Job | None:
    """The job once it has ended; None when it has not within that time, is gone, or cannot be seen: it is accepted
    all the same, and whoever waits is told so."""
    try:
        async with asyncio.timeout(seconds), services.listener.on("assayer_events", only=job) as heard:
            while True:
                found = await services.jobs.get(tenant, job)
                if found is None or found.state in TERMINAL:
                    return found
                await heard.next(services.settings.poll_seconds)
    except (TimeoutError, StorageError):
        return None
