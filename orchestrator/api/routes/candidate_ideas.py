"""Routes `/v1/candidate-ideas`: generate candidate ideas for research questions, and choose the best."""

from fastapi import APIRouter
from fastapi.responses import Response

from assayer.curation.records import parse_question
from assayer.errors import InputError
from assayer.models.curation import ResearchQuestion
from assayer_client.curation import (
    CandidateIdeasBody,
    CandidateIdeasPage,
    CandidateIdeasResource,
    ItemsResult,
    QuestionBody,
)
from assayer_client.item_jobs import AcceptedItems
from orchestrator.api.item_routes import ItemRoutes, read_items
from orchestrator.api.job_routes import SubmissionDependency, describe_submission_route
from orchestrator.jobs.requests import CandidateIdeasRequest
from orchestrator.problems import HttpProblem
from orchestrator.web.services import UploadLimitDependency

router = APIRouter(prefix="/v1/candidate-ideas", tags=["candidate_ideas"])
_ITEMS = ItemRoutes(
    router,
    "candidate_ideas",
    "question",
    CandidateIdeasResource,
    CandidateIdeasPage,
    ItemsResult,
    lambda services: services.candidate_ideas,
)


@router.post(**describe_submission_route(AcceptedItems, CandidateIdeasResource))
async def create_candidate_ideas(
    body: CandidateIdeasBody,
    submission: SubmissionDependency,
    uploads: UploadLimitDependency,
) -> Response:
    """Generate candidate ideas for each question, each sampled independently."""
    items = await read_items(submission, uploads, _parse_item, body.items)
    request = CandidateIdeasRequest(
        items=items, candidates=body.candidates, ranking_method=body.ranking_method, limits=body.limits
    )
    return await _ITEMS.accept(submission, request, body.priority, AcceptedItems)


def _parse_item(position: int, body: QuestionBody) -> ResearchQuestion:
    """Convert one question in the request. Raises HttpProblem if it is invalid."""
    try:
        return parse_question(body.question, f"Question {position}", body.id)
    except InputError as error:
        raise HttpProblem.invalid(str(error), f"/items/{position}/question") from None


_ITEMS.add_routes()
