"""Coverage of experts' points by reviews of equal length, and a blind comparison of the reviews by a reader."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

import numpy as np
from pydantic import Field

from assayer.models import Frozen, Idea
from assayer.run.concurrency import Failed, catch_failure, gather_all, gather_pair
from benchmarks.quality.grapheval.reporting import format_row
from benchmarks.quality.judge.answering import PARAGRAPH_NAME, ReviewSource, WrittenReview
from benchmarks.quality.judge.intervals import format_share, format_statistic
from benchmarks.quality.judge.tasks import COMPARISON, ComparisonQuestion, ReviewVerdict, ShownReview
from benchmarks.quality.outcome_file import Outcome, Spending
from benchmarks.quality.rubrics import COVERAGE, CoverageQuestion, Rubric

OTHER = "the review of another plan"
"""Name of the baseline: the first contender's review of the next plan, which can cover points only by chance."""
_FULL, _PARTIAL = 4, 3
"""Lowest scores at which a point is covered fully or in part."""


class JudgedReview(Frozen):
    """The judgement of one contender's review of a plan."""

    words: int
    spent: Spending
    scores: dict[int, int] = Field(default_factory=dict)
    """Scores from 1 to 5 by number of the expert's point."""
    verdict: ReviewVerdict | None = None
    """None if the review was not compared."""
    failure: str = ""


class CoverageOutcome(Outcome):
    reviews: dict[str, JudgedReview] = Field(default_factory=dict)


async def measure_coverage(
    reviewer: ReviewSource,
    idea: Idea,
    other_idea: Idea | None,
    contenders: Sequence[str],
    rubrics: Sequence[Rubric],
    seed: int,
) -> CoverageOutcome:
    """Judge the contenders' reviews of a plan, and the first contender's review of the plan `other_idea`, all cut to
    the same number of words."""
    outcomes = await gather_all(catch_failure(reviewer.review(name, idea, 1)) for name in contenders)
    review_by_contender = dict(zip(contenders, outcomes, strict=True))
    if other_idea is not None:
        review_by_contender[OTHER] = await catch_failure(reviewer.review(contenders[0], other_idea, 1))
    texts = {
        name: review.cut_words(reviewer.words)
        for name, review in review_by_contender.items()
        if not isinstance(review, Failed)
    }
    statements = tuple(rubric.statement for rubric in rubrics)
    labels = {f"S{number}": rubric.number for number, rubric in enumerate(rubrics, start=1)}

    async def judge_review(name: str, review: WrittenReview | Failed) -> JudgedReview:
        if isinstance(review, Failed):
            return JudgedReview(words=0, spent=_NO_SPENDING, failure=str(review.error))
        question = CoverageQuestion(review=texts[name], statements=statements)
        answer = await catch_failure(reviewer.ask(COVERAGE, question, idea.source, seed + 1))
        judged_review = JudgedReview(words=min(review.word_count, reviewer.words), spent=review.spent)
        if isinstance(answer, Failed):
            return judged_review.model_copy(update={"failure": str(answer.error)})
        scores = {labels[item.label]: item.score for item in answer[0].judgements}
        return judged_review.model_copy(update={"scores": scores})

    reviews, comparison = await gather_pair(
        gather_all(judge_review(name, review) for name, review in review_by_contender.items()),
        catch_failure(
            _compare_reviews(reviewer, idea, {name: text for name, text in texts.items() if name != OTHER}, seed)
        ),
    )
    verdicts = {} if isinstance(comparison, Failed) else comparison
    return CoverageOutcome(
        item=idea.source,
        seed=seed,
        reviews={
            name: review.model_copy(update={"verdict": verdicts.get(name)})
            for name, review in zip(review_by_contender, reviews, strict=True)
        },
        failure=str(comparison.error) if isinstance(comparison, Failed) else "",
    )


_NO_SPENDING = Spending(calls=0, prompt_tokens=0, completion_tokens=0, usd=None)


async def _compare_reviews(
    reviewer: ReviewSource, idea: Idea, texts: Mapping[str, str], seed: int
) -> dict[str, ReviewVerdict]:
    """Return the verdict on each review; they are shown in a random order that depends on plan and seed."""
    order = [*texts]
    Random(f"{seed}:{idea.source}").shuffle(order)
    shown_reviews = tuple(
        ShownReview(label=f"R{number}", text=texts[name]) for number, name in enumerate(order, start=1)
    )
    answer, _ = await reviewer.ask(
        COMPARISON, ComparisonQuestion(plan=idea.text, reviews=shown_reviews), idea.source, seed + 1
    )
    by_label = {verdict.label: verdict for verdict in answer.reviews}
    return {name: by_label[review.label] for name, review in zip(order, shown_reviews, strict=True)}


def format_coverage(
    outcomes: Sequence[CoverageOutcome], rubrics: Sequence[Rubric], contenders: Sequence[str], rounds: int
) -> Iterator[str]:
    """Yield one row per contender. Points without a judgement count as untouched; intervals resample plans."""
    points = [[rubric.number for rubric in rubrics if rubric.idea == outcome.item] for outcome in outcomes]
    yield format_row(
        "review by", "plans", "failed", "words", "requests", "prompt tokens", "points", "full", "in part", "untouched",
        "wrong or unfair", "readability (1–7)", f"author prefers it to {PARAGRAPH_NAME}", "officer prefers it",
    )  # fmt: skip
    yield format_row(*["---"] * 14)
    names = [*contenders, *([OTHER] if any(OTHER in outcome.reviews for outcome in outcomes) else [])]
    for name in names:
        reviews = [outcome.reviews.get(name) for outcome in outcomes]
        scores = [
            np.array([(review.scores if review else {}).get(number, 0) for number in numbers])
            for review, numbers in zip(reviews, points, strict=True)
        ]
        full_shares = [(values >= _FULL).astype(float) for values in scores]
        partial = [(values == _PARTIAL).astype(float) for values in scores]
        completed_reviews = [review for review in reviews if review and not review.failure]
        verdicts = [review.verdict if review else None for review in reviews]
        yield format_row(
            name,
            str(len(outcomes)),
            str(len(outcomes) - len(completed_reviews)),
            _format_mean(review.words for review in completed_reviews),
            _format_mean(review.spent.calls for review in completed_reviews),
            _format_mean(review.spent.prompt_tokens for review in completed_reviews),
            str(sum(map(len, points))),
            format_share(full_shares, rounds),
            format_share(partial, rounds),
            format_share([1 - a - b for a, b in zip(full_shares, partial, strict=True)], rounds),
            format_statistic([None if verdict is None else float(len(verdict.wrong)) for verdict in verdicts], rounds),
            format_statistic([None if verdict is None else float(verdict.readability) for verdict in verdicts], rounds),
            *(
                "–" if name in (PARAGRAPH_NAME, OTHER) else _format_preference(outcomes, name, field, rounds)
                for field in ("author_rank", "officer_rank")
            ),
        )
    yield "\nA reader who always prefers the longer review would prefer these to the paragraph as follows:"
    for name in contenders:
        if name != PARAGRAPH_NAME:
            yield f"- {name}: {format_statistic([_prefer_longer(outcome, name) for outcome in outcomes], rounds)}"


def _format_mean(values: Iterator[int]) -> str:
    numbers = [*values]
    return f"{np.mean(numbers):,.0f}" if numbers else "–"


def _format_preference(outcomes: Sequence[CoverageOutcome], name: str, field: str, rounds: int) -> str:
    """Format the share of plans in which a review ranks before the paragraph; a tie counts half, a failure loses."""
    values = []
    for outcome in outcomes:
        ours, theirs = (outcome.reviews.get(key) for key in (name, PARAGRAPH_NAME))
        if ours is None or ours.verdict is None or theirs is None or theirs.verdict is None:
            values.append(0.0)
        else:
            values.append(_compare_ranks(getattr(ours.verdict, field), getattr(theirs.verdict, field)))
    return format_statistic(values, rounds)


def _prefer_longer(outcome: CoverageOutcome, name: str) -> float:
    ours, theirs = (outcome.reviews.get(key) for key in (name, PARAGRAPH_NAME))
    return _compare_ranks(-ours.words if ours else 0, -theirs.words if theirs else 0)


def _compare_ranks(ours: int, theirs: int) -> float:
    return 0.5 if ours == theirs else float(ours < theirs)
