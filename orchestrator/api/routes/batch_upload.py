"""Routes `POST /v1/batches` and `/v1/batches/{id}/rows`, which submit many ideas in one request or in several."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from assayer.errors import InputError
from assayer.ideas.tables import IdeaTable
from assayer.methods.criteria_file import parse_criteria
from assayer.models import Criterion
from assayer_client.batches import AcceptedBatch, BatchQuery, MoreRowsQuery, RowsQuery
from orchestrator.api.idempotency import (
    IdempotencyKey,
    build_idempotency_record,
    compute_fingerprint,
)
from orchestrator.api.job_routes import FUTURE_CUTOFF_MESSAGE, is_in_future, read_traceparent, respond_accepted
from orchestrator.api.openapi import REPLAYABLE_HEADERS
from orchestrator.batches.body_reader import MEDIA_TYPES, BatchIntake, collect_rows, read_rows
from orchestrator.batches.rows import AcceptedRow
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.jobs.requests import EvaluationRequest, Limits
from orchestrator.jobs.submissions import BatchClosed, MoreRows, NewBatch, NewJob
from orchestrator.problems import HttpProblem
from orchestrator.services.batch_summaries import build_batch_links, build_batch_path, parse_tags
from orchestrator.web.authentication import Submitter
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import Services, UploadLimitDependency

router = APIRouter(prefix="/v1/batches", tags=["batches"])

_JSON = "application/json"
_FORM = "multipart/form-data"
BATCH_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "One idea per JSON record or CSV row, as `title` and `text` or as its sections; or files in a "
        "form or a ZIP archive: PDF, Word (.docx), OpenDocument (.odt), text, Markdown, TeX (also the ZIP archive of a "
        "paper), HTML, RTF, JSON, JSON lines, CSV, Excel (.xlsx). Unreadable rows are listed in the response; "
        "the others are evaluated. A malicious archive is rejected as a whole.",
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
_ACCEPTED_RESPONSE: dict[int | str, dict[str, Any]] = {
    202: {"description": "The usable rows are stored; rejected rows are listed", "headers": REPLAYABLE_HEADERS}
}


@dataclass(frozen=True)
class BatchBody:
    """A request whose body holds a batch's rows."""

    request: Request
    context: Submitter
    uploads: UploadLimitDependency

    async def read(self, query: RowsQuery, first_row: int) -> BatchIntake:
        """Parse the rows without storing them. They are numbered from `first_row`. Raises HttpProblem if the body or
        the query is invalid."""
        services = self.context.services
        if method_problem := services.options.find_method_problem(query.method):
            raise HttpProblem.invalid_parameter("method", method_problem)
        services.options.check_priority(query.priority)
        services.options.check_limit(query.max_usd, query.method)
        if is_in_future(query.cutoff, services):
            raise HttpProblem.invalid_parameter("cutoff", FUTURE_CUTOFF_MESSAGE)
        if board_problem := services.options.find_board_problem(
            query.board, parse_tags(query.board_models), query.method
        ):
            raise HttpProblem.invalid_parameter(board_problem.field, board_problem.detail)
        _parse_criteria(query.criteria)
        content_type = self.request.headers.get("content-type", "")
        media_type = content_type.partition(";")[0].strip().lower()
        if media_type not in MEDIA_TYPES:
            raise HttpProblem(
                "unsupported-media-type",
                f"The Content-Type of the request is {media_type or 'missing'}; a batch "
                f"must be one of: {', '.join(MEDIA_TYPES)}.",
            )
        kind, limits, today = MEDIA_TYPES[media_type], services.batches, self.context.now.date()
        loop = asyncio.get_running_loop()

        def read_table(data: bytes, name: str) -> IdeaTable:
            """Parse a table on the event loop. Called from the thread that parses the body."""
            return asyncio.run_coroutine_threadsafe(services.read_table(data, name), loop).result()

        async with self.uploads.receive(self.request) as file:

            def collect(is_abandoned: Callable[[], bool]) -> BatchIntake:
                return collect_rows(
                    read_rows(file, kind, content_type, limits, today, first_row, is_abandoned, read_table)
                )

            try:
                return await self.uploads.parse(self.request, self.context.tenant, collect)
            except InputError as error:
                raise HttpProblem.invalid(str(error), "") from None


@dataclass(frozen=True)
class BatchUpload(BatchBody):
    """A request that submits a batch's rows."""

    idempotency_key: IdempotencyKey = None

    async def store(self, query: RowsQuery, intake: BatchIntake, batch: NewBatch | MoreRows, name: str) -> Response:
        """Store the parsed rows, or replay the response to the same request. Raises HttpProblem if the batch is
        closed."""
        services, path = self.context.services, build_batch_path(batch.id)
        receipt = _build_receipt(batch.id, name, intake).model_dump_json().encode()
        fingerprint = compute_fingerprint(self.request, intake.digest, query.model_dump_json())
        record = build_idempotency_record(self.idempotency_key, fingerprint, 202, receipt, path)
        traceparent = read_traceparent(self.request)
        jobs = await asyncio.to_thread(
            lambda: [_build_job(row, query, services, traceparent) for row in intake.accepted]
        )
        try:
            earlier_response = await services.jobs.add(self.context.tenant, jobs, batch, record, self.context.by)
        except BatchClosed as error:
            raise HttpProblem("conflict", str(error)) from None
        return respond_accepted(self.request, receipt, path, earlier_response)


@router.post("", status_code=202, response_model=AcceptedBatch, openapi_extra=BATCH_BODY, responses=_ACCEPTED_RESPONSE)
async def create_batch(query: Annotated[BatchQuery, Query()], upload: Annotated[BatchUpload, Depends()]) -> Response:
    """Submit a batch. Every row is evaluated."""
    intake = await upload.read(query, 1)
    if not intake.accepted and not query.open:
        raise build_no_usable_row_problem(intake)
    new_batch = NewBatch(
        id=BatchId(upload.context.services.new_id("bt")),
        name=query.name,
        rows=intake.row_count,
        rejected=tuple(intake.rejected),
        open=query.open,
        tags=parse_tags(query.tags),
        opinions_due=query.opinions_due,
        submitted_by=upload.context.caller.member,
    )
    return await upload.store(query, intake, new_batch, query.name)


@router.post(
    "/{id}/rows", status_code=202, response_model=AcceptedBatch, openapi_extra=BATCH_BODY, responses=_ACCEPTED_RESPONSE
)
async def add_batch_rows(
    id: PathId, query: Annotated[MoreRowsQuery, Query()], upload: Annotated[BatchUpload, Depends()]
) -> Response:
    """Add rows to an open batch, and close it unless `open` announces that more will follow. With `reopen`, rows can
    also be added to a closed batch, for example late proposals or refused rows that have been fixed. Sign-off closes a
    batch permanently."""
    batch = await upload.context.find_batch(id)
    intake = await upload.read(query, query.first_row)
    rejected = tuple(intake.rejected)
    more_rows = MoreRows(
        id=batch.id,
        first=query.first_row,
        rows=intake.row_count,
        rejected=rejected,
        open=query.open,
        reopen=query.reopen,
        replaces=tuple(int(number) for number in query.replaced_rows.split(",") if number),
    )
    return await upload.store(query, intake, more_rows, batch.name)


def _parse_criteria(text: str) -> tuple[Criterion, ...]:
    """Parse the criteria. Raises HttpProblem if they are invalid."""
    try:
        return parse_criteria(text, "The text") if text.strip() else ()
    except InputError as error:
        raise HttpProblem.invalid_parameter("criteria", str(error)) from None


def build_no_usable_row_problem(intake: BatchIntake) -> HttpProblem:
    """Return the problem for a body in which no row can be evaluated."""
    first_rejected = intake.rejected[0]
    remainder = f" Further rejected rows: {len(intake.rejected) - 1:,}; see `rows`." if len(intake.rejected) > 1 else ""
    rows = tuple(intake.rejected)
    return HttpProblem(
        "invalid-request", f"No row contains a usable idea. {first_rejected.detail}{remainder}", rows=rows
    )


def _build_receipt(batch: BatchId, name: str, intake: BatchIntake) -> AcceptedBatch:
    return AcceptedBatch(
        id=batch,
        name=name,
        rows=intake.row_count,
        accepted=len(intake.accepted),
        rejected=tuple(intake.rejected),
        duplicates=tuple(intake.duplicates),
        notices=tuple(intake.notices),
        next_row=intake.last_row + 1,
        links=build_batch_links(batch),
    )


def _build_job(row: AcceptedRow, query: RowsQuery, services: Services, traceparent: str | None) -> NewJob:
    idea = row.idea
    cutoff = idea.cutoff if idea is not None and idea.cutoff is not None else query.cutoff
    request = EvaluationRequest(
        idea=None if idea is None else idea.model_copy(update={"cutoff": cutoff}),
        source=row.source if idea is None else idea.source,
        method=query.method,
        cutoff=cutoff,
        blind=services.options.is_judged_blind(query.blind, several=True),
        board=query.board,
        board_models=parse_tags(query.board_models),
        criteria=_parse_criteria(query.criteria),
        limits=Limits(max_usd=query.max_usd, max_prompt_tokens=query.max_prompt_tokens),
    )
    return NewJob(
        id=JobId(services.new_id("ev")),
        request=request,
        subject=row.source if idea is None else idea.title,
        priority=query.priority,
        document=row.document,
        row=row.number,
        traceparent=traceparent,
        applicant=row.applicant,
    )
