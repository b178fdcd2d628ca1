"""SciCompanion's own score of each submission, asked of the endpoint of the settings."""

import asyncio
from collections.abc import Mapping, Sequence

from assayer.methods.scicompanion import METHOD
from assayer.methods.scicompanion.evaluation import EVALUATION
from assayer.models import Absent, Report
from benchmarks.quality import runs
from benchmarks.quality.given import Given
from benchmarks.quality.kept import Kept, Outcome, Spent, do_the_rest, reasons, usd
from benchmarks.quality.points import Silent
from benchmarks.quality.venue_scores.submissions import RatedSubmission
from cluster.engine import Engine, open_engine

__all__ = ["RatingOutcome", "ask_ratings", "rating_outcome", "ratings_by_model"]


class RatingOutcome(Outcome):
    score: float | None = None
    """On the scale of the method's dimensions, 1 to 10 unless others are set; None where `failure` says why."""


def ratings_by_model(given: Given, submissions: Sequence[RatedSubmission]) -> tuple[Mapping[str, float], list[str]]:
    """Scores by submission, and lines on those without one."""
    outcomes = asyncio.run(_asked(given, submissions))
    failures = [one for one in outcomes if one.failure]
    lines = [f"{len(outcomes)} evaluations, {len(failures)} without a score.", *reasons(failures)]
    return {one.item: one.score for one in outcomes if one.score is not None}, lines


async def _asked(given: Given, submissions: Sequence[RatedSubmission]) -> list[RatingOutcome]:
    made = {"method": METHOD, "options": given.settings.scicompanion.model_dump(mode="json")}
    kept = runs.kept_file(given.asked, given.settings, "venue scores", RatingOutcome, made)

    async def work(some: Sequence[tuple[str, int]]) -> None:
        wanted = {name for name, _ in some}
        async with open_engine(given.settings, (METHOD,)) as engine:
            await ask_ratings(engine, [one for one in submissions if one.id in wanted], kept)

    items = [(one.id, 0) for one in submissions]
    await runs.carefully(given.asked, given.settings, "venue scores", items, kept, work)
    return kept.outcomes


async def ask_ratings(engine: Engine, submissions: Sequence[RatedSubmission], kept: Kept[RatingOutcome]) -> None:
    """What was not evaluated yet."""

    async def one(submission: RatedSubmission, seed: int) -> RatingOutcome:
        idea = submission.idea
        return rating_outcome(submission.id, (await engine.evaluate(idea, METHOD, idea.cutoff, Silent())).report)

    def failed(name: str, seed: int, why: str) -> RatingOutcome:
        return RatingOutcome(item=name, seed=seed, failure=why)

    await do_the_rest(((one, one.id, 0) for one in submissions), kept, one, failed)


def rating_outcome(name: str, report: Report) -> RatingOutcome:
    score = next((part.score for part in report.parts if part.name == EVALUATION), Absent(reason="no evaluation"))
    made = report.provenance
    return RatingOutcome(
        item=name,
        seed=0,
        failure=score.reason if isinstance(score, Absent) else "",
        score=None if isinstance(score, Absent) else score.value,
        spent=Spent(
            calls=report.coverage.llm_calls,
            prompt_tokens=made.prompt_tokens,
            completion_tokens=made.completion_tokens,
            usd=usd(made.cost_usd),
        ),
    )
