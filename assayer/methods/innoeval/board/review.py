"""Review by one reviewer on one dimension: the contents of the prompt, and the conversion of the answer."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assayer.citing.claim_numbers import numbers_in
from assayer.citing.claim_quotes import GivenQuote
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
from assayer.methods.innoeval.schemas import GroundingNote, JudgingQuestion
from assayer.methods.innoeval.tasks import judging_task
from assayer.methods.points import PointWriter, verified_words
from assayer.models import Absent, Assessment, PaperId, Point, Reviewer, Score
from assayer.run.run import Run


@dataclass(frozen=True)
class BoardReview:
    """Review by one reviewer on one dimension; papers are cited by markers."""

    reviewer: Reviewer
    score: Score | Absent
    points: tuple[Point, ...] = ()
    rationale: str = ""

    def texts(self, kind: str) -> tuple[str, ...]:
        return tuple(point.text for point in self.points if point.kind == kind)

    @property
    def assessment(self) -> Assessment:
        """Assessment whose statement describes the reviewer's role, field and goal."""
        reviewer = self.reviewer
        described = (
            f"{reviewer.role[:1].upper()}{reviewer.role[1:]}, {reviewer.field}. Goal: {reviewer.goal}"
            if reviewer.persona
            else "No persona; sees everything that was found."
        )
        return Assessment(
            name=f"{reviewer.key} {reviewer.name}",
            statement=plain(described),
            score=self.score,
            points=self.points,
            readings=(),
        )


ReviewsByDimension = Sequence[tuple[RubricDimension, Sequence[BoardReview]]]
"""Dimensions in order, each with one review per reviewer, in the order of the reviewers."""


async def review_dimension(
    llm: Llm,
    run: Run,
    options: BoardOptions,
    pack: EvidencePack,
    reviewer: Reviewer,
    dimension: RubricDimension,
    sections_read: DimensionSections | None,
) -> BoardReview:
    """Ask a reviewer to review one dimension. `sections_read` holds the sections relevant to the dimension; None means
    the whole idea. Raises an LlmError or BudgetExhausted."""
    question = _question(options, pack, reviewer, dimension, sections_read, run.cutoff)
    answer = await ask(llm, judging_task(dimension, reviewer.model), question, run)
    papers = labelled(item.paper_id for item in question.evidence)
    rationale = plain(answer.rationale)
    return BoardReview(
        reviewer=reviewer,
        score=dimension.scored(answer.score, rationale),
        points=point_writer(pack, papers, [_given_quote(item) for item in pack.groundings]).all_points(answer),
        rationale=rationale,
    )


def lost_review(reviewer: Reviewer, error: AssayerError) -> BoardReview:
    """Return the record of a failed review, which has no score and is excluded from all means."""
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
    visible = [entry for entry in seen if entry.kind in dimension.evidence]
    evidence = labelled_evidence(visible, options.excerpt_chars)
    labels = {item.paper_id: item.label for item in evidence}
    return JudgingQuestion(
        digest=digest(pack.idea.title, pack.six_tuple),
        idea=pack.text if sections_read is None else "",
        sections=() if sections_read is None else sections_read.sections,
        left_out=() if sections_read is None else sections_read.left_out,
        no_room=() if sections_read is None else sections_read.no_room,
        evidence=evidence,
        notes=tuple(
            _grounding_note(grounding, labels[grounding.paper_id])
            for grounding in pack.groundings
            if grounding.paper_id in labels
        ),
        fit=pack.fit.level,
        day=day,
        reviewer=reviewer,
        dimension=dimension,
    )


def _grounding_note(grounding: Grounding, label: str) -> GroundingNote:
    return GroundingNote(
        label=label,
        part=grounding.part,
        stance=grounding.stance,
        analysis=plain(grounding.analysis),
        quote=verified_words(grounding.quote),
    )


def point_writer(pack: EvidencePack, papers: Mapping[str, PaperId], given: Sequence[GivenQuote]) -> PointWriter:
    """Return a writer of points that can quote everything that was read of each source."""
    shown = {item.paper.id: source_item(item) for item in pack.before_cutoff}
    return PointWriter(papers, given, numbers_in(pack.idea.text), shown)


def _given_quote(grounding: Grounding) -> GivenQuote:
    return GivenQuote(
        paper=grounding.paper_id,
        side="for" if grounding.stance == "supports" else "against",
        statement=grounding.analysis,
        quoted=grounding.quote,
    )
