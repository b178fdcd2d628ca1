"""Page `/console/account`: the signed-in person's account, and whether they receive email."""

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from orchestrator.console.page_context import PageContext, SignedIn
from orchestrator.problems import HttpProblem
from orchestrator.reviewing.models import Member

router = APIRouter(prefix="/console/account", tags=["pages"], include_in_schema=False)


@router.get("")
async def show_account(context: SignedIn) -> Response:
    """Show the account page, for members and for sessions signed in with a machine key."""
    member = await _get_member(context)
    return context.render_page("account.html", member=member, sends_email=context.services.mails.enabled)


@router.post("")
async def set_receives_email(context: SignedIn, receives_email: Annotated[bool, Form()] = False) -> Response:
    """Set whether the member receives email. Browsers omit unticked checkboxes, so a missing field means no."""
    member = await _get_member(context)
    if member is None:
        raise HttpProblem(
            "conflict", "You are signed in with a machine key, which receives no email. Sign in as a member."
        )
    await context.services.members.set_receives_email(context.tenant, member.id, receives_email, context.by)
    return RedirectResponse("/console/account", 303)


async def _get_member(context: PageContext) -> Member | None:
    return await context.services.members.get(context.tenant, context.caller.subject)
