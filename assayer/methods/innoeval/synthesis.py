"""The meta-review: what all reviews come to, and where reviewers part. It gives no score."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.evidence import Quoted, labelled, paper_of, plain, point, relabel
from assayer.methods.innoeval.board_schemas import DimensionReviews, MetaQuestion, OneReview, Synthesis
from assayer.methods.innoeval.board_tasks import SYNTHESIS
from assayer.methods.innoeval.dimensions import Dimension
from assayer.methods.innoeval.dossier import Dossier
from assayer.methods.innoeval.extraction import digest
from assayer.methods.innoeval.finds import cut, find_of
from assayer.methods.innoeval.reviewing import Judged, Review
from assayer.methods.innoeval.schemas import Find
from assayer.models import Dispute, MetaReview, PaperId, Score, Summary
from assayer.ports import Llm
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["Meta", "leading", "synthesise"]

_MOST = 3
"""Of each kind of point in a summary."""
_STATEMENT = 300
"""Characters of a find about which nothing was noted."""


class Meta(NamedTuple):
    review: MetaReview
    summary: Summary


async def synthesise(llm: Llm, run: Run, dossier: Dossier, judged: Judged) -> Meta:
    """Raises an LlmError, BudgetExhausted or RunCancelled."""
    everything = [review for _, reviews in judged for review in reviews]
    quotes = _quotes(everything)
    cited = dict.fromkeys(
        paper_of(citation.label) for review in everything for one in review.points for citation in one.citations
    )
    papers = labelled(cited)
    evidence = _evidence(dossier, papers)
    labels = {paper: label for label, paper in papers.items()}
    question = MetaQuestion(
        digest=digest(dossier.idea.title, dossier.six),
        evidence=evidence,
        reviewers=tuple(dict.fromkeys(review.reviewer for review in everything)),
        dimensions=tuple(
            _reviews(f"D{number}", dimension, reviews, labels)
            for number, (dimension, reviews) in enumerate(judged, start=1)
        ),
    )
    answer = await ask(llm, SYNTHESIS, question, run)
    titles = {one.label: one.title for one in question.dimensions}
    return Meta(
        review=MetaReview(
            text=plain(answer.assessment),
            disputes=tuple(
                Dispute(dimension=titles[one.dimension], positions=plain(one.positions), weighing=plain(one.weighing))
                for one in answer.disputes
            ),
        ),
        summary=_summary(answer, papers, quotes),
    )


def leading(reviews: Sequence[Review]) -> Summary:
    """The reviewers' first points in turn, at most three of each kind, those whose quotes were found first."""

    def in_turn(kind: str) -> list[str]:
        texts = [review.texts(kind) for review in reviews]
        ranks = range(max(map(len, texts), default=0))
        return list(dict.fromkeys(said[rank] for rank in ranks for said in texts if rank < len(said)))

    points = {one.text: one for review in reviews for one in review.points}
    chosen = {
        kind: tuple(sorted((points[text] for text in in_turn(kind)), key=lambda one: one.downgraded)[:_MOST])
        for kind in ("strength", "weakness", "suggestion")
    }
    return Summary(strengths=chosen["strength"], weaknesses=chosen["weakness"], suggestions=chosen["suggestion"])


def _evidence(dossier: Dossier, papers: Mapping[str, PaperId]) -> tuple[Find, ...]:
    """Each with one statement: what was noted first about it, else how its text begins."""
    known = {one.paper.id: one for one in dossier.before}
    noted = {one.paper_id: plain(one.analysis) for one in reversed(dossier.groundings)}
    found = ((label, known[paper]) for label, paper in papers.items())
    return tuple(
        find_of(one.paper, one.kind, noted.get(one.paper.id) or cut(one.text, _STATEMENT)).model_copy(
            update={"label": label}
        )
        for label, one in found
    )


def _reviews(
    label: str, dimension: Dimension, reviews: Sequence[Review], labels: dict[PaperId, str]
) -> DimensionReviews:
    return DimensionReviews(
        label=label,
        title=dimension.title,
        question=dimension.question,
        scale_min=dimension.scale.min,
        scale_max=dimension.scale.max,
        reviews=tuple(_one(review, labels) for review in reviews if review.rationale),
    )


def _one(review: Review, labels: dict[PaperId, str]) -> OneReview:
    def texts(kind: str) -> tuple[str, ...]:
        return tuple(relabel(text, labels) for text in review.texts(kind))

    return OneReview(
        reviewer=review.reviewer.key,
        score=review.score.value if isinstance(review.score, Score) else None,
        strengths=texts("strength"),
        weaknesses=texts("weakness"),
        suggestions=texts("suggestion"),
        rationale=review.rationale,
    )


def _summary(answer: Synthesis, papers: dict[str, PaperId], quotes: dict[tuple[str, PaperId], Quoted]) -> Summary:
    def of(kind: str) -> dict[PaperId, Quoted]:
        return {paper: quoted for (side, paper), quoted in quotes.items() if side == kind}

    return Summary(
        strengths=tuple(point("strength", one.text, papers, of("strength")) for one in answer.strengths),
        weaknesses=tuple(point("weakness", one.text, papers, of("weakness")) for one in answer.weaknesses),
        suggestions=tuple(point("suggestion", one.text, papers, {}) for one in answer.suggestions),
    )


def _quotes(reviews: Sequence[Review]) -> dict[tuple[str, PaperId], Quoted]:
    """By kind of point and paper, as the reviews' points bear them."""
    quotes: dict[tuple[str, PaperId], Quoted] = {}
    for review in reviews:
        for one in review.points:
            for citation in one.citations:
                if citation.quote is not None and citation.quote_state != "none":
                    quoted = Quoted(words=citation.quote, state=citation.quote_state)
                    quotes.setdefault((one.kind, paper_of(citation.label)), quoted)
    return quotes
