"""Caller identity and permissions on routes for people and machines: the API's single role check, and the blind review
gate."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security

from assayer_client.accounts import Scope
from orchestrator.access.api_keys import Caller
from orchestrator.access.roles import Act
from orchestrator.services.opinions import require_blind_opinion
from orchestrator.web.authentication import bearer, require_scope
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import ServicesDependency
from orchestrator.web.signed_in import require_act


def acting(*acts: Act, scope: Scope) -> Callable[..., Awaitable[Caller]]:
    """Return a dependency that yields the caller, whose role must permit any of these acts; a machine's key also
    needs the scope."""

    async def caller(request: Request, _: Annotated[object, Security(bearer, scopes=[scope])]) -> Caller:
        authenticated: Caller = request.scope["assayer.caller"]
        require_act(authenticated, *acts)
        if authenticated.role == "machine":
            require_scope(authenticated, scope)
        return authenticated

    caller.__dict__["acts"] = acts
    return caller


async def _report_reader(
    id: PathId,
    request: Request,
    services: ServicesDependency,
    _: Annotated[object, Security(bearer, scopes=["read"])],
) -> Caller:
    caller: Caller = request.scope["assayer.caller"]
    if caller.role == "reviewer":
        await require_blind_opinion(services.reviewing.assignments, caller.tenant, id, caller.subject)
    else:
        require_scope(caller, "read")
    return caller


ReportReader = Annotated[Caller, Depends(_report_reader)]
"""Caller who may read the report of an evaluation."""
AuditReader = Annotated[Caller, Depends(acting("read the audit log", scope="manage"))]
CallReader = Annotated[Caller, Depends(acting("see calls", scope="read"))]
PeopleReader = Annotated[Caller, Depends(acting("see people", scope="read"))]
Inviter = Annotated[Caller, Depends(acting("invite people", scope="manage"))]
KeyGiver = Annotated[Caller, Depends(acting("give keys", scope="manage"))]
Assigner = Annotated[Caller, Depends(acting("assign reviewers", scope="manage"))]
ReviewerCaller = Annotated[Caller, Depends(acting("give opinions", scope="read"))]
PanelReader = Annotated[Caller, Depends(acting("see the panel", scope="read"))]
ProposalReader = Annotated[Caller, Depends(acting("see calls", "give opinions", scope="read"))]
