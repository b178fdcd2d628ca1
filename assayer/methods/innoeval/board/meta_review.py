"""Write the meta-review: a summary of all reviews, and the disagreements between reviewers. It gives no score."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.citing.claim_quotes import collect_given_quotes
from assayer.citing.labels import label_papers, parse_marker, relabel, strip_citations
from assayer.llm import Llm, ask
from assayer.methods.innoeval.board.review import BoardReview, ReviewsByDimension, build_point_writer
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.innoeval.evidence_pack import EvidencePack
from assayer.methods.innoeval.extraction import format_digest
from assayer.methods.innoeval.prompt_evidence import build_evidence_item, shorten_middle
from assayer.methods.innoeval.schemas import DimensionReviews, EvidenceItem, MetaQuestion, PlanDoubt, ReviewTexts
from assayer.methods.innoeval.tasks import SYNTHESIS
from assayer.methods.scholareval.candidate_order import interleave_rankings
from assayer.models import Dispute, MetaReview, PaperId, PlanFlaw, Point, Score, Summary
from assayer.run.run import Run

_MAX_POINTS = 3
"""Maximum number of points of each kind in a summary."""
_STATEMENT_CHARS = 300
"""Maximum number of characters shown from a source that has no grounding."""


class MetaReviewResult(NamedTuple):
    review: MetaReview
    summary: Summary


async def write_meta_review(
    llm: Llm, run: Run, pack: EvidencePack, reviews_by_dimension: ReviewsByDimension
) -> MetaReviewResult:
    """Write the meta-review. Raises LlmError or BudgetExhausted if the request fails."""
    all_reviews = [review for _, reviews in reviews_by_dimension for review in reviews]
    known_quotes = collect_given_quotes(point for review in all_reviews for point in review.points)
    cited_papers = dict.fromkeys(
        parse_marker(citation.label)
        for review in all_reviews
        for point in review.points
        for citation in point.citations
    )
    papers = label_papers(cited_papers)
    evidence = _list_evidence(pack, papers)
    labels = {paper: label for label, paper in papers.items()}
    question = MetaQuestion(
        digest=format_digest(pack.idea.title, pack.six_tuple),
        evidence=evidence,
        reviewers=tuple(dict.fromkeys(review.reviewer for review in all_reviews)),
        dimensions=tuple(
            _build_dimension_reviews(f"D{number}", dimension, reviews, labels)
            for number, (dimension, reviews) in enumerate(reviews_by_dimension, start=1)
        ),
        unmasked=tuple(dimension.title for dimension, _ in reviews_by_dimension if not dimension.masked),
        doubts=tuple(map(_build_doubt, pack.plan_flaws)),
    )
    answer = await ask(llm, SYNTHESIS, question, run)
    titles = {item.label: item.title for item in question.dimensions}
    return MetaReviewResult(
        review=MetaReview(
            text=strip_citations(answer.assessment),
            disputes=tuple(
                Dispute(
                    dimension=titles[dispute.dimension],
                    positions=strip_citations(dispute.positions),
                    evidence_assessment=strip_citations(dispute.weighing),
                )
                for dispute in answer.disputes
            ),
        ),
        summary=build_point_writer(pack, papers, known_quotes).build_summary(answer),
    )


def interleave_points(reviews: Sequence[BoardReview]) -> Summary:
    """Return up to three points of each kind, taken from each reviewer in turn. Points with verified quotes come
    first."""

    points = {point.text: point for review in reviews for point in review.points}

    def take_first(kind: str) -> tuple[Point, ...]:
        texts = interleave_rankings([review.list_texts(kind) for review in reviews], len(points))
        return tuple(sorted((points[text] for text in texts), key=lambda item: item.downgraded)[:_MAX_POINTS])

    return Summary(
        strengths=take_first("strength"), weaknesses=take_first("weakness"), suggestions=take_first("suggestion")
    )


def _list_evidence(pack: EvidencePack, papers: Mapping[str, PaperId]) -> tuple[EvidenceItem, ...]:
    """Return each source with a single statement: the analysis in its first grounding, or else the beginning of its
    text."""
    sources_by_paper = {item.paper.id: item for item in pack.before_cutoff}
    notes = {grounding.paper_id: strip_citations(grounding.analysis) for grounding in reversed(pack.groundings)}
    labelled_sources = ((label, sources_by_paper[paper]) for label, paper in papers.items())
    return tuple(
        build_evidence_item(
            item.paper, item.kind, notes.get(item.paper.id) or shorten_middle(item.text, _STATEMENT_CHARS)
        ).model_copy(update={"label": label})
        for label, item in labelled_sources
    )


def _build_dimension_reviews(
    label: str, dimension: RubricDimension, reviews: Sequence[BoardReview], labels: dict[PaperId, str]
) -> DimensionReviews:
    return DimensionReviews(
        label=label,
        title=dimension.title,
        question=dimension.question,
        scale_min=dimension.scale.min,
        scale_max=dimension.scale.max,
        reviews=tuple(_build_review_texts(review, labels) for review in reviews if review.rationale),
    )


def _build_doubt(flaw: PlanFlaw) -> PlanDoubt:
    quote = flaw.quote.quote if flaw.quote.state == "verified" else ""
    return PlanDoubt(text=flaw.text, certainty=flaw.certainty, quote=quote)


def _build_review_texts(review: BoardReview, labels: dict[PaperId, str]) -> ReviewTexts:
    def list_texts(kind: str) -> tuple[str, ...]:
        return tuple(relabel(text, labels) for text in review.list_texts(kind))

    return ReviewTexts(
        reviewer=review.reviewer.key,
        score=review.score.value if isinstance(review.score, Score) else None,
        strengths=list_texts("strength"),
        weaknesses=list_texts("weakness"),
        suggestions=list_texts("suggestion"),
        rationale=review.rationale,
    )
