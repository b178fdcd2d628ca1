"""Routes `/v1/scores`: scores from 1 to 5 for the novelty, feasibility and effectiveness of each idea."""

from fastapi import APIRouter
from fastapi.responses import Response

from assayer.curation.records import parse_question
from assayer.errors import InputError
from assayer_client.curation import ItemsResult, ScoreBody, ScoredIdeaBody, ScoreItems, ScoreResource
from assayer_client.item_jobs import AcceptedItems
from orchestrator.api.item_routes import ItemRoutes, read_items
from orchestrator.api.job_routes import SubmissionDependency, describe_submission_route
from orchestrator.jobs.requests import IdeaToScore, ScoreRequest
from orchestrator.problems import HttpProblem
from orchestrator.services.submitted_ideas import parse_idea_body
from orchestrator.web.services import UploadLimitDependency

router = APIRouter(prefix="/v1/scores", tags=["scores"])
_ITEMS = ItemRoutes(router, "score", "idea", ScoreResource, ScoreItems, ItemsResult, lambda services: services.scores)


@router.post(**describe_submission_route(AcceptedItems, ScoreResource))
async def create_score(body: ScoreBody, submission: SubmissionDependency, uploads: UploadLimitDependency) -> Response:
    """Request scores for each idea, each judged independently."""
    items = await read_items(submission, uploads, _parse_idea, body.items)
    blind = submission.services.options.is_judged_blind(body.blind, several=len(items) > 1)
    request = ScoreRequest(items=items, blind=blind, limits=body.limits)
    return await _ITEMS.accept(submission, request, body.priority, AcceptedItems)


def _parse_idea(position: int, body: ScoredIdeaBody) -> IdeaToScore:
    """Convert one idea in the request. Raises HttpProblem if it is invalid."""
    idea = parse_idea_body(body.idea, body.id, f"/items/{position}/idea")
    if body.question is None:
        return IdeaToScore(id=body.id, idea=idea)
    try:
        question = parse_question(body.question, f"Idea {position}").text
    except InputError as error:
        raise HttpProblem.invalid(str(error), f"/items/{position}/question") from None
    return IdeaToScore(id=body.id, idea=idea, question=question)


_ITEMS.add_routes()
