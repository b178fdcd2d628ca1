"""`/v1/scores`: each idea from 1 to 5 on novelty, feasibility and effectiveness."""

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from assayer.curation.records import question_of_text
from assayer.errors import InputError
from orchestrator.api.authentication import Submitter
from orchestrator.api.common_schemas import Body, IdeaBody
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
    idea_of,
    submission_route,
)
from orchestrator.api.problems import HttpProblem
from orchestrator.api.services import Services, ServicesDependency, StreamLimitDependency, UploadLimitDependency
from orchestrator.jobs.item_outcomes import ScoreOutcome
from orchestrator.jobs.models import Job, JobId, LivePriority
from orchestrator.jobs.requests import IdeaToScore, Limits, ScoreRequest
from orchestrator.jobs.submissions import NewJob

__all__ = ["ScoreBody", "ScoreItems", "ScoreResource", "ScoredIdeaBody", "router"]


class ScoredIdeaBody(Body):
    idea: IdeaBody
    question: str | None = Field(default=None, max_length=5_000)
    """The research question that it answers; null: it is scored without one."""
    id: str = Field(default="", max_length=200)
    """The caller's name for it; comes back with its outcome."""


class ScoreBody(Body):
    items: tuple[ScoredIdeaBody, ...] = Field(min_length=1, max_length=MOST_ITEMS)
    blind: bool | None = None
    """Mask names, affiliations, acknowledgements and the like before the judge sees the ideas; null: yes for several
    ideas, unless the service is set otherwise."""
    limits: Limits = Limits()
    """Of all items together."""
    priority: LivePriority = "interactive"


class ScoreResource(ItemJobResource):
    items: tuple[ScoreOutcome, ...] | None
    """The outcomes that are there so far, in the order of the items; null in lists."""


class ScoreItems(ItemsPage):
    """Outcomes in the order in which they came."""

    items: tuple[ScoreOutcome, ...]


router = APIRouter(prefix="/v1/scores", tags=["scores"])
_ITEMS = ItemRoutes(router, "score", ScoreItems, lambda services: services.scores)


@router.post(**submission_route(accepted=AcceptedItems, ended=ScoreResource))
async def ask(
    body: ScoreBody,
    request: Request,
    caller: Submitter,
    services: ServicesDependency,
    streams: StreamLimitDependency,
    uploads: UploadLimitDependency,
    idempotency_key: IdempotencyKey = None,
    prefer: PreferHeader = None,
) -> Response:
    """Asks for scores of each idea, each judged for itself."""
    items = await read_items(request, caller.tenant, uploads, _scored, body.items)
    blind = services.judged_blind(body.blind, several=len(items) > 1)
    work = ScoreRequest(items=items, blind=blind, limits=body.limits)
    job = JobId(services.new_id("sc"))
    new = NewJob(id=job, request=work, subject=counted(len(items), "idea"), priority=body.priority)
    links = item_links("score", job)
    accepted = AcceptedItems(id=job, asked=len(items), links=links)
    answer = await accept_job(request, caller, services, new, links.job, accepted, idempotency_key)
    return await answer_when_ended(answer, request, caller, services, streams, prefer, show_score)


def _scored(place: int, body: ScoredIdeaBody) -> IdeaToScore:
    """Raises HttpProblem."""
    idea = idea_of(body.idea, body.id, f"/items/{place}/idea")
    if body.question is None:
        return IdeaToScore(id=body.id, idea=idea)
    try:
        question = question_of_text(body.question, f"Idea {place}").text
    except InputError as error:
        raise HttpProblem.invalid(str(error), f"/items/{place}/question") from None
    return IdeaToScore(id=body.id, idea=idea, question=question)


async def show_score(services: Services, job: Job) -> ScoreResource:
    return ScoreResource.model_validate(await _ITEMS.shown(services, job))


def score_summary(job: Job) -> ScoreResource:
    return ScoreResource.model_validate(_ITEMS.summarised(job))


_ITEMS.add_outcomes()
_ROUTES = JobRoutes(router, "score", ScoreResource, score_summary, show_score)
_ROUTES.add_list("One's own requests for scores, the newest first, without their items.")
_ROUTES.add_one("The scores as they stand: the outcomes that are there so far, in the order of the ideas.", 422)
_ROUTES.add_cancel()
