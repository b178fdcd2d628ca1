"""`/v1/rewards`: does each idea match the methodology of a reference? Rewards for trainers, item by item."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Header, Path, Request
from fastapi.responses import Response

from assayer.models.reward import Reward
from assayer.reports.debate_page import as_debate_html, as_debate_markdown
from orchestrator.api.authentication import Reader, Submitter
from orchestrator.api.common_schemas import JobResource, Resource
from orchestrator.api.content_negotiation import negotiated_media_type
from orchestrator.api.idempotency import IdempotencyKey
from orchestrator.api.identifiers import PathId
from orchestrator.api.item_routes import ItemRoutes, ItemsPage, counted
from orchestrator.api.job_routes import (
    JobRoutes,
    PreferHeader,
    accept_job,
    answer_when_ended,
    find_job,
    job_fields,
    no_result_problem,
    report_representations,
    report_response,
    submission_route,
)
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import HttpProblem, not_found
from orchestrator.api.reward_bodies import RewardsBody
from orchestrator.api.services import Services, ServicesDependency, StreamLimitDependency
from orchestrator.jobs.models import Job, JobId, JobState
from orchestrator.jobs.requests import RewardsRequest
from orchestrator.jobs.results import RewardOutcome, RewardsResult
from orchestrator.jobs.submissions import NewJob

__all__ = ["AcceptedRewards", "RewardItems", "RewardsLinks", "RewardsResource", "router"]


class RewardsLinks(Resource):
    rewards: str
    items: str
    """Outcomes in the order in which they come."""
    events: str


class AcceptedRewards(Resource):
    """The items are stored, and each will end in a reward or a problem."""

    id: str
    state: JobState = "queued"
    asked: int
    """How many items were sent in."""
    judge: str
    links: RewardsLinks


class RewardsResource(JobResource):
    asked: int | None
    """How many items were sent in; null in lists."""
    items: tuple[RewardOutcome, ...] | None
    """The outcomes that are there so far, in the order of the items; null in lists."""
    result: RewardsResult | None
    """How many ended how; null until the state is done, and in lists."""
    links: RewardsLinks


class RewardItems(ItemsPage):
    """Outcomes in the order in which they came."""

    items: tuple[RewardOutcome, ...]


router = APIRouter(prefix="/v1/rewards", tags=["rewards"])

_RENDERERS = {"text/markdown": as_debate_markdown, "text/html": as_debate_html}
_ITEMS = ItemRoutes(router, "rewards", RewardItems, lambda services: services.rewards)
_DEBATE = report_representations("The debate, in the form that `Accept` prefers", tuple(_RENDERERS))

ItemPlace = Annotated[int, Path(ge=0, le=2**31 - 1, description="Its place in the request, from 0")]


@router.post(**submission_route(accepted=AcceptedRewards, ended=RewardsResource))
async def ask(
    body: RewardsBody,
    request: Request,
    caller: Submitter,
    services: ServicesDependency,
    streams: StreamLimitDependency,
    idempotency_key: IdempotencyKey = None,
    prefer: PreferHeader = None,
) -> Response:
    """Asks for a reward for each item: does the idea match the core methodology of the abstract?"""
    job, own = JobId(services.new_id("rw")), body.composition
    judge = services.judges.checked(body.judge) if own is None else None
    items = tuple(item.named() for item in body.items)
    work = RewardsRequest(items=items, judge=judge, composition=own, limits=body.limits)
    new = NewJob(id=job, request=work, subject=counted(len(items), "item"), priority=body.priority)
    links = rewards_links(job)
    accepted = AcceptedRewards(id=job, asked=len(items), judge=judge or (own.name if own else ""), links=links)
    answer = await accept_job(request, caller, services, new, links.rewards, accepted, idempotency_key)
    return await answer_when_ended(answer, request, caller, services, streams, prefer, show_rewards)


_ITEMS.add_outcomes()


@router.get(
    "/{id}/items/{item}/debate",
    response_class=Response,
    responses={200: _DEBATE, **problem_responses(404, 406, 409, 410, 422)},
)
async def debate(
    id: PathId,
    item: ItemPlace,
    caller: Reader,
    services: ServicesDependency,
    accept: Annotated[str | None, Header()] = None,
) -> Response:
    """One item and how it was judged, as Markdown or a page: who said what, votes, quotes found or not. 409 and why
    where it has no reward."""
    media_type = negotiated_media_type(accept, tuple(_RENDERERS))
    job = await find_job(services, caller.tenant, id, "rewards")
    asked = await services.rewards.item(job.id, item)
    if asked is None:
        raise not_found("item", f"{item} of {id}")
    reward = _reward_of(asked.outcome, job)
    # In a thread: debates are long, and the event loop serves other requests meanwhile.
    text = await asyncio.to_thread(_RENDERERS[media_type], asked.item.item, reward)
    return report_response(text, media_type, "report.css", "debate.css")


def _reward_of(outcome: RewardOutcome | None, job: Job) -> Reward:
    """Raises HttpProblem (409, 410), which says why there is none."""
    if outcome is not None and outcome.reward is not None:
        return outcome.reward
    if outcome is not None and outcome.problem is not None:
        raise HttpProblem.of(outcome.problem, job.state)
    if job.state in ("queued", "running"):
        detail = f"This item has not been judged yet: its job is {job.state}. Its events tell when it is."
        raise HttpProblem("not-finished", detail, state=job.state)
    raise no_result_problem(job)


async def show_rewards(services: Services, job: Job) -> RewardsResource:
    return RewardsResource(
        **job_fields(job),
        asked=await services.rewards.asked(job.id),
        items=await services.rewards.outcomes(job.id),
        result=await services.jobs.result(job.tenant, job.id, RewardsResult) if job.state == "done" else None,
        links=rewards_links(job.id),
    )


def rewards_summary(job: Job) -> RewardsResource:
    return RewardsResource(**job_fields(job), asked=None, items=None, result=None, links=rewards_links(job.id))


def rewards_links(job: str) -> RewardsLinks:
    own = f"/v1/rewards/{job}"
    return RewardsLinks(rewards=own, items=f"{own}/items", events=f"{own}/events")


_ROUTES = JobRoutes(router, "rewards", RewardsResource, rewards_summary, show_rewards)
_ROUTES.add_list("One's own requests for rewards, the newest first, without their items.")
_ROUTES.add_one("The rewards as they stand: those there are so far, in the order of the items.", 422)
_ROUTES.add_cancel()
