"""`/v1/proposals`: candidate ideas for research questions, and the best of them."""

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from assayer.curation.options import BestBy
from assayer.curation.records import question_of_text
from assayer.errors import InputError
from assayer.models.curation import ResearchQuestion
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
from orchestrator.jobs.item_outcomes import ProposalOutcome
from orchestrator.jobs.models import Job, JobId, LivePriority
from orchestrator.jobs.requests import Limits, ProposalRequest
from orchestrator.jobs.submissions import NewJob

__all__ = ["ProposalBody", "ProposalItems", "ProposalResource", "QuestionBody", "router"]


class QuestionBody(Body):
    question: str = Field(max_length=5_000)
    id: str | None = Field(default=None, max_length=200)
    """The caller's name for it, which comes back with its outcome and begins the ids of its candidates; null: one is
    made of its words."""


class ProposalBody(Body):
    items: tuple[QuestionBody, ...] = Field(min_length=1, max_length=MOST_ITEMS)
    candidates: int | None = Field(default=None, ge=1, le=100)
    """For each question; null: as many as the service is set to, usually 10."""
    best_by: BestBy | None = None
    """Put the candidates of each question in order: by pairwise comparisons, or by single scores; null: do not."""
    limits: Limits = Limits()
    """Of all items together."""
    priority: LivePriority = "interactive"


class ProposalResource(ItemJobResource):
    items: tuple[ProposalOutcome, ...] | None
    """The outcomes that are there so far, in the order of the items; null in lists."""


class ProposalItems(ItemsPage):
    """Outcomes in the order in which they came."""

    items: tuple[ProposalOutcome, ...]


router = APIRouter(prefix="/v1/proposals", tags=["proposals"])
_ITEMS = ItemRoutes(router, "proposal", ProposalItems, lambda services: services.proposals)


@router.post(**submission_route(accepted=AcceptedItems, ended=ProposalResource))
async def ask(
    body: ProposalBody,
    request: Request,
    caller: Submitter,
    services: ServicesDependency,
    streams: StreamLimitDependency,
    uploads: UploadLimitDependency,
    idempotency_key: IdempotencyKey = None,
    prefer: PreferHeader = None,
) -> Response:
    """Asks for candidate ideas for each question, each drawn for itself."""
    items = await read_items(request, caller.tenant, uploads, _question, body.items)
    work = ProposalRequest(items=items, candidates=body.candidates, best_by=body.best_by, limits=body.limits)
    job = JobId(services.new_id("pr"))
    new = NewJob(id=job, request=work, subject=counted(len(items), "question"), priority=body.priority)
    links = item_links("proposal", job)
    accepted = AcceptedItems(id=job, asked=len(items), links=links)
    answer = await accept_job(request, caller, services, new, links.job, accepted, idempotency_key)
    return await answer_when_ended(answer, request, caller, services, streams, prefer, show_proposal)


def _question(place: int, body: QuestionBody) -> ResearchQuestion:
    """Raises HttpProblem."""
    try:
        return question_of_text(body.question, f"Question {place}", body.id)
    except InputError as error:
        raise HttpProblem.invalid(str(error), f"/items/{place}/question") from None


async def show_proposal(services: Services, job: Job) -> ProposalResource:
    return ProposalResource.model_validate(await _ITEMS.shown(services, job))


def proposal_summary(job: Job) -> ProposalResource:
    return ProposalResource.model_validate(_ITEMS.summarised(job))


_ITEMS.add_outcomes()
_ROUTES = JobRoutes(router, "proposal", ProposalResource, proposal_summary, show_proposal)
_ROUTES.add_list("One's own proposals, the newest first, without their items.")
_ROUTES.add_one("The proposal as it stands: the outcomes that are there so far, in the order of the questions.", 422)
_ROUTES.add_cancel()
