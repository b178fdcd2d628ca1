"""Dependencies for routes used by both people and machine keys. They check the caller's role and scope, and keep
reviewers from reading a report before they have given a first opinion."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security

from assayer_client.accounts import Scope
from orchestrator.access.api_keys import Caller
from orchestrator.access.roles import Act
from orchestrator.services.opinions import require_blind_opinion
from orchestrator.web.authentication import bearer_scheme, require_scope
from orchestrator.web.context import RouteContext
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import ServicesDependency
from orchestrator.web.signed_in import require_act


def require_permission(*acts: Act, scope: Scope) -> Callable[..., Awaitable[RouteContext]]:
    """Return a dependency that provides the caller's context. The caller's role must permit at least one of these
    actions; a machine key also needs the scope."""

    async def build_context(
        request: Request, services: ServicesDependency, _: Annotated[object, Security(bearer_scheme, scopes=[scope])]
    ) -> RouteContext:
        caller: Caller = request.scope["assayer.caller"]
        require_act(caller, *acts)
        if caller.role == "machine":
            require_scope(caller, scope)
        return RouteContext(caller, services)

    build_context.__dict__["acts"] = acts
    return build_context


async def _require_report_access(
    id: PathId,
    request: Request,
    services: ServicesDependency,
    _: Annotated[object, Security(bearer_scheme, scopes=["read"])],
) -> RouteContext:
    caller: Caller = request.scope["assayer.caller"]
    if caller.role == "reviewer":
        await require_blind_opinion(services.reviewing.assignments, caller.tenant, id, caller.subject)
    else:
        require_scope(caller, "read")
    return RouteContext(caller, services)


ReportReader = Annotated[RouteContext, Depends(_require_report_access)]
"""A caller who may read an evaluation's report."""
AuditReader = Annotated[RouteContext, Depends(require_permission("read the audit log", scope="manage"))]
CallReader = Annotated[RouteContext, Depends(require_permission("see calls", scope="read"))]
PeopleReader = Annotated[RouteContext, Depends(require_permission("see people", scope="read"))]
Inviter = Annotated[RouteContext, Depends(require_permission("invite people", scope="manage"))]
KeyIssuer = Annotated[RouteContext, Depends(require_permission("issue keys", scope="manage"))]
Assigner = Annotated[RouteContext, Depends(require_permission("assign reviewers", scope="manage"))]
ReviewerCaller = Annotated[RouteContext, Depends(require_permission("give reviews", scope="read"))]
PanelReader = Annotated[RouteContext, Depends(require_permission("see the panel", scope="read"))]
OpinionReader = Annotated[RouteContext, Depends(require_permission("see the panel", "give reviews", scope="read"))]
ProposalReader = Annotated[RouteContext, Depends(require_permission("see calls", "give reviews", scope="read"))]
CallManager = Annotated[RouteContext, Depends(require_permission("manage calls", scope="submit"))]
Overrider = Annotated[RouteContext, Depends(require_permission("override", scope="manage"))]
Signer = Annotated[RouteContext, Depends(require_permission("sign off", scope="manage"))]
Commenter = Annotated[RouteContext, Depends(require_permission("remark", scope="manage"))]
AssignmentReader = Annotated[RouteContext, Depends(require_permission("see people", "give reviews", scope="read"))]
ConflictDeclarer = Annotated[
    RouteContext, Depends(require_permission("assign reviewers", "give reviews", scope="manage"))
]
