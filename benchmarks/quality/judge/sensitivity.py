"""Sensitivity: does a review name a flaw planted in a copy of the plan, and does the score fall?"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from assayer.models import Frozen, Idea
from assayer.run.concurrency import Failed, catch_failure, gather_all
from benchmarks.quality.grapheval.reporting import format_row
from benchmarks.quality.judge.answering import ReviewSource, WrittenReview, make_neutral_copy
from benchmarks.quality.judge.intervals import format_statistic
from benchmarks.quality.judge.tasks import (
    FLAW,
    FLAW_CHECK,
    FLAW_KINDS,
    FlawCheckAnswer,
    FlawCheckQuestion,
    FlawQuestion,
    PlantedFlaw,
    apply_edits,
    list_offered_kinds,
)
from benchmarks.quality.outcome_file import Outcome
from benchmarks.quality.rubrics import COVERAGE, CoverageQuestion

_MIN_NAMED_SCORE = 4
"""Lowest score of the coverage judge at which a flaw counts as named."""
_HEADS = (
    "review by",
    "pairs",
    "failed",
    "no score",
    "flaw named",
    "named in the original too",
    "named in the copy only",
    "score falls",
    "stays",
    "rises",
    "mean change",
)
_MAX_SAME_DIFFERENCE = 0.05
"""Largest difference, in points out of 10, at which two scores count as the same."""


class FlawedCopy(Frozen):
    """A flaw planted in a plan, and the check of the pair."""

    made_with: list[str | int]
    """Idea id, number of the first kind offered, and prompt digests."""
    flaw: PlantedFlaw
    check: FlawCheckAnswer


class PairReview(Frozen):
    """Reviews by one contender of a plan and of its flawed copy."""

    named: bool | None = None
    """Whether the review of the copy names the flaw; None without a review or a judgement."""
    named_in_original: bool | None = None
    score: float | None = None
    """Score of the original, out of 10."""
    score_of_copy: float | None = None
    failure: str = ""


class SensitivityOutcome(Outcome):
    kind: str = ""
    statement: str = ""
    rejected: str = ""
    """Why the pair is not a fair test; empty if the pair was reviewed."""
    words: int = 0
    words_of_copy: int = 0
    reviews: dict[str, PairReview] = Field(default_factory=dict)


async def get_flawed_copy(reviewer: ReviewSource, idea: Idea, first_kind: int, folder: Path) -> FlawedCopy:
    """Return the flawed copy cached in `folder`, or create, check and cache one. Raises AssayerError."""
    made_with: list[str | int] = [idea.id, first_kind, FLAW.digest, FLAW_CHECK.digest]
    file = folder / f"{idea.source}-{first_kind}.json"
    if file.is_file():
        try:
            cached_copy = FlawedCopy.model_validate_json(file.read_text("utf-8"))
        except ValidationError:
            cached_copy = None
        if cached_copy and cached_copy.made_with == made_with:
            return cached_copy
    flaw, _ = await reviewer.ask(FLAW, FlawQuestion(plan=idea.text, kinds=list_offered_kinds(first_kind)), idea.source)
    question = FlawCheckQuestion(plan=idea.text, edits=tuple(flaw.edits), statement=flaw.statement)
    check, _ = await reviewer.ask(FLAW_CHECK, question, idea.source)
    copy = FlawedCopy(made_with=made_with, flaw=flaw, check=check)
    file.write_text(json.dumps(copy.model_dump(), ensure_ascii=False, indent=1), "utf-8")
    return copy


async def measure_sensitivity(
    reviewer: ReviewSource, idea: Idea, first_kind: int, contenders: Sequence[str], folder: Path, seed: int
) -> SensitivityOutcome:
    """Plant a flaw in a plan, and check the contenders' reviews of both versions for it."""
    copy = await get_flawed_copy(reviewer, idea, first_kind, folder)
    altered_idea = make_neutral_copy(idea, apply_edits(idea.text, copy.flaw.edits))
    outcome = SensitivityOutcome(
        item=idea.source,
        seed=seed,
        kind=copy.flaw.kind,
        statement=copy.flaw.statement,
        words=len(idea.text.split()),
        words_of_copy=len(altered_idea.text.split()),
    )
    if not copy.check.passed:
        return outcome.model_copy(update={"rejected": copy.check.reason or "the check failed"})
    reviews = await gather_all(_review_pair(reviewer, name, (idea, altered_idea), copy.flaw) for name in contenders)
    return outcome.model_copy(update={"reviews": dict(zip(contenders, reviews, strict=True))})


async def _review_pair(
    reviewer: ReviewSource, contender: str, pair: tuple[Idea, Idea], flaw: PlantedFlaw
) -> PairReview:
    async def review_version(idea: Idea) -> tuple[WrittenReview, bool]:
        review = await reviewer.review(contender, idea)
        question = CoverageQuestion(review=review.cut_words(reviewer.words), statements=(flaw.statement,))
        answer, _ = await reviewer.ask(COVERAGE, question, pair[0].source)
        return review, answer.judgements[0].score >= _MIN_NAMED_SCORE

    original, copy = await gather_all(catch_failure(review_version(idea)) for idea in pair)
    failures = [
        str(review_or_failure.error) for review_or_failure in (original, copy) if isinstance(review_or_failure, Failed)
    ]
    axis = FLAW_KINDS[flaw.kind].axis
    return PairReview(
        named=None if isinstance(copy, Failed) else copy[1],
        named_in_original=None if isinstance(original, Failed) else original[1],
        score=None if isinstance(original, Failed) else original[0].scores.get(axis),
        score_of_copy=None if isinstance(copy, Failed) else copy[0].scores.get(axis),
        failure="; ".join(failures),
    )


def format_sensitivity(outcomes: Sequence[SensitivityOutcome], contenders: Sequence[str], rounds: int) -> Iterator[str]:
    """Yield rows per contender, then per kind. A failed review counts as naming nothing, a missing score as no fall."""
    pairs = [outcome for outcome in outcomes if outcome.reviews]
    yield (
        f"{len(outcomes)} plans, {len(pairs)} pairs; rejected by the check: "
        f"{sum(bool(outcome.rejected) for outcome in outcomes)}; not made: {sum(bool(o.failure) for o in outcomes)}.\n"
    )
    yield format_row(*_HEADS)
    yield format_row(*["---"] * len(_HEADS))
    for name in contenders:
        yield _format_row(name, [outcome.reviews[name] for outcome in pairs], rounds)
    is_copy_shorter = [float(outcome.words_of_copy < outcome.words) for outcome in pairs]
    share = format_statistic(is_copy_shorter, rounds)
    yield format_row("baseline: the shorter plan is worse", str(len(pairs)), "0", "0", *"–––", share, *"–––")
    yield f"\nBy kind, {contenders[0]}:\n"
    yield format_row("kind", "pairs", "flaw named", "named in the original too", "score falls")
    yield format_row(*["---"] * 5)
    for kind in FLAW_KINDS:
        pair_reviews = [outcome.reviews[contenders[0]] for outcome in pairs if outcome.kind == kind]
        counts = (
            sum(bool(pair_review.named) for pair_review in pair_reviews),
            sum(bool(pair_review.named_in_original) for pair_review in pair_reviews),
        )
        yield format_row(
            kind,
            str(len(pair_reviews)),
            *map(str, counts),
            str(sum((_compute_change(pair_review) or 0) < -_MAX_SAME_DIFFERENCE for pair_review in pair_reviews)),
        )


def _format_row(name: str, reviews: Sequence[PairReview], rounds: int) -> str:
    changes = [_compute_change(review) for review in reviews]
    moves = [0.0 if change is None else change for change in changes]
    return format_row(
        name,
        str(len(reviews)),
        str(sum(bool(review.failure) for review in reviews)),
        str(changes.count(None)),
        format_statistic([float(bool(review.named)) for review in reviews], rounds),
        format_statistic([float(bool(review.named_in_original)) for review in reviews], rounds),
        format_statistic([float(bool(review.named) and not review.named_in_original) for review in reviews], rounds),
        format_statistic([float(change < -_MAX_SAME_DIFFERENCE) for change in moves], rounds),
        format_statistic(
            [float(change is not None and abs(change) <= _MAX_SAME_DIFFERENCE) for change in changes], rounds
        ),
        format_statistic([float(change > _MAX_SAME_DIFFERENCE) for change in moves], rounds),
        format_statistic(changes, rounds),
    )


def _compute_change(review: PairReview) -> float | None:
    if review.score is None or review.score_of_copy is None:
        return None
    return review.score_of_copy - review.score
