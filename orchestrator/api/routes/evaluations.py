"""Routes `/v1/evaluations`: submit an idea, list evaluations, read the report, retry and cancel."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response
from pydantic import Field

from assayer.models import Report
from assayer.models.sender_references import get_own_reference
from assayer.reports.graphml import render_graphml
from assayer.reports.html import render_html
from assayer.reports.json_and_csv import render_graph_json, render_json
from assayer.reports.markdown import render_report_markdown
from assayer_client.evaluations import (
    Accepted,
    Evaluation,
    EvaluationBody,
    EvaluationScores,
    Links,
    ScoredPart,
)
from assayer_client.resources import Page
from orchestrator.api.job_routes import (
    FUTURE_CUTOFF_MESSAGE,
    JobRoutes,
    SubmissionDependency,
    build_report_response,
    describe_report_response,
    describe_submission_route,
    get_job_fields,
    is_in_future,
)
from orchestrator.api.permissions import ReportReader
from orchestrator.api.url_queries import PageQuery, Reference, UrlQuery
from orchestrator.jobs.models import BatchId, Job, JobState
from orchestrator.jobs.report_figures import ReportFigures
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.jobs.submissions import NewJob
from orchestrator.problems import HttpProblem
from orchestrator.services.call_criteria import parse_criterion_bodies
from orchestrator.services.job_lookup import build_no_result_problem, find_report, find_report_for_reviewer
from orchestrator.services.submitted_ideas import UNNAMED_SOURCE, parse_idea_body
from orchestrator.web.authentication import Reader, Submitter
from orchestrator.web.content_negotiation import require_media_type
from orchestrator.web.context import RouteContext
from orchestrator.web.pagination import build_page, decode_cursor
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import Services


class GraphQuery(UrlQuery):
    format: Literal["json", "graphml"] = "json"


class EvaluationQuery(PageQuery):
    state: JobState | None = None
    batch: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{1,64}$")
    source: str | None = Field(default=None, min_length=1, max_length=300)
    """The sender's name for the idea: its full name, the id in its row, or its file name without folders."""
    reference: Reference | None = None
    """Return only evaluations with exactly this `reference`, which the sender assigned."""


router = APIRouter(prefix="/v1/evaluations", tags=["evaluations"])

_JSON = "application/json"
_RENDERERS = {_JSON: render_json, "text/markdown": render_report_markdown, "text/html": render_html}
_REASON_WITHHELD = "There is no report. The people who run the call can see the reason."
_GRAPHML = "application/graphml+xml"
_GRAPH_RESPONSE = describe_report_response(
    "The graph, with the references that its labels stand for", (_JSON, _GRAPHML)
)
_REPORT_RESPONSE = describe_report_response("The report, in the format preferred by `Accept`", tuple(_RENDERERS))


@router.post(**describe_submission_route(Accepted, Evaluation))
async def create_evaluation(body: EvaluationBody, submission: SubmissionDependency) -> Response:
    """Submit an idea for evaluation."""
    request = await asyncio.to_thread(build_evaluation_request, body, submission.services)
    job = submission.new_id("ev")
    links = build_evaluation_links(job)
    title = request.idea.title if request.idea else request.source
    new_job = NewJob(id=job, request=request, subject=title, priority=body.priority)
    receipt = Accepted(id=job, links=links)
    return await submission.respond(new_job, links.evaluation, receipt, show_evaluation)


@router.get("")
async def list_evaluations(query: Annotated[EvaluationQuery, Query()], context: Reader) -> Page[Evaluation]:
    """List the tenant's evaluations, newest first."""
    jobs = await context.services.jobs.list(
        context.tenant,
        kind="evaluation",
        state=query.state,
        batch=None if query.batch is None else BatchId(query.batch),
        source=query.source,
        reference=query.reference,
        after=decode_cursor(query.after),
        limit=query.limit + 1,
    )
    return build_page(jobs, query.limit, await load_resource_builder(context.services, jobs))


@router.get("/{id}/report", response_class=Response, responses={200: _REPORT_RESPONSE})
async def get_report(id: PathId, context: ReportReader, accept: Annotated[str | None, Header()] = None) -> Response:
    """Return the report as JSON, Markdown or HTML. In blind mode, reviewers do not see the applicant's identity. If
    there is no report, the status is 409 with the reason, or 410 if it has been deleted."""
    media_type = require_media_type(accept, tuple(_RENDERERS))
    report = await load_report(context, id)
    # Rendered in a thread, because reports are large and would block the event loop.
    return build_report_response(await asyncio.to_thread(_RENDERERS[media_type], report), media_type, "report.css")


@router.get("/{id}/graph", response_class=Response, responses={200: _GRAPH_RESPONSE})
async def get_graph(id: PathId, query: Annotated[GraphQuery, Query()], context: Reader) -> Response:
    """Return the literature graph of a SciCompanion report, as JSON or GraphML. Other reports have no graph (404)."""
    report = await find_report(context.services.jobs, context.tenant, id)
    if report.graph is None:
        raise HttpProblem("not-found", f"The report for {id} has no graph. Only the method scicompanion builds one.")
    render, media_type = (render_graphml, _GRAPHML) if query.format == "graphml" else (render_graph_json, _JSON)
    text = await asyncio.to_thread(render, report, report.graph)
    return Response(text, 200, {"Cache-Control": "private, no-cache"}, media_type)


async def load_report(context: RouteContext, id: str) -> Report:
    """Return the report in the form that the caller may read. Raises HttpProblem if there is no report."""
    if context.caller.role != "reviewer":
        return await find_report(context.services.jobs, context.tenant, id)
    report = await find_report_for_reviewer(context.services.jobs, context.tenant, id)
    if report is None:
        job = await context.find_job(id, "evaluation")
        # The problem's detail names the file or row, which could identify the applicant.
        problem = None if job.problem is None else job.problem.model_copy(update={"detail": _REASON_WITHHELD})
        raise build_no_result_problem(job.model_copy(update={"problem": problem}))
    return report


@router.post("/{id}/retry", status_code=202)
async def retry_evaluation(id: PathId, context: Submitter) -> Evaluation:
    """Retry a failed or cancelled evaluation under the same id and within the same budget. Model responses that are
    already stored are not paid for again. A queued or running evaluation is unchanged. Rejected once its batch is
    signed off."""
    job = await context.find_job(id, "evaluation")
    if job.state == "succeeded":
        raise HttpProblem(
            "conflict",
            "The evaluation succeeded, so it cannot be retried. To evaluate the idea again, submit it again.",
            state=job.state,
        )
    retried_job = await context.services.jobs.retry(context.tenant, job.id, context.by)
    if retried_job.unreadable:
        raise HttpProblem("conflict", "The document is no longer stored. Submit it again.", state=job.state)
    return await show_evaluation(context.services, await context.find_job(id, "evaluation"))


def build_evaluation_request(body: EvaluationBody, services: Services) -> EvaluationRequest:
    """Convert the body to an evaluation request. Raises HttpProblem if it is invalid."""
    if method_problem := services.options.find_method_problem(body.method):
        raise HttpProblem.invalid(method_problem, "/method")
    if is_in_future(body.cutoff, services):
        raise HttpProblem.invalid(FUTURE_CUTOFF_MESSAGE, "/cutoff")
    if board_problem := services.options.find_board_problem(body.board, body.board_models, body.method):
        raise HttpProblem.invalid(board_problem.detail, f"/{board_problem.field}")
    services.options.check_priority(body.priority)
    return EvaluationRequest(
        idea=parse_idea_body(body.idea, body.source, "/idea").model_copy(update={"cutoff": body.cutoff}),
        source=body.source,
        method=body.method,
        cutoff=body.cutoff,
        blind=services.options.is_judged_blind(body.blind, several=False),
        board=body.board,
        board_models=body.board_models,
        criteria=parse_criterion_bodies(body.criteria, "/criteria"),
        limits=body.limits,
    )


async def show_evaluation(services: Services, job: Job) -> Evaluation:
    """Return an evaluation's resource. If it is queued, the resource states why it has not started."""
    waiting_reason = await services.jobs.explain_waiting(job.tenant, job.id) if job.state == "queued" else None
    build_resource = await load_resource_builder(services, [job])
    return build_resource(job).model_copy(update={"waiting_reason": waiting_reason})


async def load_resource_builder(services: Services, jobs: Sequence[Job]) -> Callable[[Job], Evaluation]:
    """Return a function that converts these jobs to resources, with the figures of their reports."""
    run_ids = {job.id: job.run_id for job in jobs if job.state == "succeeded" and job.run_id is not None}
    figures = await services.reports.get_figures(list(run_ids.values()))
    return lambda job: _build_resource(job, figures.get(run_ids[job.id]) if job.id in run_ids else None)


def _build_resource(job: Job, figures: ReportFigures | None = None) -> Evaluation:
    source = "" if job.source == UNNAMED_SOURCE else job.source
    return Evaluation(
        **get_job_fields(job),
        source=source,
        reference=get_own_reference(source, job.row),
        batch=job.batch,
        row=job.row,
        scores=None if figures is None else _build_scores(figures),
        links=build_evaluation_links(job.id),
    )


def _build_scores(figures: ReportFigures) -> EvaluationScores:
    """Convert a report's figures to a summary: scores with their certainty, corpus fit and notices."""
    return EvaluationScores(
        score=None if figures.score is None else round(100 * figures.score, 2),
        reason=figures.reason or None,
        certainty=figures.certainty,
        corpus_fit=figures.fit,
        complete=figures.complete,
        parts=tuple(
            ScoredPart(
                name=part.name,
                title=part.title,
                score=part.value,
                scale_max=part.scale_max,
                certainty=part.certainty,
                reason=part.reason or None,
            )
            for part in figures.parts
        ),
        notices=figures.notices,
    )


def build_evaluation_links(job: str) -> Links:
    path = f"/v1/evaluations/{job}"
    return Links(evaluation=path, report=f"{path}/report", events=f"{path}/events", timeline=f"{path}/timeline")


_ROUTES = JobRoutes(router, "evaluation", Evaluation, _build_resource, show_evaluation)
_ROUTES.add_get_route("Return an evaluation in its current state.")
_ROUTES.add_cancel_route()
