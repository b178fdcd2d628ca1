"""`/console/audit-log`: who did what, the newest first; the chain checked, and saved as a file."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from starlette.responses import Response

from assayer.models import Frozen
from orchestrator.access.audit_chain import (
    ACTS_IN_THE_LOG,
    AuditEntry,
    AuditExport,
    AuditFault,
    AuditTip,
    audit_faults,
)
from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.problems import HttpProblem
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.scripted_page import page_response

__all__ = ["router"]

router = APIRouter(prefix="/console/audit-log", tags=["pages"], include_in_schema=False)

AuditReader = Annotated[SignedIn, Depends(allowed_to("read the audit log"))]
_Text = Annotated[str, Query(max_length=200)]
_ROWS = 50
_READ = 1_000
"""Entries that are read at once where all are."""
_FAULTS = 20
_TIP = re.compile(r"(\d{1,15}):([0-9a-f]{64})")


class ChainCheck(Frozen):
    """What came of checking the whole log."""

    entries: int
    faults: tuple[AuditFault, ...]
    """The first ones."""
    more: bool
    against: str
    """The tip that somebody kept; empty: only the one that is published now."""


@router.get("")
async def log(
    request: Request,
    who: AuditReader,
    services: ServicesDependency,
    actor: _Text = "",
    act: _Text = "",
    about: _Text = "",
    before: Annotated[int | None, Query(ge=1, le=2**53)] = None,
) -> Response:
    return await _shown(request, who, services, actor, act, about, before)


@router.get("/check")
async def check(request: Request, who: AuditReader, services: ServicesDependency, kept: _Text = "") -> Response:
    """Reads the log from its first entry on; against a tip that was kept, an end that was cut off shows."""
    kept, fault = kept.strip(), ""
    published = await services.audit_log.tip(who.tenant)
    against = published
    if kept:
        matched = _TIP.fullmatch(kept)
        if matched is None:
            fault = "A tip reads NUMBER:HASH, with a hash of 64 digits and letters from a to f."
            return await _shown(request, who, services, fault=fault, kept=kept)
        against = AuditTip(tenant=who.tenant, number=int(matched[1]), hash=matched[2])
    return await _shown(request, who, services, kept=kept, checked=await _checked(services, against, published, kept))


@router.get("/export")
async def export(who: AuditReader, services: ServicesDependency) -> Response:
    """The whole log: for whom it was saved, then one entry a line, as JSON, in the order in which it was written."""
    headers = {"Content-Disposition": 'attachment; filename="audit-log.jsonl"', "Cache-Control": "no-store"}
    return StreamingResponse(_lines(services, who), 200, headers, "application/jsonl")


async def _shown(
    request: Request,
    who: SignedIn,
    services: Services,
    actor: str = "",
    act: str = "",
    about: str = "",
    before: int | None = None,
    *,
    fault: str = "",
    kept: str = "",
    checked: ChainCheck | None = None,
) -> Response:
    known = next((one for one in ACTS_IN_THE_LOG if one == act), None)
    if act and known is None:
        raise HttpProblem.parameter("act", "The log knows no such act.")
    about = about.strip()
    found = await services.audit_log.newest(
        who.tenant, actor=actor or None, act=known, about=about or None, before=before, limit=_ROWS + 1
    )
    page = found[:_ROWS]
    names = {str(one.id): one.name for one in await services.members.list(who.tenant)}
    names |= {one.actor: str(one.content["by"]) for one in page if one.content and one.content.get("by")}
    return page_response(
        "audit_log.html",
        request,
        who,
        status=422 if fault else 200,
        entries=page,
        names=names,
        actors=await services.audit_log.actors(who.tenant),
        acts=ACTS_IN_THE_LOG,
        actor=actor,
        act=known or "",
        about=about,
        before=before,
        next=page[-1].number if len(found) > _ROWS else None,
        tip=await services.audit_log.tip(who.tenant),
        fault=fault,
        kept=kept,
        checked=checked,
    )


async def _checked(services: Services, against: AuditTip, published: AuditTip, kept: str) -> ChainCheck:
    """Entries are hashed in a thread, a thousand in memory at once."""
    loop, count, ended = asyncio.get_running_loop(), 0, published.number == 0

    def entries() -> Iterator[AuditEntry]:
        nonlocal count, ended
        while True:
            reading = services.audit_log.entries(against.tenant, after=count, limit=_READ)
            part = asyncio.run_coroutine_threadsafe(reading, loop).result()
            for entry in part:
                ended = ended or (entry.number, entry.hash) == (published.number, published.hash)
                yield entry
            if len(part) < _READ:
                count += len(part)
                return
            count = part[-1].number

    def faults() -> list[AuditFault]:
        found = audit_faults(entries(), against)
        first = list(islice(found, _FAULTS + 1))
        for _ in found:
            pass
        if not ended and not first:
            first.append(AuditFault(published.number, "is not the end that is published now"))
        return first

    first = await asyncio.to_thread(faults)
    return ChainCheck(entries=count, faults=tuple(first[:_FAULTS]), more=len(first) > _FAULTS, against=kept)


async def _lines(services: Services, who: SignedIn) -> AsyncIterator[str]:
    head = AuditExport(tenant=who.tenant, reader=who.role, at=services.clock.now())
    yield f"{head.model_dump_json()}\n"
    after = 0
    while part := await services.audit_log.entries(who.tenant, after=after, limit=_READ):
        yield "".join(f"{one.model_dump_json()}\n" for one in part)
        after = part[-1].number
