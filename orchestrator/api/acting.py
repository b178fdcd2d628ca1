"""Who acts on a route that people use as well as machines: the one check of roles in the API, and the blind gate."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security

from orchestrator.access.audit_chain import Actor
from orchestrator.access.roles import PERMISSIONS, Act, MemberId, may
from orchestrator.api.authentication import bearer, require_scope
from orchestrator.api.identifiers import PathId
from orchestrator.api.problems import HttpProblem, not_there
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.api_keys import AuthenticatedCaller, Scope
from orchestrator.jobs.models import JobId, TenantId

__all__ = [
    "Assigner",
    "AuditReader",
    "CallReader",
    "Inviter",
    "KeyGiver",
    "PanelReader",
    "PeopleReader",
    "ProposalReader",
    "ReportReader",
    "ReviewerCaller",
    "acting",
    "actor_of",
    "require_blind_opinion",
]


def acting(*acts: Act, scope: Scope) -> Callable[..., Awaitable[AuthenticatedCaller]]:
    """A dependency: the caller, whose role may do one of these; a machine's key needs the scope besides."""

    async def caller(request: Request, _: Annotated[object, Security(bearer, scopes=[scope])]) -> AuthenticatedCaller:
        found: AuthenticatedCaller = request.scope["assayer.caller"]
        if not any(may(found.role, act) for act in acts):
            others = sorted(frozenset().union(*(PERMISSIONS[act] for act in acts)))
            article = "An" if found.role[0] in "ao" else "A"
            detail = f"{article} {found.role} may not {' or '.join(acts)}. Who may: {', '.join(others)}."
            raise HttpProblem("forbidden", detail)
        if found.role == "machine":
            require_scope(found, scope)
        return found

    caller.__dict__["acts"] = acts
    return caller


def actor_of(caller: AuthenticatedCaller) -> Actor:
    """As the audit log names them."""
    return Actor(caller.member or caller.key, caller.name, caller.role)


async def require_blind_opinion(services: Services, tenant: TenantId, evaluation: str, reviewer: str) -> None:
    """A reviewer sees what the program thinks of a proposal that is assigned to them, once they have said what they
    think. Raises HttpProblem."""
    standing = await services.assignments.standing(tenant, JobId(evaluation), MemberId(reviewer))
    if standing is None:
        raise not_there("evaluation", evaluation)
    if not standing.blind_given:
        raise HttpProblem(
            "forbidden",
            "First give your own opinion, before you see what the program found: "
            f"POST /v1/evaluations/{evaluation}/opinions.",
        )


async def _report_reader(
    id: PathId,
    request: Request,
    services: ServicesDependency,
    _: Annotated[object, Security(bearer, scopes=["read"])],
) -> AuthenticatedCaller:
    found: AuthenticatedCaller = request.scope["assayer.caller"]
    if found.role == "reviewer":
        await require_blind_opinion(services, found.tenant, id, found.member or found.key)
    else:
        require_scope(found, "read")
    return found


ReportReader = Annotated[AuthenticatedCaller, Depends(_report_reader)]
"""Who may read the report of an evaluation."""
AuditReader = Annotated[AuthenticatedCaller, Depends(acting("read the audit log", scope="manage"))]
CallReader = Annotated[AuthenticatedCaller, Depends(acting("see calls", scope="read"))]
PeopleReader = Annotated[AuthenticatedCaller, Depends(acting("see people", scope="read"))]
Inviter = Annotated[AuthenticatedCaller, Depends(acting("invite people", scope="manage"))]
KeyGiver = Annotated[AuthenticatedCaller, Depends(acting("give keys", scope="manage"))]
Assigner = Annotated[AuthenticatedCaller, Depends(acting("assign reviewers", scope="manage"))]
ReviewerCaller = Annotated[AuthenticatedCaller, Depends(acting("give opinions", scope="read"))]
PanelReader = Annotated[AuthenticatedCaller, Depends(acting("see the panel", scope="read"))]
ProposalReader = Annotated[AuthenticatedCaller, Depends(acting("see calls", "give opinions", scope="read"))]
