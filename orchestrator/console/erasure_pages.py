"""`/console/erase`: all of one applicant, or of a call, shown first, then deleted, with a proof to take away."""

import hashlib
from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.routes.erasure_proofs import EntryNumber, proof_of, proof_page
from orchestrator.api.routes.erasures import Erasure, erase_found, erasure_of
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.scripted_page import page_response

__all__ = ["router"]

router = APIRouter(prefix="/console/erase", tags=["pages"], include_in_schema=False)

CallRunner = Annotated[SignedIn, Depends(allowed_to("run calls"))]
Eraser = Annotated[SignedIn, Depends(allowed_to("erase"))]
_Source = Annotated[str, Query(max_length=300)]
_Batch = Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,64}$")]


@router.get("")
async def look(
    request: Request, who: CallRunner, services: ServicesDependency, source: _Source = "", batch: _Batch = ""
) -> Response:
    """Officers see what would go; an owner deletes it."""
    return await _shown(request, who, services, source, batch)


@router.post("")
async def erase(
    request: Request,
    who: Eraser,
    services: ServicesDependency,
    shown: Annotated[str, Form(max_length=64)],
    source: Annotated[str, Form(max_length=300)] = "",
    batch: Annotated[str, Form(pattern=r"^[A-Za-z0-9_-]{0,64}$")] = "",
) -> Response:
    """Only what was shown: if it has become more or less, it is shown again."""
    found = await _found(services, who, source, batch)
    if found is None or _digest(found) != shown:
        return await _shown(request, who, services, source, batch, changed=True)
    gone = await erase_found(services, who.tenant, who.actor, source or None, found)
    return RedirectResponse(f"/console/erase/{gone.proof}", 303)


@router.get("/{number}")
async def proof(number: EntryNumber, request: Request, who: Eraser, services: ServicesDependency) -> Response:
    found = await proof_of(services, who.tenant, number)
    return page_response("erased.html", request, who, proof=found, told=proof_page(found))


async def _shown(
    request: Request, who: SignedIn, services: Services, source: str, batch: str, changed: bool = False
) -> Response:
    found = await _found(services, who, source, batch)
    return page_response(
        "erase.html",
        request,
        who,
        status=409 if changed else 200,
        source=source,
        batch=batch,
        both=bool(source and batch),
        changed=changed,
        found=found,
        kinds=Counter(one.kind for one in found.jobs) if found else {},
        digest=_digest(found) if found else "",
        calls=await services.jobs.batches(who.tenant, after=None, limit=100),
    )


async def _found(services: Services, who: SignedIn, source: str, batch: str) -> Erasure | None:
    """None where nothing was asked for, or two things at once."""
    if bool(source) == bool(batch):
        return None
    return await erasure_of(services, who.tenant, source or None, batch or None)


def _digest(found: Erasure) -> str:
    kept = (f"{one.id} {one.taken} {one.left}" for one in found.taken_out_of)
    listed = [*(one.id for one in found.jobs), *kept, str(found.refused_rows), found.batch or ""]
    return hashlib.sha256("\n".join(listed).encode()).hexdigest()
