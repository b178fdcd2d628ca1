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
from orchestrator.api.idempotency import IdempotencyKey, idempotency_record, replayed_response, request_fingerprint
from orchestrator.api.job_routes import CUTOFF_AHEAD, is_in_future, traceparent_of
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
from orchestrator.web.request_log import get_request_record
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
_ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {"description": "The usable rows are stored; rejected rows are listed", "headers": REPLAYABLE_HEADERS}
}


@dataclass(frozen=True)
class BatchBody:
    """A request whose body holds a batch's rows."""

    request: Request
    context: Submitter
    uploads: UploadLimitDependency

    async def read(self, query: RowsQuery, first_row: int) -> BatchIntake:
        """Parse the rows without storing them. `first_row` is the first row's number. Raises HttpProblem if the body or
        the query is invalid."""
        services = self.context.services
        if wrong_method := services.options.find_method_problem(query.method):
            raise HttpProblem.parameter("method", wrong_method)
        services.options.check_priority(query.priority)
        services.options.check_limit(query.max_usd, query.method)
        if is_in_future(query.cutoff, services):
            raise HttpProblem.parameter("cutoff", CUTOFF_AHEAD)
        if wrong := services.options.find_board_problem(query.board, parse_tags(query.board_models), query.method):
            raise HttpProblem.parameter(wrong.field, wrong.detail)
        _criteria(query.criteria)
        content_type = self.request.headers.get("content-type", "")
        media = content_type.partition(";")[0].strip().lower()
        if media not in MEDIA_TYPES:
            raise HttpProblem(
                "unsupported-media-type",
                f"The Content-Type of the request is {media or 'missing'}; a batch "
                f"must be one of: {', '.join(MEDIA_TYPES)}.",
            )
        kind, limits, today = MEDIA_TYPES[media], services.batches, self.context.now.date()
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
        answer_body = _accepted_batch(batch.id, name, intake).model_dump_json().encode()
        fingerprint = request_fingerprint(self.request, intake.digest, query.model_dump_json())
        record = idempotency_record(self.idempotency_key, fingerprint, 202, answer_body, path)
        parent = traceparent_of(self.request)
        jobs = await asyncio.to_thread(lambda: [_job(row, query, services, parent) for row in intake.accepted])
        try:
            replay = await services.jobs.add(self.context.tenant, jobs, batch, record, self.context.by)
        except BatchClosed as error:
            raise HttpProblem("conflict", str(error)) from None
        answer = Response(answer_body, 202, {"Location": path}, _JSON) if replay is None else replayed_response(replay)
        get_request_record(self.request.scope).jobs.append(answer.headers["Location"].rpartition("/")[2])
        return answer


@router.post("", status_code=202, response_model=AcceptedBatch, openapi_extra=BATCH_BODY, responses=_ACCEPTED)
async def create_batch(query: Annotated[BatchQuery, Query()], upload: Annotated[BatchUpload, Depends()]) -> Response:
    """Submit a batch. Every row is evaluated."""
    intake = await upload.read(query, 1)
    if not intake.accepted and not query.open:
        raise no_usable_row(intake)
    new = NewBatch(
        id=BatchId(upload.context.services.new_id("bt")),
        name=query.name,
        rows=intake.rows,
        rejected=tuple(intake.rejected),
        open=query.open,
        tags=parse_tags(query.tags),
        opinions_due=query.opinions_due,
        submitted_by=upload.context.caller.member,
    )
    return await upload.store(query, intake, new, query.name)


@router.post("/{id}/rows", status_code=202, response_model=AcceptedBatch, openapi_extra=BATCH_BODY, responses=_ACCEPTED)
async def add_batch_rows(
    id: PathId, query: Annotated[MoreRowsQuery, Query()], upload: Annotated[BatchUpload, Depends()]
) -> Response:
    """Add rows to an open batch, and close it unless `open` announces that more will follow. With `reopen`, rows can
    also be added to a closed batch, for example late proposals or refused rows that have been fixed. Sign-off closes a
    batch permanently."""
    batch = await upload.context.find_batch(id)
    intake = await upload.read(query, query.first_row)
    rejected = tuple(intake.rejected)
    part = MoreRows(
        id=batch.id,
        first=query.first_row,
        rows=intake.rows,
        rejected=rejected,
        open=query.open,
        reopen=query.reopen,
        replaces=tuple(int(number) for number in query.replaced_rows.split(",") if number),
    )
    return await upload.store(query, intake, part, batch.name)


def _criteria(text: str) -> tuple[Criterion, ...]:
    """Parse the criteria. Raises HttpProblem if they are invalid."""
    try:
        return parse_criteria(text, "The text") if text.strip() else ()
    except InputError as error:
        raise HttpProblem.parameter("criteria", str(error)) from None


def no_usable_row(intake: BatchIntake) -> HttpProblem:
    """Return the problem for a body in which no row can be evaluated."""
    first_rejected = intake.rejected[0]
    remainder_text = (
        f" Further rejected rows: {len(intake.rejected) - 1:,}; see `rows`." if len(intake.rejected) > 1 else ""
    )
    rows = tuple(intake.rejected)
    return HttpProblem(
        "invalid-request", f"No row contains a usable idea. {first_rejected.detail}{remainder_text}", rows=rows
    )


def _accepted_batch(batch: BatchId, name: str, intake: BatchIntake) -> AcceptedBatch:
    return AcceptedBatch(
        id=batch,
        name=name,
        rows=intake.rows,
        accepted=len(intake.accepted),
        rejected=tuple(intake.rejected),
        duplicates=tuple(intake.duplicates),
        notices=tuple(intake.notices),
        next_row=intake.last + 1,
        links=build_batch_links(batch),
    )


def _job(row: AcceptedRow, query: RowsQuery, services: Services, traceparent: str | None) -> NewJob:
    idea = row.idea
    cutoff = idea.cutoff if idea is not None and idea.cutoff is not None else query.cutoff
    work = EvaluationRequest(
        idea=None if idea is None else idea.model_copy(update={"cutoff": cutoff}),
        source=row.source if idea is None else idea.source,
        method=query.method,
        cutoff=cutoff,
        blind=services.options.is_judged_blind(query.blind, several=True),
        board=query.board,
        board_models=parse_tags(query.board_models),
        criteria=_criteria(query.criteria),
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
        applicant=row.applicant,
    )
