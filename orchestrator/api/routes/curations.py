"""`/v1/curations`: papers to research questions that do not give their method away."""

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from assayer.curation.records import paper_of_record
from assayer.errors import InputError
from assayer.models.curation import SourcePaper
from orchestrator.api.authentication import Submitter
from orchestrator.api.common_schemas import Body
from orchestrator.api.idempotency import IdempotencyKey
from orchestrator.api.item_routes import (
    MOST_ITEMS,
    AcceptedItems,
    ItemJobResource,
    ItemRoutes,
    ItemsPage,
    counted,
    item_links,
    read_items,
)
from orchestrator.api.job_routes import (
    JobRoutes,
    PreferHeader,
    accept_job,
    answer_when_ended,
    submission_route,
)
from orchestrator.api.problems import HttpProblem
from orchestrator.api.services import Services, ServicesDependency, StreamLimitDependency, UploadLimitDependency
from orchestrator.jobs.item_outcomes import CurationOutcome
from orchestrator.jobs.models import Job, JobId, LivePriority
from orchestrator.jobs.requests import CurationRequest, Limits
from orchestrator.jobs.submissions import NewJob

__all__ = ["CuratedPaperBody", "CurationBody", "CurationItems", "CurationResource", "router"]


class CuratedPaperBody(Body):
    title: str = Field(max_length=1_000)
    abstract: str = Field(max_length=100_000)
    """20 words or more."""
    id: str | None = Field(default=None, max_length=200)
    """The caller's name for it, which comes back with its outcome; null: one is made of its words."""


class CurationBody(Body):
    items: tuple[CuratedPaperBody, ...] = Field(min_length=1, max_length=MOST_ITEMS)
    limits: Limits = Limits()
    """Of all items together."""
    priority: LivePriority = "interactive"


class CurationResource(ItemJobResource):
    items: tuple[CurationOutcome, ...] | None
    """The outcomes that are there so far, in the order of the items; null in lists."""


class CurationItems(ItemsPage):
    """Outcomes in the order in which they came."""

    items: tuple[CurationOutcome, ...]


router = APIRouter(prefix="/v1/curations", tags=["curations"])
_ITEMS = ItemRoutes(router, "curation", CurationItems, lambda services: services.curations)


@router.post(**submission_route(accepted=AcceptedItems, ended=CurationResource))
async def ask(
    body: CurationBody,
    request: Request,
    caller: Submitter,
    services: ServicesDependency,
    streams: StreamLimitDependency,
    uploads: UploadLimitDependency,
    idempotency_key: IdempotencyKey = None,
    prefer: PreferHeader = None,
) -> Response:
    """Asks for each paper: is it a new idea, a survey or an evaluation, and what question does it answer?"""
    read = partial(_paper, services.most_abstract_chars)
    items = await read_items(request, caller.tenant, uploads, read, body.items)
    work = CurationRequest(items=items, limits=body.limits)
    job = JobId(services.new_id("cu"))
    new = NewJob(id=job, request=work, subject=counted(len(items), "paper"), priority=body.priority)
    links = item_links("curation", job)
    accepted = AcceptedItems(id=job, asked=len(items), links=links)
    answer = await accept_job(request, caller, services, new, links.job, accepted, idempotency_key)
    return await answer_when_ended(answer, request, caller, services, streams, prefer, show_curation)


def _paper(most: int, place: int, body: CuratedPaperBody) -> SourcePaper:
    """Raises HttpProblem."""
    try:
        return paper_of_record(body.model_dump(), f"Paper {place}", most)
    except InputError as error:
        raise HttpProblem.invalid(str(error), f"/items/{place}") from None


async def show_curation(services: Services, job: Job) -> CurationResource:
    return CurationResource.model_validate(await _ITEMS.shown(services, job))


def curation_summary(job: Job) -> CurationResource:
    return CurationResource.model_validate(_ITEMS.summarised(job))


_ITEMS.add_outcomes()
_ROUTES = JobRoutes(router, "curation", CurationResource, curation_summary, show_curation)
_ROUTES.add_list("One's own curations, the newest first, without their items.")
_ROUTES.add_one("The curation as it stands: the outcomes that are there so far, in the order of the papers.", 422)
_ROUTES.add_cancel()
