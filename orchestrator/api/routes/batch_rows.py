"""`/v1/batches`, the way in: many ideas in one request, or in several one after the other."""

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from assayer.errors import InputError
from orchestrator.api.batch_resources import (
    AcceptedBatch,
    BatchQuery,
    Duplicate,
    MoreRowsQuery,
    RowsQuery,
    batch_links,
    batch_path,
)
from orchestrator.api.documented import REPLAYABLE, problems
from orchestrator.api.idempotency import IdempotencyKey, fingerprint, once, replayed
from orchestrator.api.identifiers import PathId
from orchestrator.api.jobs import missing
from orchestrator.api.observing import visit
from orchestrator.api.problems import Refusal
from orchestrator.api.resources import RowError
from orchestrator.api.security import Submitter
from orchestrator.api.services import LargeUploads, Offered, Services
from orchestrator.api.traced import traceparent_of
from orchestrator.api.uploads import Uploads
from orchestrator.api.validation import suggestion
from orchestrator.batches.intake import Intake, take_in
from orchestrator.batches.reading import MEDIA, read_rows
from orchestrator.batches.rows import AcceptedRow
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.jobs.requests import EvaluationRequest, Limits
from orchestrator.jobs.submissions import BatchClosed, MoreRows, NewBatch, NewJob

__all__ = ["router"]

router = APIRouter(prefix="/v1/batches", tags=["batches"])

_JSON = "application/json"
_FORM = "multipart/form-data"
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A JSON record or a CSV row an idea: `title` and `text`, or its sections; or files in a form or "
        "a ZIP archive: PDF, text, Markdown, JSON, JSON lines, CSV. What cannot be read is told by row and costs no "
        "other row; an archive that is made to do harm is refused whole.",
        "content": {
            **{media: {"schema": {"type": "string"}} for media in MEDIA if media != _FORM},
            _FORM: {
                "schema": {
                    "type": "object",
                    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                }
            },
        },
    }
}
_TAKEN: dict[int | str, dict[str, Any]] = {
    202: {"description": "The good rows are stored; the others are named", "headers": REPLAYABLE}
}


@router.post(
    "",
    status_code=202,
    response_model=AcceptedBatch,
    openapi_extra=_BODY,
    responses={**_TAKEN, **problems(413, 415, 422)},
)
async def ask(
    request: Request,
    query: Annotated[BatchQuery, Query()],
    caller: Submitter,
    services: Offered,
    uploads: LargeUploads,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Asks for the evaluation of every row."""
    intake = await _taken_in(request, uploads, services, query, 1)
    if not intake.accepted and not query.open:
        raise _nothing_usable(intake)
    batch = BatchId(services.ids("bt"))
    rejected = tuple(intake.rejected)
    new = NewBatch(id=batch, name=query.name, rows=intake.rows, rejected=rejected, open=query.open)
    return await _stored(request, caller.tenant, services, query, intake, new, query.name, idempotency_key)


@router.post(
    "/{id}/rows",
    status_code=202,
    response_model=AcceptedBatch,
    openapi_extra=_BODY,
    responses={**_TAKEN, **problems(404, 409, 413, 415, 422)},
)
async def more(
    id: PathId,
    request: Request,
    query: Annotated[MoreRowsQuery, Query()],
    caller: Submitter,
    services: Offered,
    uploads: LargeUploads,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Adds a further part to a batch that was left open, and closes it unless `open` says that more are to come."""
    batch = await services.jobs.batch(caller.tenant, BatchId(id))
    if batch is None:
        raise missing("batch", id)
    intake = await _taken_in(request, uploads, services, query, query.first)
    rejected = tuple(intake.rejected)
    part = MoreRows(id=batch.id, first=query.first, rows=intake.rows, rejected=rejected, open=query.open)
    return await _stored(request, caller.tenant, services, query, intake, part, batch.name, idempotency_key)


async def _stored(
    request: Request,
    tenant: TenantId,
    services: Services,
    query: RowsQuery,
    intake: Intake,
    batch: NewBatch | MoreRows,
    name: str,
    key: str | None,
) -> Response:
    """Raises Refusal."""
    accepted = _accepted(batch.id, name, intake).model_dump_json().encode()
    keep = once(key, fingerprint(request, intake.digest, query.model_dump_json()), 202, accepted, batch_path(batch.id))
    parent = traceparent_of(request)
    jobs = await asyncio.to_thread(lambda: [_job(row, query, services, parent) for row in intake.accepted])
    try:
        replay = await services.jobs.add(tenant, jobs, batch, keep)
    except BatchClosed as error:
        raise Refusal("conflict", str(error)) from None
    answer = Response(accepted, 202, {"Location": batch_path(batch.id)}, _JSON) if replay is None else replayed(replay)
    visit(request.scope).jobs.append(answer.headers["Location"].rpartition("/")[2])
    return answer


async def _taken_in(request: Request, uploads: Uploads, services: Services, query: RowsQuery, first: int) -> Intake:
    """Raises Refusal."""
    if query.method not in services.methods:
        known = suggestion(query.method, sorted(services.methods))
        raise Refusal.parameter("method", f"There is no method {query.method!r}.{known}")
    content_type = request.headers.get("content-type", "")
    media = content_type.partition(";")[0].strip().lower()
    if media not in MEDIA:
        raise Refusal(
            "unsupported-media-type", f"The body is {media or 'of no stated type'}; a batch is {', '.join(MEDIA)}."
        )
    limits, today = services.batches, services.clock.now().date()
    async with uploads.received(request) as file:
        rows = read_rows(file, MEDIA[media], content_type, limits, today, first)
        try:
            return await uploads.read(partial(take_in, rows))
        except InputError as error:
            raise Refusal.invalid(str(error), "") from None


def _nothing_usable(intake: Intake) -> Refusal:
    first = intake.rejected[0]
    more = f" So did {len(intake.rejected) - 1:,} more: `rows` says why." if len(intake.rejected) > 1 else ""
    rows = tuple(RowError(**row.model_dump()) for row in intake.rejected)
    return Refusal("invalid-request", f"No row gave an idea. {first.detail}{more}", rows=rows)


def _accepted(batch: BatchId, name: str, intake: Intake) -> AcceptedBatch:
    return AcceptedBatch(
        id=batch,
        name=name,
        rows=intake.rows,
        accepted=len(intake.accepted),
        rejected=tuple(RowError(**row.model_dump()) for row in intake.rejected),
        duplicates=tuple(Duplicate(**one.model_dump()) for one in intake.duplicates),
        notices=tuple(intake.notices),
        next_row=intake.last + 1,
        links=batch_links(batch),
    )


def _job(row: AcceptedRow, query: RowsQuery, services: Services, traceparent: str | None) -> NewJob:
    idea = row.idea
    cutoff = idea.cutoff if idea is not None and idea.cutoff is not None else query.cutoff
    work = EvaluationRequest(
        idea=None if idea is None else idea.model_copy(update={"cutoff": cutoff}),
        source=row.source if idea is None else idea.source,
        method=query.method,
        cutoff=cutoff,
        limits=Limits(max_usd=query.max_usd, max_prompt_tokens=query.max_prompt_tokens),
    )
    return NewJob(
        id=JobId(services.ids("ev")),
        work=work,
        subject=row.source if idea is None else idea.title,
        priority=query.priority,
        document=row.document,
        row=row.number,
        traceparent=traceparent,
    )
