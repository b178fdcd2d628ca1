"""A request's context: its caller, and the service's stores and settings."""

import datetime as dt
from dataclasses import dataclass

from orchestrator.access.api_keys import Caller
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import Job, JobKind, TenantId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.services.job_lookup import find_batch, find_job
from orchestrator.services.reviewing_stores import ReviewingStores
from orchestrator.web.services import ServicesDependency


@dataclass(frozen=True)
class RouteContext:
    caller: Caller
    services: ServicesDependency

    @property
    def tenant(self) -> TenantId:
        return self.caller.tenant

    @property
    def now(self) -> dt.datetime:
        return self.services.clock.now()

    @property
    def by(self) -> ActBy:
        """Return the caller, as the actor of an action at the current time."""
        return ActBy(self.caller.actor, self.now)

    @property
    def reviewing(self) -> ReviewingStores:
        return self.services.reviewing

    async def find_batch(self, id: str) -> BatchStatus:
        """Return a batch's current status. Raises HttpProblem with status 404 if it does not exist, or 410 if it was
        deleted."""
        return await find_batch(self.services.jobs, self.tenant, id)

    async def find_job(self, id: str, kind: JobKind) -> Job:
        """Return a job. Raises HttpProblem with status 404 if it does not exist, or 410 if it was deleted."""
        return await find_job(self.services.jobs, self.tenant, id, kind)
