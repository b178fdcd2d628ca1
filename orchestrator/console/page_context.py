"""Requests for pages: who has signed in, what their role allows, and the rendering of the page."""

import datetime as dt
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from orchestrator.access.api_keys import Caller
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import Act
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.models import Job, JobId, TenantId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.problems import not_there
from orchestrator.services.job_lookup import find_batch, find_job
from orchestrator.services.reviewing_stores import ReviewingStores
from orchestrator.web.services import ServicesDependency
from orchestrator.web.signed_in import SignedInDependency, allowed_to


@dataclass(frozen=True)
class PageContext:
    """Request of a signed-in person, with what is needed to answer it with a page."""

    request: Request
    who: SignedInDependency
    services: ServicesDependency

    @property
    def tenant(self) -> TenantId:
        return self.who.tenant

    @property
    def now(self) -> dt.datetime:
        return self.services.clock.now()

    @property
    def reviewing(self) -> ReviewingStores:
        return self.services.reviewing

    @property
    def by(self) -> ActBy:
        return self.services.by(self.who)

    async def find_call(self, id: str) -> BatchStatus:
        """Return the current status of the call. Raises HttpProblem (404, 410)."""
        return await find_batch(self.services.jobs, self.tenant, id)

    async def find_proposal(self, call: BatchStatus, id: str) -> JobId:
        """Return the id of a proposal of this call. Raises HttpProblem (404)."""
        job = await self.services.jobs.get(self.tenant, JobId(id))
        if job is None or job.batch != call.id:
            raise not_there("evaluation", id, "proposal in this call")
        return job.id

    async def find_evaluation(self, id: str) -> Job:
        """Return the evaluation. Raises HttpProblem (404, 410)."""
        return await find_job(self.services.jobs, self.tenant, id, "evaluation")

    def page(self, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
        return page_response(template, self.request, self.who, status=status, **values)


def _allowed_to(act: Act) -> Callable[..., Awaitable[PageContext]]:
    """Return a dependency that provides the context of a person whose role allows the act."""

    async def context(
        request: Request, who: Annotated[Caller, Depends(allowed_to(act))], services: ServicesDependency
    ) -> PageContext:
        return PageContext(request, who, services)

    return context


SignedIn = Annotated[PageContext, Depends()]
CallReader = Annotated[PageContext, Depends(_allowed_to("see calls"))]
CallRunner = Annotated[PageContext, Depends(_allowed_to("run calls"))]
Eraser = Annotated[PageContext, Depends(_allowed_to("erase"))]
PeopleReader = Annotated[PageContext, Depends(_allowed_to("see people"))]
Inviter = Annotated[PageContext, Depends(_allowed_to("invite people"))]
KeyGiver = Annotated[PageContext, Depends(_allowed_to("give keys"))]
Assigner = Annotated[PageContext, Depends(_allowed_to("assign reviewers"))]
Reviewer = Annotated[PageContext, Depends(_allowed_to("give opinions"))]
PanelReader = Annotated[PageContext, Depends(_allowed_to("see the panel"))]
Commenter = Annotated[PageContext, Depends(_allowed_to("remark"))]
Overrider = Annotated[PageContext, Depends(_allowed_to("override"))]
Signer = Annotated[PageContext, Depends(_allowed_to("sign off"))]
AuditReader = Annotated[PageContext, Depends(_allowed_to("read the audit log"))]
