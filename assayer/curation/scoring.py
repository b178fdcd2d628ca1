"""Score a single idea on all dimensions, with one LLM request."""

from collections.abc import Sequence

from assayer.curation.options import CurationOptions
from assayer.curation.schemas import ScoringEntry, ScoringQuestion
from assayer.curation.tasks import build_scoring_task
from assayer.llm import Llm, ask
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.models import Absent, Idea
from assayer.ranking.judged_texts import format_shown_text
from assayer.ranking.options import RankingOptions
from assayer.run.concurrency import Failed, catch_failure
from assayer.run.run import Run
from assayer_client.curation import DimensionScore, IdeaScores

_NOT_JUDGED = "According to the model, the text says too little to judge this"


async def score_idea(
    idea: Idea,
    dimensions: tuple[RubricDimension, ...],
    llm: Llm,
    run: Run,
    options: CurationOptions,
    question: str | None = None,
) -> IdeaScores:
    """Score an idea on every dimension. If there is no usable answer, all scores are absent. Raises LlmRejected,
    LlmUnavailable or ComponentUnavailable if the endpoint or a service component fails."""
    shown_text = format_shown_text(idea, RankingOptions(idea_chars=options.idea_chars))
    scoring_question = ScoringQuestion(idea=shown_text, question=question, dimensions=dimensions)
    answer = await catch_failure(ask(llm, build_scoring_task(dimensions), scoring_question, run))
    if isinstance(answer, Failed):
        run.journal.record_failure("scores of an idea", answer.error)
        absent = Absent(reason=str(answer.error))
        scores = tuple(DimensionScore(dimension=dimension.name, score=absent) for dimension in dimensions)
    else:
        scores = tuple(
            _build_score(dimension, answer.get_entry(number)) for number, dimension in enumerate(dimensions, start=1)
        )
    return IdeaScores(
        id=idea.id,
        title=idea.title,
        source=idea.source,
        scores=scores,
        mean=_compute_mean(scores, dimensions),
        blinding=idea.blinding,
        flags=idea.flags,
    )


def _build_score(dimension: RubricDimension, entry: ScoringEntry) -> DimensionScore:
    absent = Absent(reason=f"{_NOT_JUDGED}: {entry.reason}")
    return DimensionScore(
        dimension=dimension.name,
        score=absent if entry.score is None else entry.score,
        argument_for=entry.speaks_for,
        argument_against=entry.speaks_against,
        reason=entry.reason,
    )


def _compute_mean(scores: Sequence[DimensionScore], dimensions: Sequence[RubricDimension]) -> float | Absent:
    shares = list[float]()
    for score, dimension in zip(scores, dimensions, strict=True):
        if isinstance(score.score, Absent):
            return Absent(reason=f"There is no score for {dimension.name}.")
        shares.append(dimension.compute_share(score.score))
    return round(sum(shares) / len(shares), 6)
