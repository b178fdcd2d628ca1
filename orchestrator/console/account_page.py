"""Page `/console/account`: the account of the signed-in person, and whether they receive mail."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from orchestrator.access.api_keys import Caller
from orchestrator.console.scripted_page import page_response
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.models import Member
from orchestrator.web.services import Services, ServicesDependency
from orchestrator.web.signed_in import SignedInDependency

router = APIRouter(prefix="/console/account", tags=["pages"], include_in_schema=False)


@router.get("")
async def account(request: Request, who: SignedInDependency, services: ServicesDependency) -> Response:
    """Show the account page of a person, or of a key that belongs to no member."""
    member = await _member(services, who)
    return page_response("account.html", request, who, member=member, mailed=services.mails.enabled)


@router.post("")
async def change(
    who: SignedInDependency, services: ServicesDependency, mails: Annotated[bool, Form()] = False
) -> Response:
    """Set whether the member receives mail. An unticked checkbox is not sent and means no."""
    member = await _member(services, who)
    if member is None:
        raise HttpProblem("conflict", "You have signed in with a key that is no member's: no mails come to it.")
    await services.members.set_mails(who.tenant, member.id, mails, who.actor, services.clock.now())
    return RedirectResponse("/console/account", 303)


async def _member(services: Services, who: Caller) -> Member | None:
    return await services.members.get(who.tenant, who.subject)
