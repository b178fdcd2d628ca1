"""One reviewer, one dimension: what the prompt shows, and the review that comes back."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assayer.citing.claim_numbers import KnownNumbers, numbers_in
from assayer.citing.claim_quotes import GivenQuote, quoted_point
from assayer.citing.labels import labelled, plain
from assayer.errors import AssayerError
from assayer.llm import Llm, ask
from assayer.methods.innoeval.board.reviewers import visible_sources
from assayer.methods.innoeval.board.sections import DimensionSections
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.innoeval.evidence_pack import EvidencePack, Grounding
from assayer.methods.innoeval.extraction import digest
from assayer.methods.innoeval.options import BoardOptions
from assayer.methods.innoeval.prompt_evidence import labelled_evidence, source_item
from assayer.methods.innoeval.schemas import EvidenceItem, GroundingNote, Judgement, JudgingQuestion
from assayer.methods.innoeval.tasks import judging_task
from assayer.models import Absent, Assessment, PaperId, Point, Reviewer, Score
from assayer.run.run import Run

__all__ = ["BoardReview", "ReviewsByDimension", "known_numbers", "lost_review", "review_dimension", "shown_texts"]


@dataclass(frozen=True)
class BoardReview:
    """One reviewer's review on one dimension; papers are cited by markers."""

    reviewer: Reviewer
    score: Score | Absent
    points: tuple[Point, ...] = ()
    rationale: str = ""

    def texts(self, kind: str) -> tuple[str, ...]:
        return tuple(one.text for one in self.points if one.kind == kind)

    @property
    def assessment(self) -> Assessment:
        """With the reviewer's role, field and goal as its statement."""
        one = self.reviewer
        described = (
            f"{one.role[:1].upper()}{one.role[1:]}, {one.field}. Goal: {one.goal}"
            if one.persona
            else "No persona; sees everything that was found."
        )
        return Assessment(
            name=f"{one.key} {one.name}", statement=plain(described), score=self.score, points=self.points, readings=()
        )


ReviewsByDimension = Sequence[tuple[RubricDimension, Sequence[BoardReview]]]
"""Dimensions in their order, each with one review a reviewer, in the reviewers' order."""


async def review_dimension(
    llm: Llm,
    run: Run,
    options: BoardOptions,
    pack: EvidencePack,
    reviewer: Reviewer,
    dimension: RubricDimension,
    sections_read: DimensionSections | None,
) -> BoardReview:
    """`sections_read` is what the idea says on the dimension; None for the whole idea. Raises an LlmError or
    BudgetExhausted."""
    question = _question(options, pack, reviewer, dimension, sections_read, run.cutoff)
    answer = await ask(llm, judging_task(dimension, reviewer.model), question, run)
    return BoardReview(
        reviewer=reviewer,
        score=_score(answer, dimension),
        points=_points(answer, question.evidence, pack),
        rationale=plain(answer.rationale),
    )


def lost_review(reviewer: Reviewer, error: AssayerError) -> BoardReview:
    """A review that failed: without a score, and no part of any mean."""
    return BoardReview(reviewer=reviewer, score=Absent(reason=f"Not reviewed: {error.reason}."))


def _question(
    options: BoardOptions,
    pack: EvidencePack,
    reviewer: Reviewer,
    dimension: RubricDimension,
    sections_read: DimensionSections | None,
    day: dt.date | None,
) -> JudgingQuestion:
    seen = visible_sources(reviewer, pack.before_cutoff) if dimension.masked else pack.before_cutoff
    visible = [one for one in seen if one.kind in dimension.evidence]
    evidence = labelled_evidence(visible, options.excerpt_chars)
    labels = {item.paper_id: item.label for item in evidence}
    return JudgingQuestion(
        digest=digest(pack.idea.title, pack.six_tuple),
        idea=pack.text if sections_read is None else "",
        sections=() if sections_read is None else sections_read.sections,
        left_out=() if sections_read is None else sections_read.left_out,
        no_room=() if sections_read is None else sections_read.no_room,
        evidence=evidence,
        notes=tuple(_grounding_note(one, labels[one.paper_id]) for one in pack.groundings if one.paper_id in labels),
        fit=pack.fit.level,
        day=day,
        reviewer=reviewer,
        dimension=dimension,
    )


def _grounding_note(grounding: Grounding, label: str) -> GroundingNote:
    verified = grounding.quote is not None and grounding.quote.state == "verified"
    return GroundingNote(
        label=label,
        part=grounding.part,
        stance=grounding.stance,
        analysis=plain(grounding.analysis),
        quote=grounding.quote.words if grounding.quote and verified else "",
    )


def _score(answer: Judgement, dimension: RubricDimension) -> Score | Absent:
    basis = plain(answer.rationale)
    if answer.score is None:
        return Absent(reason=basis)
    return Score(value=answer.score, scale_min=dimension.scale.min, scale_max=dimension.scale.max, basis=basis)


def _points(answer: Judgement, evidence: Sequence[EvidenceItem], pack: EvidencePack) -> tuple[Point, ...]:
    """A point carries the quotes that support its side of what it cites; without any it cites the source as a whole."""
    papers = labelled(item.paper_id for item in evidence)
    given = [_given_quote(one) for one in pack.groundings]
    shown = shown_texts(pack)
    numbers = known_numbers(pack, shown)
    return (
        *(quoted_point("strength", one.text, papers, given, numbers, shown) for one in answer.strengths),
        *(quoted_point("weakness", one.text, papers, given, numbers, shown) for one in answer.weaknesses),
        *(quoted_point("suggestion", one.text, papers, given, numbers, shown) for one in answer.suggestions),
    )


def _given_quote(grounding: Grounding) -> GivenQuote:
    return GivenQuote(
        paper=grounding.paper_id,
        side="for" if grounding.stance == "supports" else "against",
        statement=grounding.analysis,
        quoted=grounding.quote,
    )


def shown_texts(pack: EvidencePack) -> dict[PaperId, EvidenceItem]:
    """All that was read of each source."""
    return {one.paper.id: source_item(one) for one in pack.before_cutoff}


def known_numbers(pack: EvidencePack, shown: Mapping[PaperId, EvidenceItem]) -> KnownNumbers:
    """What reviewers' points may take their numbers from."""
    return KnownNumbers(numbers_in(pack.idea.text), {paper: one.numbers for paper, one in shown.items()})
