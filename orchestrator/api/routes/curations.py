"""Routes `/v1/curations`: derive research questions from papers without revealing the papers' methods."""

from functools import partial

from fastapi import APIRouter
from fastapi.responses import Response

from assayer.curation.records import parse_paper_record
from assayer.errors import InputError
from assayer.models.curation import SourcePaper
from assayer_client.curation import (
    CuratedPaperBody,
    CurationBody,
    CurationItems,
    CurationResource,
    ItemsResult,
)
from assayer_client.item_jobs import AcceptedItems
from orchestrator.api.item_routes import ItemRoutes, read_items
from orchestrator.api.job_routes import SubmissionDependency, describe_submission_route
from orchestrator.jobs.requests import CurationRequest
from orchestrator.problems import HttpProblem
from orchestrator.web.services import UploadLimitDependency

router = APIRouter(prefix="/v1/curations", tags=["curations"])
_ITEMS = ItemRoutes(
    router,
    "curation",
    "paper",
    CurationResource,
    CurationItems,
    ItemsResult,
    lambda services: services.curations,
)


@router.post(**describe_submission_route(AcceptedItems, CurationResource))
async def create_curation(
    body: CurationBody,
    submission: SubmissionDependency,
    uploads: UploadLimitDependency,
) -> Response:
    """Classify each paper as a new idea, a survey or an evaluation, and derive the question that it answers."""
    parse_paper = partial(_parse_paper, submission.services.max_abstract_chars)
    items = await read_items(submission, uploads, parse_paper, body.items)
    request = CurationRequest(items=items, limits=body.limits)
    return await _ITEMS.accept(submission, request, body.priority, AcceptedItems)


def _parse_paper(max_abstract_chars: int, position: int, body: CuratedPaperBody) -> SourcePaper:
    """Convert one paper in the request. Raises HttpProblem if it is invalid."""
    try:
        return parse_paper_record(body.model_dump(), f"Paper {position}", max_abstract_chars)
    except InputError as error:
        raise HttpProblem.invalid(str(error), f"/items/{position}") from None


_ITEMS.add_routes()
