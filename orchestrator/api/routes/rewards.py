"""Routes `/v1/rewards`: rewards for training, one per item. A reward states whether an idea matches a reference's
methodology."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Header, Path
from fastapi.responses import Response

from assayer.reports.debate_page import render_debate_html, render_debate_markdown
from assayer_client.rewards import (
    AcceptedRewards,
    Reward,
    RewardItems,
    RewardOutcome,
    RewardsBody,
    RewardsResource,
    RewardsResult,
)
from orchestrator.api.item_routes import ItemRoutes
from orchestrator.api.job_routes import SubmissionDependency, report_representations, report_response, submission_route
from orchestrator.api.reward_bodies import composition_of, named_item
from orchestrator.jobs.models import Job
from orchestrator.jobs.requests import RewardsRequest
from orchestrator.problems import HttpProblem, not_found, required
from orchestrator.services.job_lookup import no_result_problem
from orchestrator.web.authentication import Reader
from orchestrator.web.content_negotiation import negotiated_media_type
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/v1/rewards", tags=["rewards"])

_RENDERERS = {"text/markdown": render_debate_markdown, "text/html": render_debate_html}
_ITEMS = ItemRoutes(
    router, "rewards", "item", RewardsResource, RewardItems, RewardsResult, lambda services: services.rewards
)
_DEBATE = report_representations("The debate, in the format preferred by `Accept`", tuple(_RENDERERS))

ItemPlace = Annotated[int, Path(ge=0, le=2**31 - 1, description="The item's position in the request, from 0")]


@router.post(**submission_route(AcceptedRewards, RewardsResource))
async def create_rewards(body: RewardsBody, submission: SubmissionDependency) -> Response:
    """Request a reward for each item: whether its idea matches the core methodology of its abstract."""
    own_composition = None if body.composition is None else composition_of(body.composition)
    judge = submission.services.judges.resolve(body.judge) if own_composition is None else None
    items = tuple(map(named_item, body.items))
    work = RewardsRequest(items=items, judge=judge, composition=own_composition, limits=body.limits)
    judge_name = judge or (own_composition.name if own_composition else "")
    return await _ITEMS.accept(submission, work, body.priority, AcceptedRewards, judge=judge_name)


@router.get("/{id}/items/{item}/debate", response_class=Response, responses={200: _DEBATE})
async def get_debate(
    id: PathId, item: ItemPlace, context: Reader, accept: Annotated[str | None, Header()] = None
) -> Response:
    """Return an item and how it was judged, as Markdown or HTML: the judges' statements and votes, and the quotes found
    in the texts. If the item has no reward, the status is 409 with the reason."""
    media_type = negotiated_media_type(accept, tuple(_RENDERERS))
    job = await context.find_job(id, "rewards")
    item_record = required(await context.services.rewards.item(job.id, item), not_found("item", f"{item} of {id}"))
    reward = _reward_of(item_record.outcome, job)
    # Rendered in a thread, because debates are long and would block the event loop.
    text = await asyncio.to_thread(_RENDERERS[media_type], item_record.item.item, reward)
    return report_response(text, media_type, "report.css", "debate.css")


def _reward_of(outcome: RewardOutcome | None, job: Job) -> Reward:
    """Return the reward. If there is none, raises HttpProblem with the reason."""
    if outcome is not None and outcome.reward is not None:
        return outcome.reward
    if outcome is not None and outcome.problem is not None:
        raise HttpProblem.of(outcome.problem, job.state)
    if job.state in ("queued", "running"):
        detail = (
            f"This item has not been judged yet: its job is {job.state}. Follow the job's events to see when it ends."
        )
        raise HttpProblem("not-finished", detail, state=job.state)
    raise no_result_problem(job)


_ITEMS.add_routes()
