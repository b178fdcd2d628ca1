"""`POST /v1/batches` and `/v1/batches/{id}/rows`: many ideas in one request, or in several, one after the other."""

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import Field

from assayer.errors import InputError
from assayer.ideas.tables import IdeaTable
from assayer.methods.innoeval.options import BoardSize
from orchestrator.api.authentication import Submitter
from orchestrator.api.backpressure import UploadLimit
from orchestrator.api.common_schemas import Body, Resource, RowError
from orchestrator.api.idempotency import IdempotencyKey, idempotency_record, replayed_response, request_fingerprint
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import CUTOFF_AHEAD, act_by, board_problem, lies_ahead, traceparent_of
from orchestrator.api.openapi import REPLAYABLE_HEADERS, problem_responses
from orchestrator.api.problems import HttpProblem
from orchestrator.api.request_log import request_record
from orchestrator.api.routes.batches import BatchLinks, batch_links, batch_path
from orchestrator.api.services import Services, ServicesDependency, UploadLimitDependency
from orchestrator.batches.body_reader import MEDIA_TYPES, BatchIntake, collect_rows, read_rows
from orchestrator.batches.rows import AcceptedRow
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import BatchId, JobId, Priority, TenantId
from orchestrator.jobs.requests import EvaluationRequest, Limits
from orchestrator.jobs.submissions import BatchClosed, MoreRows, NewBatch, NewJob

__all__ = [
    "BATCH_BODY",
    "AcceptedBatch",
    "BatchQuery",
    "Duplicate",
    "MoreRowsQuery",
    "RowsQuery",
    "no_usable_row",
    "read_batch",
    "router",
    "tags_in",
]


class RowsQuery(Body):
    """Options for all rows of the body."""

    method: str = Field(default=EvaluationRequest.model_fields["method"].default, max_length=100)
    cutoff: dt.date | None = None
    """Literature published after this day is not used. A row's own cutoff takes precedence."""
    max_usd: float | None = Field(default=None, gt=0, le=1e9, allow_inf_nan=False)
    """Of each evaluation."""
    max_prompt_tokens: int | None = Field(default=None, gt=0, le=1_000_000_000)
    """Of each evaluation."""
    blind: bool | None = None
    """Mask names, affiliations and the like before anything judges the ideas.
    Null: what the service's settings say, by default yes."""
    board: BoardSize | None = None
    """Only for the method innoeval: how many reviewers sit on each board; 0 is the control without personas.
    Null: as many as the service's settings say."""
    board_models: str = Field(default="", max_length=2_000)
    """Only for the method innoeval: models among which the reviewers are dealt, separated by commas, of those that the
    service permits (`board_models` of the method). Without any: those of the service's settings."""
    priority: Priority = "batch"
    open: bool = False
    """More rows will follow: the batch does not finish before another part closes it, after a day at the latest."""


class BatchQuery(RowsQuery):
    name: str = Field(default="", max_length=200)
    """A label for people."""
    tags: str = Field(default="", max_length=500)
    """Further labels, by which batches are found, separated by commas."""
    opinions_due: dt.date | None = None
    """The last day for its reviewers. It is shown to them, and refuses nobody."""


class MoreRowsQuery(RowsQuery):
    first: int = Field(ge=1, le=1_000_000_000)
    """The number of its first row: `next_row` in the answer to the part before."""


class Duplicate(Resource):
    """A row with the words of an earlier one. Both are evaluated; the language model's answers are paid for once."""

    row: int
    source: str
    """What the row is called: `row 7`, `call.csv:7 (A-2026-0007)`, a file's name."""
    same_as: int
    """The number of the earlier row."""
    same_source: str
    """What that one is called."""


class AcceptedBatch(Resource):
    """The rows of one request are stored, and each will end in exactly one verdict."""

    id: str
    name: str
    rows: int
    accepted: int
    rejected: tuple[RowError, ...]
    """Rows that hold no usable idea. The others are evaluated."""
    duplicates: tuple[Duplicate, ...]
    notices: tuple[str, ...]
    """How a file was read, where that may be unexpected."""
    next_row: int
    """The number of the next part's first row, if the batch is open."""
    links: BatchLinks


router = APIRouter(prefix="/v1/batches", tags=["batches"])

_JSON = "application/json"
_FORM = "multipart/form-data"
BATCH_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "One idea in each JSON record or CSV row: `title` and `text`, or its sections; or files in a "
        "form or a ZIP archive: PDF, Word (.docx), OpenDocument (.odt), text, Markdown, JSON, JSON lines, CSV, Excel "
        "(.xlsx). Rows that cannot be read are named in the answer, and the others are evaluated. An archive that is "
        "built to do harm is refused as a whole.",
        "content": {
            **{media: {"schema": {"type": "string"}} for media in MEDIA_TYPES if media != _FORM},
            _FORM: {
                "schema": {
                    "type": "object",
                    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                }
            },
        },
    }
}
_ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {"description": "The usable rows are stored; the others are named", "headers": REPLAYABLE_HEADERS}
}


@router.post(
    "",
    status_code=202,
    response_model=AcceptedBatch,
    openapi_extra=BATCH_BODY,
    responses={**_ACCEPTED, **problem_responses(413, 415, 422, 501)},
)
async def ask(
    request: Request,
    query: Annotated[BatchQuery, Query()],
    caller: Submitter,
    services: ServicesDependency,
    uploads: UploadLimitDependency,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Submits a batch: every row is evaluated."""
    intake = await read_batch(request, caller.tenant, uploads, services, query, 1)
    if not intake.accepted and not query.open:
        raise no_usable_row(intake)
    batch = BatchId(services.new_id("bt"))
    rejected = tuple(intake.rejected)
    new = NewBatch(
        id=batch,
        name=query.name,
        rows=intake.rows,
        rejected=rejected,
        open=query.open,
        tags=tags_in(query.tags),
        opinions_due=query.opinions_due,
        submitted_by=caller.member,
    )
    return await _store(request, caller, services, query, intake, new, query.name, idempotency_key)


@router.post(
    "/{id}/rows",
    status_code=202,
    response_model=AcceptedBatch,
    openapi_extra=BATCH_BODY,
    responses={**_ACCEPTED, **problem_responses(404, 409, 410, 413, 415, 422, 501)},
)
async def more(
    id: PathId,
    request: Request,
    query: Annotated[MoreRowsQuery, Query()],
    caller: Submitter,
    services: ServicesDependency,
    uploads: UploadLimitDependency,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Adds rows to a batch that was left open, and closes it unless `open` says that more will follow. Its sign-off
    closes it for good."""
    batch = await services.find_batch(caller.tenant, id)
    intake = await read_batch(request, caller.tenant, uploads, services, query, query.first)
    rejected = tuple(intake.rejected)
    part = MoreRows(id=batch.id, first=query.first, rows=intake.rows, rejected=rejected, open=query.open)
    return await _store(request, caller, services, query, intake, part, batch.name, idempotency_key)


async def _store(
    request: Request,
    caller: AuthenticatedCaller,
    services: Services,
    query: RowsQuery,
    intake: BatchIntake,
    batch: NewBatch | MoreRows,
    name: str,
    key: str | None,
) -> Response:
    """Raises HttpProblem."""
    accepted = _accepted_batch(batch.id, name, intake).model_dump_json().encode()
    record = idempotency_record(
        key, request_fingerprint(request, intake.digest, query.model_dump_json()), 202, accepted, batch_path(batch.id)
    )
    parent = traceparent_of(request)
    jobs = await asyncio.to_thread(lambda: [_job(row, query, services, parent) for row in intake.accepted])
    try:
        recorded = await services.jobs.add(caller.tenant, jobs, batch, record, act_by(services, caller))
    except BatchClosed as error:
        raise HttpProblem("conflict", str(error)) from None
    answer = (
        Response(accepted, 202, {"Location": batch_path(batch.id)}, _JSON)
        if recorded is None
        else replayed_response(recorded)
    )
    request_record(request.scope).jobs.append(answer.headers["Location"].rpartition("/")[2])
    return answer


async def read_batch(
    request: Request, tenant: TenantId, uploads: UploadLimit, services: Services, query: RowsQuery, first: int
) -> BatchIntake:
    """What the body holds, nothing of it stored. Raises HttpProblem."""
    if wrong_method := services.method_problem(query.method):
        raise HttpProblem.parameter("method", wrong_method)
    services.check_priority(query.priority)
    if lies_ahead(query.cutoff, services):
        raise HttpProblem.parameter("cutoff", CUTOFF_AHEAD)
    if wrong := board_problem(query.board, tags_in(query.board_models), query.method, services):
        raise HttpProblem.parameter(wrong.field, wrong.detail)
    content_type = request.headers.get("content-type", "")
    media = content_type.partition(";")[0].strip().lower()
    if media not in MEDIA_TYPES:
        raise HttpProblem(
            "unsupported-media-type",
            f"The body is {media or 'of no stated type'}; a batch is {', '.join(MEDIA_TYPES)}.",
        )
    limits, today = services.batches, services.clock.now().date()
    loop = asyncio.get_running_loop()

    def read_table(data: bytes, name: str) -> IdeaTable:
        """From the thread that reads the body."""
        return asyncio.run_coroutine_threadsafe(services.read_table(data, name), loop).result()

    async with uploads.receive(request) as file:

        def collect(is_abandoned: Callable[[], bool]) -> BatchIntake:
            kind = MEDIA_TYPES[media]
            return collect_rows(read_rows(file, kind, content_type, limits, today, first, is_abandoned, read_table))

        try:
            return await uploads.parse(request, tenant, collect)
        except InputError as error:
            raise HttpProblem.invalid(str(error), "") from None


def tags_in(said: str) -> tuple[str, ...]:
    """Each once, in the order in which they were given."""
    return tuple(dict.fromkeys(tag for one in said.split(",") if (tag := " ".join(one.split()))))


def no_usable_row(intake: BatchIntake) -> HttpProblem:
    """For a body of which nothing can be evaluated."""
    first = intake.rejected[0]
    more = (
        f" The same holds for {len(intake.rejected) - 1:,} more: `rows` says why." if len(intake.rejected) > 1 else ""
    )
    rows = tuple(RowError(**row.model_dump()) for row in intake.rejected)
    return HttpProblem("invalid-request", f"No row holds a usable idea. {first.detail}{more}", rows=rows)


def _accepted_batch(batch: BatchId, name: str, intake: BatchIntake) -> AcceptedBatch:
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
        blind=services.judged_blind(query.blind, several=True),
        board=query.board,
        board_models=tags_in(query.board_models),
        limits=Limits(max_usd=query.max_usd, max_prompt_tokens=query.max_prompt_tokens),
    )
    return NewJob(
        id=JobId(services.new_id("ev")),
        request=work,
        subject=row.source if idea is None else idea.title,
        priority=query.priority,
        document=row.document,
        row=row.number,
        traceparent=traceparent,
    )
