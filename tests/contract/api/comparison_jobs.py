"""Submit a comparison of two ideas and store its outcome without a worker."""

from assayer.models import Absent
from assayer_client.comparisons import Comparison, ComparisonResult, DimensionVerdict
from orchestrator.jobs.models import JobVerdict
from orchestrator.jobs.requests import ComparisonRequest
from orchestrator.jobs.results import compute_outcomes
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases
from tests.contract.api.service import Service
from tests.unit.batch_bodies import make_idea_text

TWO_IDEAS = {
    "first": {"title": "Corals", "text": make_idea_text(1)},
    "second": {"title": "Tiles", "text": make_idea_text(2)},
}


async def finish_comparison(service: Service) -> ComparisonResult:
    """Finish the next comparison: the first idea wins."""
    lease = await service.lease_next()
    assert isinstance(lease.request, ComparisonRequest)
    first, second = lease.request.first.id, lease.request.second.id
    overall = DimensionVerdict(dimension="overall", winner="first", reason="clearer")
    answers = (Comparison(first=first, second=second, verdicts=(overall,)),)
    result = ComparisonResult(
        first=first,
        second=second,
        dimension="overall",
        outcomes=compute_outcomes(first, answers),
        answers=answers,
        blind=lease.request.blind,
        models=("judge",),
        prompts=(),
        prompt_tokens=10,
        completion_tokens=5,
        cost_usd=Absent(reason="no price"),
    )
    verdict = JobVerdict(state="succeeded", result=result.model_dump(mode="json"), cost_usd=0.1)
    assert await PgLeases(service.database, QueueSettings()).finish(lease, verdict)
    return result
