"""Ranking of a whole call with a realistic number of comparisons, stored in the same way as by a worker."""

import datetime as dt
import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from assayer.models import Absent, Idea, RunUsage
from assayer.ranking.options import DEFAULT_DIMENSIONS, RankingOptions
from assayer_client.comparisons import Comparison, DimensionVerdict
from assayer_client.rankings import Band, Interval, Judge, RankedIdea, Ranking
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import JobId, JobVerdict, TenantId
from orchestrator.jobs.requests import RankingRequest
from orchestrator.jobs.results import RankingResult
from orchestrator.jobs.submissions import NewJob
from orchestrator.settings import QueueSettings
from orchestrator.store import Database, PgJobs, PgLeases

RANKING = "rk_bench"
_REASON = (
    "It says which measurement would count against its hypothesis and has the data for it, while the other leaves open "
    "how its effect would be told from drift."
)
"""Reason of typical length."""
_WINNERS: tuple[Literal["first", "second", "tie"], ...] = ("first", "second", "tie")


async def add_ranking(database: Database, tenant: TenantId, ideas: Sequence[Idea], cutoff: int) -> None:
    """Store a ranking of the ideas in the given order; print how long each step took."""
    jobs, leases = PgJobs(database), PgLeases(database, QueueSettings())
    began = time.perf_counter()
    request = RankingRequest(ideas=tuple(ideas), shortlist_size=cutoff)
    job = NewJob(id=JobId(RANKING), request=request, subject=f"large: {len(ideas):,} proposals", priority="batch")
    await jobs.add(tenant, [job])
    submitted = time.perf_counter()
    (lease,) = await leases.acquire("bench", FreeSlots(1, 0))
    result = _build_result(ideas, cutoff)
    result_json = result.model_dump(mode="json")
    verdict_started = time.perf_counter()
    if not await leases.finish(lease, JobVerdict(state="succeeded", result=result_json, cost_usd=50.0)):
        raise RuntimeError("The ranking could not be written.")
    size = len(result.model_dump_json()) / 1e6
    print(
        f"A ranking of {len(ideas):,} on {len(result.comparisons):,} comparisons, {size:.0f} MB as JSON: "
        f"submitted in {submitted - began:.1f} s, its verdict written in {time.perf_counter() - verdict_started:.1f} "
        "s\n",
        flush=True,
    )


def _build_result(ideas: Sequence[Idea], cutoff: int) -> RankingResult:
    rng = random.Random(0)
    comparisons = _generate_comparisons(ideas, round(RankingOptions().comparisons_per_idea * len(ideas)), rng)
    comparison_counts = Counter(
        idea_id for comparison in comparisons for idea_id in (comparison.first, comparison.second)
    )
    count = len(ideas)
    ranked_ideas = tuple(
        RankedIdea(
            id=idea.id,
            title=idea.title,
            source=idea.source,
            rank=rank,
            ranks=Interval(low=max(1, rank - 200), high=min(count, rank + 200)),
            strength=2 - 4 * rank / count,
            strengths=Interval(low=1.4 - 4 * rank / count, high=2.6 - 4 * rank / count),
            dimension_strengths={
                dimension.name: 2 - 4 * rank / count + rng.uniform(-1, 1) for dimension in DEFAULT_DIMENSIONS
            },
            comparisons=comparison_counts[idea.id],
            shortlist_probability=min(1.0, max(0.0, (cutoff + 200 - rank) / 400)),
            band=_choose_band(rank, cutoff),
            baseline_predictions={},
        )
        for rank, idea in enumerate(ideas, start=1)
    )
    judge = Judge(
        comparisons=len(comparisons),
        submitted_comparisons=0,
        failed=12,
        ties=len(comparisons) // 3,
        bias=0.1,
        bias_interval=Interval(low=0.05, high=0.15),
        pairs_in_both_orders=len(comparisons) // 10,
        contradictions=len(comparisons) // 40,
        triangles=900,
        cycles=60,
    )
    ranking = Ranking(
        id=RANKING,
        dimension="overall",
        dimensions=DEFAULT_DIMENSIONS,
        shortlist_size=cutoff,
        confidence=0.95,
        ideas=ranked_ideas,
        judge=judge,
        has_starting_scores=True,
        stopped_early=None,
        models=("bench",),
        prompts=(),
        faults=(),
        dropped=(),
        prompt_tokens=0,
        completion_tokens=0,
        cost_usd=50.0,
        baselines=Absent(reason="none"),
        assayer_version="0",
        usage=RunUsage(
            started_at=dt.datetime.now(dt.UTC),
            wall_seconds=0.0,
            llm_requests_paid=len(comparisons),
            llm_requests_cached=0,
            paid_usd=50.0,
        ),
    )
    return RankingResult(ranking=ranking, comparisons=comparisons)


def _choose_band(rank: int, cutoff: int) -> Band:
    return "in" if rank < cutoff - 180 else "human" if rank < cutoff + 180 else "out"


def _generate_comparisons(ideas: Sequence[Idea], count: int, rng: random.Random) -> tuple[Comparison, ...]:
    """Return comparisons of the seventh and eighth idea in both orders, then of random pairs, each at most once per
    order."""
    pairs = {(6, 7): None, (7, 6): None}
    while len(pairs) < count:
        first, second = rng.randrange(len(ideas)), rng.randrange(len(ideas))
        if first != second:
            pairs[first, second] = None
    return tuple(
        Comparison(
            first=ideas[first].id,
            second=ideas[second].id,
            verdicts=tuple(
                DimensionVerdict(dimension=dimension.name, winner=rng.choice(_WINNERS), reason=_REASON)
                for dimension in DEFAULT_DIMENSIONS
            ),
        )
        for first, second in pairs
    )
