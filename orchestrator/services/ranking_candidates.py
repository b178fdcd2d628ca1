"""The ideas to rank, taken from a request or from a finished batch (with its reports' scores), and known comparisons
between them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from assayer.blinding.blind import RULES
from assayer.models import Absent, Idea, Report
from assayer.models.sender_references import get_own_reference
from assayer.ranking.comparison import sanitise_comparison
from assayer.ranking.known_comparisons import Judging, SubmittedComparison, explain_refused, split_comparisons
from assayer.reports.scores import compute_total_score
from assayer_client import rankings as wire
from assayer_client.comparisons import Comparison
from assayer_client.rankings import MAX_COMPARISONS, ExcludedEvaluation, RankedIdeaBody, UnscoredIdea
from orchestrator.jobs.models import BatchId, Job, JobId, TenantId
from orchestrator.jobs.requests import RankingRequest
from orchestrator.problems import HttpProblem
from orchestrator.services.evaluation_options import EvaluationOptions
from orchestrator.services.job_lookup import build_no_result_problem, find_batch, find_job
from orchestrator.services.submitted_ideas import get_idea_of_report, parse_idea_body
from orchestrator.store import PgJobs
from orchestrator.store.rankings import PgRankings


class RankingBody(wire.RankingBody):
    """A request to rank ideas or a finished batch. The ranking of a batch starts from the scores in its reports."""

    comparisons: tuple[SubmittedComparison, ...] = Field(default=(), max_length=MAX_COMPARISONS)
    """Comparisons from an earlier ranking or comparison job. Those between two of these ideas are not repeated. The
    ideas' names in them are not stored."""


@dataclass
class RankingCandidates:
    """The ideas to rank, in order of submission."""

    ideas: dict[str, Idea] = field(default_factory=dict)
    """Ideas by id."""
    scores: dict[str, float] = field(default_factory=dict)
    excluded: list[ExcludedEvaluation] = field(default_factory=list)
    unscored: list[UnscoredIdea] = field(default_factory=list)
    evaluations: list[JobId] = field(default_factory=list)
    """All evaluations that were considered, including those left out of the ranking."""


async def build_ranking_request(
    body: RankingBody,
    tenant: TenantId,
    jobs: PgJobs,
    rankings: PgRankings,
    options: EvaluationOptions,
) -> tuple[RankingRequest, RankingCandidates]:
    """Return the request for a ranking, and the ideas that it ranks. Raises HttpProblem if the batch has not finished,
    or if the ideas, the cutoff or the known comparisons cannot be used."""
    if body.ideas is not None:
        candidates = await asyncio.to_thread(_parse_candidates, body.ideas)
    else:
        candidates = await _read_candidates(jobs, tenant, BatchId(body.batch or ""))
    _check_candidates(candidates, body)
    blind = _decide_blind(candidates, body, options)
    return (
        RankingRequest(
            ideas=tuple(candidates.ideas.values()),
            shortlist_size=body.shortlist_size,
            scores=candidates.scores,
            comparisons_per_idea=body.comparisons_per_idea,
            known=await _list_known_comparisons(
                body, tenant, jobs, rankings, candidates.ideas, options.judging._replace(rules=RULES if blind else None)
            ),
            blind=blind,
            limits=body.limits,
        ),
        candidates,
    )


def _check_candidates(candidates: RankingCandidates, body: RankingBody) -> None:
    count = len(candidates.ideas)
    pointer = "/ideas" if body.batch is None else "/batch"
    if count < 2:
        raise HttpProblem.invalid(
            f"A ranking needs at least two ideas, but this request has {count or 'none'}.", pointer
        )
    if body.shortlist_size is not None and body.shortlist_size >= count:
        raise HttpProblem.invalid(
            f"The cutoff is {body.shortlist_size}, but it must be lower than the number of ideas ({count}).",
            "/shortlist_size",
        )


def _decide_blind(candidates: RankingCandidates, body: RankingBody, options: EvaluationOptions) -> bool:
    masked_count = sum(idea.blinding is not None for idea in candidates.ideas.values())
    if masked_count and body.blind is False:
        detail = (
            f"{masked_count:,} of the {len(candidates.ideas):,} reports were created in blind mode and contain only "
            "masked text. Omit `blind`, or send the ideas themselves."
        )
        raise HttpProblem.invalid(detail, "/blind")
    return masked_count > 0 or options.is_judged_blind(body.blind, several=True)


def _parse_candidates(bodies: Sequence[RankedIdeaBody]) -> RankingCandidates:
    candidates = RankingCandidates()
    positions: dict[str, int] = {}
    for position, body in enumerate(bodies):
        idea = parse_idea_body(body, body.id or f"idea {position + 1}", f"/ideas/{position}")
        if idea.id in positions:
            detail = f"It has the same text as /ideas/{positions[idea.id]}. Send each idea only once."
            raise HttpProblem.invalid(detail, f"/ideas/{position}")
        positions[idea.id] = position
        candidates.ideas[idea.id] = idea
        if body.score is not None:
            candidates.scores[idea.id] = body.score
    return candidates


async def _read_candidates(jobs: PgJobs, tenant: TenantId, name: BatchId) -> RankingCandidates:
    batch = await find_batch(jobs, tenant, name)
    if batch.finished_at is None:
        raise HttpProblem(
            "not-finished",
            f"The batch {name} has not finished. Its events show when it does. DELETE "
            "cancels the remaining evaluations.",
        )
    candidates = RankingCandidates()
    first_by_text: dict[str, str] = {}
    async for job, _, report in jobs.iterate_batch_rows(tenant, name):
        candidates.evaluations.append(job.id)
        if report is None:
            reason = job.problem.title if job.problem else f"It has no report: its evaluation is {job.state}."
        elif report.idea.id in first_by_text:
            reason = f"It has the same text as {first_by_text[report.idea.id]}."
        else:
            first_by_text[report.idea.id] = job.source or f"row {job.row}"
            _add_report(candidates, job, report)
            continue
        candidates.excluded.append(ExcludedEvaluation(**_get_identifiers(job), reason=reason))
    return candidates


def _add_report(candidates: RankingCandidates, job: Job, report: Report) -> None:
    candidates.ideas[report.idea.id] = get_idea_of_report(report)
    score = compute_total_score(report)
    if isinstance(score, Absent):
        candidates.unscored.append(UnscoredIdea(**_get_identifiers(job), reason=score.reason))
    else:
        candidates.scores[report.idea.id] = score


def _get_identifiers(job: Job) -> dict[str, Any]:
    reference = get_own_reference(job.source, job.row)
    return {"evaluation": job.id, "row": job.row, "source": job.source, "reference": reference}


async def _list_known_comparisons(
    body: RankingBody,
    tenant: TenantId,
    jobs: PgJobs,
    rankings: PgRankings,
    ideas: Mapping[str, Idea],
    judging: Judging,
) -> tuple[Comparison, ...]:
    """Return the known comparisons between two of the ideas. Raises HttpProblem if comparisons were supplied but none
    is between two of the ideas. Also raises it if one was judged under different conditions: model, prompt, idea text,
    masking or use of reports."""
    comparisons = [comparison.drop_names() for comparison in body.comparisons]
    if body.previous_ranking is not None:
        comparisons += await get_comparisons(rankings, await find_job(jobs, tenant, body.previous_ranking, "ranking"))
    split = split_comparisons(comparisons, ideas.keys(), judging)
    pointer = "/comparisons" if body.comparisons else "/previous_ranking"
    if split.refused:
        detail = f"{explain_refused(split.refused, judging)} Omit them, or change `blind` if that is the reason."
        raise HttpProblem.invalid(detail, pointer)
    if comparisons and not split.usable:
        raise HttpProblem.invalid(
            f"None of the {len(comparisons):,} comparisons is between two of these {len(ideas):,} ideas. An idea "
            "whose text has changed counts as a different idea.",
            pointer,
        )
    return await asyncio.to_thread(lambda: tuple(sanitise_comparison(comparison) for comparison in split.usable))


async def get_comparisons(rankings: PgRankings, job: Job) -> Sequence[Comparison]:
    """Return a ranking's comparisons. Raises HttpProblem if the ranking has no result."""
    comparisons = await rankings.list_comparisons(job.tenant, job.id)
    if not comparisons and await rankings.get_summary(job.tenant, job.id) is None:
        raise build_no_result_problem(job)
    return comparisons
