"""The meta-review: what all reviews amount to, and where reviewers disagree. It gives no score."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.citing.claim_quotes import GivenQuote, PointKind, given_by_points, quoted_point
from assayer.citing.labels import labelled, paper_of, plain, relabel
from assayer.llm import Llm, ask
from assayer.methods.innoeval.board.review import BoardReview, ReviewsByDimension, known_numbers, shown_texts
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.innoeval.evidence_pack import EvidencePack
from assayer.methods.innoeval.extraction import digest
from assayer.methods.innoeval.prompt_evidence import evidence_item, shortened
from assayer.methods.innoeval.schemas import (
    DimensionReviews,
    EvidenceItem,
    MetaQuestion,
    PlanDoubt,
    ReviewClaim,
    ReviewTexts,
    Synthesis,
)
from assayer.methods.innoeval.tasks import SYNTHESIS
from assayer.models import Dispute, MetaReview, PaperId, PlanFlaw, Point, Score, Summary
from assayer.run.run import Run

__all__ = ["MetaReviewResult", "leading_points", "write_meta_review"]

_MOST_POINTS = 3
"""Of each kind of point in a summary."""
_STATEMENT_CHARS = 300
"""Characters of a source about which nothing was noted."""


class MetaReviewResult(NamedTuple):
    review: MetaReview
    summary: Summary


async def write_meta_review(
    llm: Llm, run: Run, pack: EvidencePack, reviews_by_dimension: ReviewsByDimension
) -> MetaReviewResult:
    """Raises an LlmError or BudgetExhausted."""
    all_reviews = [review for _, reviews in reviews_by_dimension for review in reviews]
    given = given_by_points(one for review in all_reviews for one in review.points)
    cited = dict.fromkeys(
        paper_of(citation.label) for review in all_reviews for one in review.points for citation in one.citations
    )
    papers = labelled(cited)
    evidence = _evidence(pack, papers)
    labels = {paper: label for label, paper in papers.items()}
    question = MetaQuestion(
        digest=digest(pack.idea.title, pack.six_tuple),
        evidence=evidence,
        reviewers=tuple(dict.fromkeys(review.reviewer for review in all_reviews)),
        dimensions=tuple(
            _dimension_reviews(f"D{number}", dimension, reviews, labels)
            for number, (dimension, reviews) in enumerate(reviews_by_dimension, start=1)
        ),
        unmasked=tuple(dimension.title for dimension, _ in reviews_by_dimension if not dimension.masked),
        doubts=tuple(map(_doubt, pack.plan_flaws)),
    )
    answer = await ask(llm, SYNTHESIS, question, run)
    titles = {one.label: one.title for one in question.dimensions}
    return MetaReviewResult(
        review=MetaReview(
            text=plain(answer.assessment),
            disputes=tuple(
                Dispute(dimension=titles[one.dimension], positions=plain(one.positions), weighing=plain(one.weighing))
                for one in answer.disputes
            ),
        ),
        summary=_summary(answer, papers, given, pack),
    )


def leading_points(reviews: Sequence[BoardReview]) -> Summary:
    """The reviewers' first points in turn, at most three of each kind, those whose quotes were found first."""

    def in_turn(kind: str) -> list[str]:
        texts = [review.texts(kind) for review in reviews]
        ranks = range(max(map(len, texts), default=0))
        return list(dict.fromkeys(said[rank] for rank in ranks for said in texts if rank < len(said)))

    points = {one.text: one for review in reviews for one in review.points}
    chosen = {
        kind: tuple(sorted((points[text] for text in in_turn(kind)), key=lambda one: one.downgraded)[:_MOST_POINTS])
        for kind in ("strength", "weakness", "suggestion")
    }
    return Summary(strengths=chosen["strength"], weaknesses=chosen["weakness"], suggestions=chosen["suggestion"])


def _evidence(pack: EvidencePack, papers: Mapping[str, PaperId]) -> tuple[EvidenceItem, ...]:
    """Each with one statement: what was noted first about it, else how its text begins."""
    sources_by_paper = {one.paper.id: one for one in pack.before_cutoff}
    notes = {one.paper_id: plain(one.analysis) for one in reversed(pack.groundings)}
    found = ((label, sources_by_paper[paper]) for label, paper in papers.items())
    return tuple(
        evidence_item(one.paper, one.kind, notes.get(one.paper.id) or shortened(one.text, _STATEMENT_CHARS)).model_copy(
            update={"label": label}
        )
        for label, one in found
    )


def _dimension_reviews(
    label: str, dimension: RubricDimension, reviews: Sequence[BoardReview], labels: dict[PaperId, str]
) -> DimensionReviews:
    return DimensionReviews(
        label=label,
        title=dimension.title,
        question=dimension.question,
        scale_min=dimension.scale.min,
        scale_max=dimension.scale.max,
        reviews=tuple(_review_texts(review, labels) for review in reviews if review.rationale),
    )


def _doubt(flaw: PlanFlaw) -> PlanDoubt:
    quote = flaw.quote.quote if flaw.quote.state == "verified" else ""
    return PlanDoubt(text=flaw.text, certainty=flaw.certainty, quote=quote)


def _review_texts(review: BoardReview, labels: dict[PaperId, str]) -> ReviewTexts:
    def texts(kind: str) -> tuple[str, ...]:
        return tuple(relabel(text, labels) for text in review.texts(kind))

    return ReviewTexts(
        reviewer=review.reviewer.key,
        score=review.score.value if isinstance(review.score, Score) else None,
        strengths=texts("strength"),
        weaknesses=texts("weakness"),
        suggestions=texts("suggestion"),
        rationale=review.rationale,
    )


def _summary(answer: Synthesis, papers: dict[str, PaperId], given: Sequence[GivenQuote], pack: EvidencePack) -> Summary:
    shown = shown_texts(pack)
    numbers = known_numbers(pack, shown)

    def said(kind: PointKind, texts: Sequence[ReviewClaim]) -> tuple[Point, ...]:
        return tuple(quoted_point(kind, one.text, papers, given, numbers, shown) for one in texts)

    return Summary(
        strengths=said("strength", answer.strengths),
        weaknesses=said("weakness", answer.weaknesses),
        suggestions=said("suggestion", answer.suggestions),
    )
