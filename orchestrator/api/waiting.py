"""Holding a request open until a job has its verdict."""

import asyncio

from orchestrator.api.services import Services
from orchestrator.jobs.models import TERMINAL, Job, JobId, TenantId

__all__ = ["verdict_within"]


async def verdict_within(seconds: float, services: Services, tenant: TenantId, job: JobId) -> Job | None:
    """The job once it has ended; None when it has not within that time, or is gone."""
    try:
        async with asyncio.timeout(seconds), services.listener.on("assayer_jobs") as heard:
            while True:
                found = await services.jobs.get(tenant, job)
                if found is None or found.state in TERMINAL:
                    return found
                while not _concerns(await heard.next(services.settings.poll_seconds), job):
                    pass
    except TimeoutError:
        return None


def _concerns(said: str | None, job: JobId) -> bool:
    """None was heard: time to look again, for a notification may have been missed."""
    return said is None or said.endswith(f" {job}")
