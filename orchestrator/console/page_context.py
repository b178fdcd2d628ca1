"""The context of a page request: the signed-in person, what their role allows, and how the page is rendered."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from orchestrator.access.api_keys import Caller
from orchestrator.access.roles import Act
from orchestrator.console.scripted_page import render_template
from orchestrator.jobs.models import Job, JobId
from orchestrator.jobs.submissions import BatchStatus, format_call_title
from orchestrator.problems import build_missing_problem
from orchestrator.reviewing.stages import CallProgress
from orchestrator.web.context import RouteContext
from orchestrator.web.services import ServicesDependency
from orchestrator.web.signed_in import SignedInDependency, require_permission

CallTab = Literal["proposals", "terms", "reviewers", "reviews", "decisions", "letters", "rankings", "plots"]


class CallHeader(NamedTuple):
    """The header shown on all of a call's pages."""

    call: str
    name: str
    progress: CallProgress
    tab: CallTab


@dataclass(frozen=True)
class PageContext(RouteContext):
    """The context of a page requested by a signed-in person."""

    caller: SignedInDependency
    request: Request

    async def find_evaluation(self, id: str) -> Job:
        """Return an evaluation. Raises HttpProblem with status 404 if it never existed, or 410 if it was deleted."""
        return await self.find_job(id, "evaluation")

    async def find_proposal(self, call: BatchStatus, id: str) -> JobId:
        """Return the proposal's id. Raises HttpProblem with status 404 if the proposal is not in this call."""
        job = await self.services.jobs.get(self.tenant, JobId(id))
        if job is None or job.batch != call.id:
            raise build_missing_problem("evaluation", id, "This call has no such proposal. It may have been deleted.")
        return job.id

    async def render_call_page(
        self, template: str, call: BatchStatus, tab: CallTab, *, status: int = 200, **values: object
    ) -> HTMLResponse:
        """Render one of a call's pages. Its header shows the call's name, stages, next step and tabs; `tab` is this
        page's tab."""
        progress = await self.services.call_progress.get_progress(
            self.tenant, {call.id: call.opinions_due}, self.now.date()
        )
        header = CallHeader(call.id, format_call_title(call), progress[call.id], tab)
        return self.render_page(template, status=status, call=call, header=header, **values)

    def render_page(self, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
        return render_template(template, self.request, self.caller, status=status, **values)


def _require_permission(act: Act) -> Callable[..., Awaitable[PageContext]]:
    """Return a dependency that provides the page context if the person's role allows the action."""

    async def get_context(
        request: Request, caller: Annotated[Caller, Depends(require_permission(act))], services: ServicesDependency
    ) -> PageContext:
        return PageContext(caller, services, request)

    return get_context


SignedIn = Annotated[PageContext, Depends()]
CallReader = Annotated[PageContext, Depends(_require_permission("see calls"))]
CallManager = Annotated[PageContext, Depends(_require_permission("manage calls"))]
Eraser = Annotated[PageContext, Depends(_require_permission("erase"))]
PeopleReader = Annotated[PageContext, Depends(_require_permission("see people"))]
Inviter = Annotated[PageContext, Depends(_require_permission("invite people"))]
KeyIssuer = Annotated[PageContext, Depends(_require_permission("issue keys"))]
Assigner = Annotated[PageContext, Depends(_require_permission("assign reviewers"))]
Reviewer = Annotated[PageContext, Depends(_require_permission("give reviews"))]
PanelReader = Annotated[PageContext, Depends(_require_permission("see the panel"))]
Commenter = Annotated[PageContext, Depends(_require_permission("remark"))]
Overrider = Annotated[PageContext, Depends(_require_permission("override"))]
Signer = Annotated[PageContext, Depends(_require_permission("sign off"))]
AuditReader = Annotated[PageContext, Depends(_require_permission("read the audit log"))]
