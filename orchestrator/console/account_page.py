"""`/console/account`: as whom one has signed in, and whether mails come."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from orchestrator.access.roles import MemberId
from orchestrator.access.signed_in import SignedIn, SignedInDependency
from orchestrator.api.problems import HttpProblem
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.scripted_page import page_response
from orchestrator.reviewing.models import Member, NewMember

__all__ = ["router"]

router = APIRouter(prefix="/console/account", tags=["pages"], include_in_schema=False)


@router.get("")
async def account(request: Request, who: SignedInDependency, services: ServicesDependency) -> Response:
    """Of a person, or of a key that is nobody's."""
    member = await _member(services, who)
    return page_response("account.html", request, who, member=member, mailed=services.mails.enabled)


@router.post("")
async def change(
    who: SignedInDependency, services: ServicesDependency, mails: Annotated[bool, Form()] = False
) -> Response:
    """A box that is not ticked is not sent."""
    member = await _member(services, who)
    if member is None:
        raise HttpProblem("conflict", "You have signed in with a key that is no member's: no mails come to it.")
    if mails != member.mails:
        wanted = NewMember(**member.model_dump(include=set(NewMember.model_fields)) | {"mails": mails})
        await services.members.change(who.tenant, member.id, wanted, who.actor, services.clock.now())
    return RedirectResponse("/console/account", 303)


async def _member(services: Services, who: SignedIn) -> Member | None:
    return await services.members.get(who.tenant, MemberId(who.subject))
