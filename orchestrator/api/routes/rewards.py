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
from orchestrator.api.job_routes import (
    SubmissionDependency,
    build_report_response,
    describe_report_response,
    describe_submission_route,
)
from orchestrator.api.reward_bodies import build_named_item, parse_composition
from orchestrator.jobs.models import Job
from orchestrator.jobs.requests import RewardsRequest
from orchestrator.problems import HttpProblem, build_not_found_problem, require
from orchestrator.services.job_lookup import build_no_result_problem
from orchestrator.web.authentication import Reader
from orchestrator.web.content_negotiation import require_media_type
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/v1/rewards", tags=["rewards"])

_RENDERERS = {"text/markdown": render_debate_markdown, "text/html": render_debate_html}
_ITEMS = ItemRoutes(
    router, "rewards", "item", RewardsResource, RewardItems, RewardsResult, lambda services: services.rewards
)
_DEBATE_RESPONSE = describe_report_response("The debate, in the format preferred by `Accept`", tuple(_RENDERERS))

ItemPosition = Annotated[int, Path(ge=0, le=2**31 - 1, description="The item's position in the request, from 0")]


@router.post(**describe_submission_route(AcceptedRewards, RewardsResource))
async def create_rewards(body: RewardsBody, submission: SubmissionDependency) -> Response:
    """Request a reward for each item: whether its idea matches the core methodology of its abstract."""
    composition = None if body.composition is None else parse_composition(body.composition)
    judge = submission.services.judges.resolve(body.judge) if composition is None else None
    items = tuple(map(build_named_item, body.items))
    request = RewardsRequest(items=items, judge=judge, composition=composition, limits=body.limits)
    judge_name = judge or (composition.name if composition else "")
    return await _ITEMS.accept(submission, request, body.priority, AcceptedRewards, judge=judge_name)


@router.get("/{id}/items/{item}/debate", response_class=Response, responses={200: _DEBATE_RESPONSE})
async def get_debate(
    id: PathId, item: ItemPosition, context: Reader, accept: Annotated[str | None, Header()] = None
) -> Response:
    """Return an item and how it was judged, as Markdown or HTML: the judges' statements and votes, and the quotes found
    in the texts. If the item has no reward, the status is 409 with the reason."""
    media_type = require_media_type(accept, tuple(_RENDERERS))
    job = await context.find_job(id, "rewards")
    item_record = require(
        await context.services.rewards.get_item(job.id, item), build_not_found_problem("item", f"{item} of {id}")
    )
    reward = _require_reward(item_record.outcome, job)
    # Rendered in a thread, because debates are long and would block the event loop.
    text = await asyncio.to_thread(_RENDERERS[media_type], item_record.item.item, reward)
    return build_report_response(text, media_type, "report.css", "debate.css")


def _require_reward(outcome: RewardOutcome | None, job: Job) -> Reward:
    """Return the reward. If there is none, raises HttpProblem with the reason."""
    if outcome is not None and outcome.reward is not None:
        return outcome.reward
    if outcome is not None and outcome.problem is not None:
        raise HttpProblem.from_job_problem(outcome.problem, job.state)
    if job.state in ("queued", "running"):
        detail = (
            f"This item has not been judged yet: its job is {job.state}. Follow the job's events to see when it ends."
        )
        raise HttpProblem("not-finished", detail, state=job.state)
    raise build_no_result_problem(job)


_ITEMS.add_routes()
