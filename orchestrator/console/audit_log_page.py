"""Page `/console/audit-log`: who did what, newest first. It also verifies the hash chain and exports the log."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.responses import Response

from assayer.models import Frozen
from orchestrator.access.audit_chain import (
    LOGGED_ACTS,
    AuditEntry,
    AuditExport,
    AuditFault,
    AuditHead,
    find_audit_faults,
    parse_head,
)
from orchestrator.console.page_context import AuditReader, PageContext
from orchestrator.problems import HttpProblem

router = APIRouter(prefix="/console/audit-log", tags=["pages"], include_in_schema=False)

_PAGE_SIZE = 50
_ENTRIES_PER_READ = 1_000
"""Number of entries read at a time when the whole log is read."""
_MAX_FAULTS = 20


class _LogQuery(Frozen, extra="ignore", defer_build=False):
    """Filters for the entries. With `before`, only entries with a smaller number are shown."""

    actor: str = Field(default="", max_length=200)
    act: str = Field(default="", max_length=200)
    about: str = Field(default="", max_length=200)
    before: int | None = Field(default=None, ge=1, le=2**53)


class ChainCheck(Frozen):
    """The result of verifying the whole log."""

    entries: int
    faults: tuple[AuditFault, ...]
    """The first faults found, at most 20."""
    has_more_faults: bool
    noted_head: str
    """The earlier head that the person entered; empty if the log is only checked against its current head."""


@router.get("")
async def show_log(context: AuditReader, query: Annotated[_LogQuery, Query()]) -> Response:
    return await _render_log(context, query)


@router.get("/check")
async def verify_log(
    context: AuditReader, noted_head: Annotated[str, Query(alias="kept", max_length=200)] = ""
) -> Response:
    """Verify the log from its first entry. An earlier head stored elsewhere (`noted_head`) also reveals
    whether entries were removed from the end."""
    noted_head = noted_head.strip()
    current_head = await context.services.audit_log.get_head(context.tenant)
    expected_head = current_head
    if noted_head:
        parsed_head = parse_head(noted_head, context.tenant)
        if parsed_head is None:
            fault = "A head must have the form NUMBER:HASH, where the hash has 64 hexadecimal digits."
            return await _render_log(context, _LogQuery(), fault=fault, noted_head=noted_head)
        expected_head = parsed_head
    checked = await _verify_chain(context, expected_head, current_head, noted_head)
    return await _render_log(context, _LogQuery(), noted_head=noted_head, checked=checked)


@router.get("/export")
async def export_log(context: AuditReader) -> Response:
    """Export the whole log as JSON Lines, oldest entry first. The first line states the tenant, the reader's role and
    the time."""
    headers = {"Content-Disposition": 'attachment; filename="audit-log.jsonl"', "Cache-Control": "no-store"}
    return StreamingResponse(_export_lines(context), 200, headers, "application/jsonl")


async def _render_log(
    context: PageContext, query: _LogQuery, *, fault: str = "", noted_head: str = "", checked: ChainCheck | None = None
) -> Response:
    act = next((action for action in LOGGED_ACTS if action == query.act), None)
    if query.act and act is None:
        raise HttpProblem.invalid_parameter("act", "Unknown action. Choose one from the list.")
    about = query.about.strip()
    entries = await context.services.audit_log.list_newest(
        context.tenant,
        actor=query.actor or None,
        act=act,
        about=about or None,
        before=query.before,
        limit=_PAGE_SIZE + 1,
    )
    page = entries[:_PAGE_SIZE]
    names = {str(member.id): member.name for member in await context.services.members.list(context.tenant)}
    names |= {entry.actor: str(entry.content["by"]) for entry in page if entry.content and entry.content.get("by")}
    return context.render_page(
        "audit_log.html",
        status=422 if fault else 200,
        entries=page,
        names=names,
        actors=await context.services.audit_log.list_actors(context.tenant),
        acts=LOGGED_ACTS,
        actor=query.actor,
        act=query.act,
        about=about,
        before=query.before,
        next=page[-1].number if len(entries) > _PAGE_SIZE else None,
        head=await context.services.audit_log.get_head(context.tenant),
        fault=fault,
        noted_head=noted_head,
        checked=checked,
    )


async def _verify_chain(
    context: PageContext, expected_head: AuditHead, current_head: AuditHead, noted_head: str
) -> ChainCheck:
    """Verify the log. Entries are read a thousand at a time and hashed in a thread."""
    loop, count, reached_head = asyncio.get_running_loop(), 0, current_head.number == 0

    def read_entries() -> Iterator[AuditEntry]:
        nonlocal count, reached_head
        while True:
            coroutine = context.services.audit_log.list_entries(
                expected_head.tenant, after=count, limit=_ENTRIES_PER_READ
            )
            batch = asyncio.run_coroutine_threadsafe(coroutine, loop).result()
            for entry in batch:
                reached_head = reached_head or (entry.number, entry.hash) == (current_head.number, current_head.hash)
                yield entry
            if len(batch) < _ENTRIES_PER_READ:
                count += len(batch)
                return
            count = batch[-1].number

    def find_faults() -> list[AuditFault]:
        all_faults = find_audit_faults(read_entries(), expected_head)
        found_faults = list(islice(all_faults, _MAX_FAULTS + 1))
        for _ in all_faults:
            pass
        if not reached_head and not found_faults:
            found_faults.append(
                AuditFault(current_head.number, "does not match the currently published head of the log")
            )
        return found_faults

    found_faults = await asyncio.to_thread(find_faults)
    return ChainCheck(
        entries=count,
        faults=tuple(found_faults[:_MAX_FAULTS]),
        has_more_faults=len(found_faults) > _MAX_FAULTS,
        noted_head=noted_head,
    )


async def _export_lines(context: PageContext) -> AsyncIterator[str]:
    header = AuditExport(tenant=context.tenant, reader=context.caller.role, exported_at=context.now)
    yield f"{header.model_dump_json()}\n"
    last_number = 0
    while entries := await context.services.audit_log.list_entries(
        context.tenant, after=last_number, limit=_ENTRIES_PER_READ
    ):
        yield "".join(f"{entry.model_dump_json()}\n" for entry in entries)
        last_number = entries[-1].number
