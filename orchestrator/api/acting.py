"""Who acts on a route that people use as well as machines: `acting(act, scope)`, the one check of roles in the API."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security

from orchestrator.access.audit_chain import Actor
from orchestrator.access.roles import PERMISSIONS, Act, may
from orchestrator.api.authentication import bearer, require_scope
from orchestrator.api.problems import HttpProblem
from orchestrator.jobs.api_keys import AuthenticatedCaller, Scope

__all__ = ["AuditReader", "acting", "actor_of"]


def acting(act: Act, scope: Scope) -> Callable[..., Awaitable[AuthenticatedCaller]]:
    """A dependency: the caller, whose role may do this; a machine's key needs the scope besides."""

    async def caller(request: Request, _: Annotated[object, Security(bearer, scopes=[scope])]) -> AuthenticatedCaller:
        found: AuthenticatedCaller = request.scope["assayer.caller"]
        require_act(found, act)
        if found.role == "machine":
            require_scope(found, scope)
        return found

    caller.__dict__["act"] = act
    return caller


def require_act(caller: AuthenticatedCaller, act: Act) -> None:
    """Raises HttpProblem (403)."""
    if not may(caller.role, act):
        raise HttpProblem(
            "forbidden", f"A {caller.role} may not {act}. Who may: {', '.join(sorted(PERMISSIONS[act]))}."
        )


def actor_of(caller: AuthenticatedCaller) -> Actor:
    """As the audit log names them."""
    return Actor(caller.member or caller.key, caller.name, caller.role)


AuditReader = Annotated[AuthenticatedCaller, Depends(acting("read the audit log", "manage"))]
