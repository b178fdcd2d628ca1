"""Routes `/v1/evaluations/{id}/llm-requests`: the language model requests behind a report, including their messages."""

from fastapi import APIRouter

from assayer_client.llm_requests import LlmRequest, LlmRequestContents
from assayer_client.resources import Page
from orchestrator.jobs.models import Job
from orchestrator.services.llm_requests import find_llm_requests, get_llm_request_contents
from orchestrator.web.authentication import Reader
from orchestrator.web.path_parameters import EvaluationInPath, LlmRequestNumber
from orchestrator.web.services import Services

router = APIRouter(prefix="/v1/evaluations/{id}/llm-requests", tags=["evaluations"])


@router.get("")
async def list_llm_requests(context: Reader, job: EvaluationInPath) -> Page[LlmRequest]:
    """List all of an evaluation's model requests in the order in which they ended."""
    return Page(items=tuple(llm_request for llm_request, _ in await _load_requests(context.services, job)), next=None)


@router.get("/{number}")
async def get_llm_request(number: LlmRequestNumber, context: Reader, job: EvaluationInPath) -> LlmRequestContents:
    """Return a model request with its messages and the response that was used."""
    return await get_llm_request_contents(
        context.services.call_contents, job, await _load_requests(context.services, job), number
    )


async def _load_requests(services: Services, job: Job) -> list[tuple[LlmRequest, str]]:
    return await find_llm_requests(services.ledger, job, await services.events.list_all(job.id), services.clock.now())
