"""Rankings that are submitted over the API and finished without a worker."""

from typing import Any

import httpx2

from assayer.ranking.judged_texts import mask_idea
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import rank_ideas
from assayer_client.rankings import AcceptedRanking
from orchestrator.jobs.models import JobVerdict
from orchestrator.jobs.requests import RankingRequest
from orchestrator.jobs.results import RankingResult
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases
from tests.contract.api.evaluated_calls import evaluate_call_of_six
from tests.contract.api.service import Service
from tests.unit.batch_bodies import WORDS
from tests.unit.judges import JudgeLlm, judge_correctly, make_ranking_run

RANKED_IDEAS: list[dict[str, Any]] = [
    {"id": f"P-{number}", "title": f"=Plan {number}", "text": f"Idea of worth {number}. {WORDS}"} for number in range(4)
]


async def submit_ranking(client: httpx2.AsyncClient, **body: Any) -> AcceptedRanking:
    """Submit a ranking, of `RANKED_IDEAS` unless the body names other ideas."""
    answer = await client.post("/v1/rankings", json={"ideas": RANKED_IDEAS} | body)
    assert answer.status_code == 202, answer.text
    accepted_ranking = AcceptedRanking.model_validate_json(answer.content)
    assert answer.headers["location"] == accepted_ranking.links.ranking
    return accepted_ranking


async def finish_ranking(service: Service, judge: JudgeLlm | None = None) -> RankingRequest:
    """Rank the ideas of the next job, by default with a judge who sees the worth of each, and return its request."""
    lease = await service.lease_next()
    work = lease.request
    assert isinstance(work, RankingRequest)
    ideas = [mask_idea(idea) for idea in work.ideas] if work.blind else work.ideas
    scores: dict[Any, float] = {idea.id: work.scores[idea.id] for idea in work.ideas if idea.id in work.scores}
    outcome = await rank_ideas(
        ideas,
        judge or JudgeLlm(judge_correctly),
        make_ranking_run(),
        RankingOptions(),
        work.shortlist_size,
        scores,
        work.known,
    )
    result = RankingResult(ranking=outcome.ranking, comparisons=outcome.comparisons)
    verdict = JobVerdict(state="succeeded", result=result.model_dump(mode="json"))
    assert await PgLeases(service.database, QueueSettings()).finish(lease, verdict)
    return work


async def rank_call(service: Service, call: str, **body: Any) -> str:
    """Rank the proposals of a call over the API and return the id of the finished ranking."""
    answer = await service.machine.post("/v1/rankings", json={"batch": call, "shortlist_size": 2} | body)
    assert answer.status_code == 202, answer.text
    await finish_ranking(service)
    return str(answer.json()["id"])


async def create_ranked_call(service: Service) -> tuple[str, str]:
    """Return a call of six proposals and its ranking."""
    call = await evaluate_call_of_six(service)
    return call, await rank_call(service, call, comparisons_per_idea=10)


async def list_proposal_ids(client: httpx2.AsyncClient, call: str) -> list[str]:
    """Return the ids of the evaluations of a call in the order of their rows."""
    evaluations = (await client.get(f"/v1/batches/{call}/evaluations")).json()["items"]
    return [evaluation["id"] for evaluation in sorted(evaluations, key=lambda evaluation: evaluation["row"])]
