"""`/v1/evaluations`: submit an idea, list one's own evaluations, read the report, cancel."""

import asyncio
import datetime as dt
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response
from pydantic import Field

from assayer.methods.innoeval.options import BoardModel, BoardSize
from assayer.models import Report
from assayer.models.sender_references import own_reference
from assayer.reports.graphml import as_graphml
from assayer.reports.html import as_html
from assayer.reports.json_and_csv import as_graph_json, as_json
from assayer.reports.markdown import as_markdown
from orchestrator.api.acting import ReportReader
from orchestrator.api.authentication import Reader, Submitter
from orchestrator.api.common_schemas import Body, IdeaBody, JobResource, Page, PageQuery, Reference, Resource
from orchestrator.api.content_negotiation import negotiated_media_type
from orchestrator.api.evaluation_scores import EvaluationScores, evaluation_scores
from orchestrator.api.idempotency import IdempotencyKey
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import (
    CUTOFF_AHEAD,
    UNNAMED_SOURCE,
    JobRoutes,
    PreferHeader,
    accept_job,
    act_by,
    answer_when_ended,
    board_problem,
    find_job,
    idea_of,
    job_fields,
    lies_ahead,
    no_result_problem,
    report_representations,
    report_response,
    submission_route,
)
from orchestrator.api.openapi import problem_responses
from orchestrator.api.pagination import decode_cursor, page_of
from orchestrator.api.problems import HttpProblem
from orchestrator.api.services import Services, ServicesDependency, StreamLimitDependency
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import BatchId, Job, JobId, JobState, Priority, TenantId
from orchestrator.jobs.report_figures import ReportFigures
from orchestrator.jobs.requests import EvaluationRequest, Limits
from orchestrator.jobs.submissions import NewJob
from orchestrator.reviewing.shown_reports import numbered_title, report_for_reviewer

__all__ = [
    "Accepted",
    "Evaluation",
    "EvaluationBody",
    "EvaluationQuery",
    "GraphQuery",
    "Links",
    "evaluation_links",
    "evaluation_request",
    "evaluation_resources",
    "report_for",
    "report_of_reviewer",
    "router",
    "show_evaluation",
    "stored_report",
]


class EvaluationBody(Body):
    idea: IdeaBody
    source: str = Field(default="", max_length=200)
    """The caller's name for the idea: a file name, or an id of their own."""
    method: str = Field(default=EvaluationRequest.model_fields["method"].default, max_length=100)
    cutoff: dt.date | None = None
    """Literature published after this day is not used."""
    blind: bool | None = None
    """Mask names, affiliations and the like before anything judges the idea.
    Null: what the service's settings say, by default no."""
    board: BoardSize | None = None
    """Only for the method innoeval: how many reviewers sit on the board; 0 is the control without personas.
    Null: as many as the service's settings say."""
    board_models: tuple[BoardModel, ...] = Field(default=(), max_length=20)
    """Only for the method innoeval: models among which the reviewers are dealt, of those that the service permits
    (`board_models` of the method). Without any: those of the service's settings."""
    limits: Limits = Limits()
    priority: Priority = "interactive"


class Links(Resource):
    """Paths of an evaluation and what belongs to it."""

    evaluation: str
    report: str
    events: str
    timeline: str


class Accepted(Resource):
    """The evaluation is stored, and will end in exactly one verdict."""

    id: str
    state: JobState = "queued"
    links: Links


class Evaluation(JobResource):
    source: str
    """The sender's name for the idea, with the id that its row holds: `proposals.csv:7 (A-2026-0007)`. Empty where
    there is none."""
    reference: str
    """The sender's own name alone, to join results by: the id that its row holds, a file's name. Empty where there is
    none."""
    batch: str | None
    row: int | None
    """Of the batch's input, from 1."""
    scores: EvaluationScores | None
    """What its report says in figures; null until there is one."""
    waiting: str | None = None
    """Why it has not started yet; null in lists, and once it has started."""
    links: Links


class GraphQuery(Body):
    format: Literal["json", "graphml"] = "json"


class EvaluationQuery(PageQuery):
    state: JobState | None = None
    batch: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{1,64}$")
    source: str | None = Field(default=None, min_length=1, max_length=300)
    """The sender's name for the idea: all of it, the id that its row holds, or a file's name without its folders."""
    reference: Reference | None = None
    """The sender's own name alone, to the letter: `reference` of the evaluations that are found."""


router = APIRouter(prefix="/v1/evaluations", tags=["evaluations"])

_JSON = "application/json"
_RENDERERS = {_JSON: as_json, "text/markdown": as_markdown, "text/html": as_html}
_UNTOLD = "There is no report. Whoever runs the call sees why."
_GRAPHML = "application/graphml+xml"
_GRAPH = report_representations("The graph, with the references that its labels stand for", (_JSON, _GRAPHML))
_REPORT = report_representations("The report, in the form that `Accept` prefers", tuple(_RENDERERS))


@router.post(**submission_route(accepted=Accepted, ended=Evaluation))
async def ask(
    body: EvaluationBody,
    request: Request,
    caller: Submitter,
    services: ServicesDependency,
    streams: StreamLimitDependency,
    idempotency_key: IdempotencyKey = None,
    prefer: PreferHeader = None,
) -> Response:
    """Submits one idea for evaluation."""
    work = await asyncio.to_thread(evaluation_request, body, services)
    job = JobId(services.new_id("ev"))
    links = evaluation_links(job)
    title = work.idea.title if work.idea else work.source
    new = NewJob(id=job, request=work, subject=title, priority=body.priority)
    accepted = Accepted(id=job, links=links)
    answer = await accept_job(request, caller, services, new, links.evaluation, accepted, idempotency_key)
    return await answer_when_ended(answer, request, caller, services, streams, prefer, show_evaluation)


@router.get("", responses=problem_responses(422))
async def listed(
    query: Annotated[EvaluationQuery, Query()], caller: Reader, services: ServicesDependency
) -> Page[Evaluation]:
    """One's own evaluations, the newest first."""
    jobs = await services.jobs.list(
        caller.tenant,
        kind="evaluation",
        state=query.state,
        batch=None if query.batch is None else BatchId(query.batch),
        source=query.source,
        reference=query.reference,
        after=decode_cursor(query.after),
        limit=query.limit + 1,
    )
    return page_of(jobs, query.limit, await evaluation_resources(services, jobs))


@router.get("/{id}/report", response_class=Response, responses={200: _REPORT, **problem_responses(404, 406, 409, 410)})
async def report(
    id: PathId, caller: ReportReader, services: ServicesDependency, accept: Annotated[str | None, Header()] = None
) -> Response:
    """The report as JSON, Markdown or a page; for a reviewer of a proposal that is judged blind without what says whose
    it is. Without one: 409 and why, or 410 when it has been deleted."""
    media_type = negotiated_media_type(accept, tuple(_RENDERERS))
    stored = await report_for(services, caller, id)
    # In a thread: reports are large, and the event loop serves other requests meanwhile.
    return report_response(await asyncio.to_thread(_RENDERERS[media_type], stored), media_type, "report.css")


@router.get("/{id}/graph", response_class=Response, responses={200: _GRAPH, **problem_responses(404, 409, 410, 422)})
async def graph(
    id: PathId, query: Annotated[GraphQuery, Query()], caller: Reader, services: ServicesDependency
) -> Response:
    """The graph of the literature that a report of SciCompanion holds, as JSON or GraphML. Other reports have none:
    404."""
    stored = await stored_report(services, caller.tenant, id)
    if stored.graph is None:
        raise HttpProblem("not-found", f"The report of {id} has no graph: its method grows none, scicompanion does.")
    render, media_type = (as_graphml, _GRAPHML) if query.format == "graphml" else (as_graph_json, _JSON)
    text = await asyncio.to_thread(render, stored, stored.graph)
    return Response(text, 200, {"Cache-Control": "private, no-cache"}, media_type)


async def stored_report(services: Services, tenant: TenantId, id: str) -> Report:
    """Raises HttpProblem."""
    job = await find_job(services, tenant, id, "evaluation")
    stored = await services.jobs.report(tenant, job.id) if job.state == "done" else None
    if stored is None:
        raise no_result_problem(job)
    return stored


async def report_for(services: Services, caller: AuthenticatedCaller, id: str) -> Report:
    """As they may read it. Raises HttpProblem."""
    if caller.role != "reviewer":
        return await stored_report(services, caller.tenant, id)
    report = await report_of_reviewer(services, caller.tenant, id)
    if report is None:
        job = await find_job(services, caller.tenant, id, "evaluation")
        # Problems name the file or row.
        told = None if job.problem is None else job.problem.model_copy(update={"detail": _UNTOLD})
        raise no_result_problem(job.model_copy(update={"problem": told}))
    return report


async def report_of_reviewer(services: Services, tenant: TenantId, id: str) -> Report | None:
    """Without what says whose the proposal is, where it is judged blind; None where there is no report."""
    stored = await services.jobs.report(tenant, JobId(id))
    return None if stored is None else await _for_reviewer(services, tenant, id, stored)


async def _for_reviewer(services: Services, tenant: TenantId, id: str, report: Report) -> Report:
    job = await services.jobs.get(tenant, JobId(id))
    return await asyncio.to_thread(report_for_reviewer, report, numbered_title(None if job is None else job.row))


@router.post("/{id}/retry", status_code=202, responses=problem_responses(404, 409, 410, 422, 429))
async def retry(id: PathId, caller: Submitter, services: ServicesDependency) -> Evaluation:
    """Evaluates again what failed, was given up or was cancelled: under the same id, within the same budget, without
    paying again for answers that are there. One that waits or runs stays as it is. Refused once its batch is signed
    off."""
    job = await find_job(services, caller.tenant, id, "evaluation")
    if job.state == "done":
        raise HttpProblem("conflict", "It is done. Submit the idea again for another evaluation.", state=job.state)
    retried = await services.jobs.retry(caller.tenant, job.id, act_by(services, caller))
    if retried.unreadable:
        raise HttpProblem("conflict", "Its document is kept no longer. Submit it again.", state=job.state)
    return await show_evaluation(services, await find_job(services, caller.tenant, id, "evaluation"))


def evaluation_request(body: EvaluationBody, services: Services) -> EvaluationRequest:
    """Raises HttpProblem."""
    if wrong_method := services.method_problem(body.method):
        raise HttpProblem.invalid(wrong_method, "/method")
    if lies_ahead(body.cutoff, services):
        raise HttpProblem.invalid(CUTOFF_AHEAD, "/cutoff")
    if wrong := board_problem(body.board, body.board_models, body.method, services):
        raise HttpProblem.invalid(wrong.detail, f"/{wrong.field}")
    services.check_priority(body.priority)
    return EvaluationRequest(
        idea=idea_of(body.idea, body.source, "/idea").model_copy(update={"cutoff": body.cutoff}),
        source=body.source,
        method=body.method,
        cutoff=body.cutoff,
        blind=services.judged_blind(body.blind, several=False),
        board=body.board,
        board_models=body.board_models,
        limits=body.limits,
    )


async def show_evaluation(services: Services, job: Job) -> Evaluation:
    """A queued one says why it waits."""
    waiting = await services.jobs.waiting_reason(job.tenant, job.id) if job.state == "queued" else None
    resource_of = await evaluation_resources(services, [job])
    return resource_of(job).model_copy(update={"waiting": waiting})


async def evaluation_resources(services: Services, jobs: Sequence[Job]) -> Callable[[Job], Evaluation]:
    """Of these jobs, with what their reports say in figures."""
    done = {job.id: job.run_id for job in jobs if job.state == "done" and job.run_id is not None}
    figures = await services.figures.of_runs(list(done.values()))
    return lambda job: _evaluation_resource(job, figures.get(done[job.id]) if job.id in done else None)


def _evaluation_resource(job: Job, figures: ReportFigures | None) -> Evaluation:
    source = "" if job.source == UNNAMED_SOURCE else job.source
    return Evaluation(
        **job_fields(job),
        source=source,
        reference=own_reference(source, job.row),
        batch=job.batch,
        row=job.row,
        scores=None if figures is None else evaluation_scores(figures),
        links=evaluation_links(job.id),
    )


def evaluation_links(job: str) -> Links:
    own = f"/v1/evaluations/{job}"
    return Links(evaluation=own, report=f"{own}/report", events=f"{own}/events", timeline=f"{own}/timeline")


def _without_scores(job: Job) -> Evaluation:
    return _evaluation_resource(job, None)


_ROUTES = JobRoutes(router, "evaluation", Evaluation, _without_scores, show_evaluation)
_ROUTES.add_one("One evaluation as it stands.")
_ROUTES.add_cancel()
