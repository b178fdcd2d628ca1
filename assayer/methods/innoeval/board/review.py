"""Get the review by one reviewer: build the prompt's contents, and convert the answer to one review per dimension."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assayer.citing.claim_numbers import collect_numbers
from assayer.citing.claim_quotes import GivenQuote
from assayer.citing.labels import label_papers, strip_citations
from assayer.errors import AssayerError
from assayer.llm import Llm, ask
from assayer.methods.innoeval.board.reviewers import choose_visible_sources
from assayer.methods.innoeval.board.sections import DimensionSections, collect_shown_sections
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.innoeval.evidence_pack import EvidencePack, Grounding
from assayer.methods.innoeval.extraction import format_digest
from assayer.methods.innoeval.options import BoardOptions
from assayer.methods.innoeval.prompt_evidence import build_source_item, label_evidence
from assayer.methods.innoeval.schemas import GroundingNote, JudgingQuestion
from assayer.methods.innoeval.tasks import build_judging_task
from assayer.methods.points import PointWriter, get_verified_words
from assayer.models import Absent, Assessment, PaperId, Point, Reviewer, Score
from assayer.run.run import Run


@dataclass(frozen=True)
class BoardReview:
    """One reviewer's review of the idea in one dimension. Papers are cited by markers."""

    reviewer: Reviewer
    score: Score | Absent
    points: tuple[Point, ...] = ()
    rationale: str = ""

    def list_texts(self, kind: str) -> tuple[str, ...]:
        return tuple(point.text for point in self.points if point.kind == kind)

    @property
    def assessment(self) -> Assessment:
        """The review as an assessment, whose statement describes the reviewer's role, field and goal."""
        reviewer = self.reviewer
        description = (
            f"{reviewer.role[:1].upper()}{reviewer.role[1:]}, {reviewer.field}. Goal: {reviewer.goal}"
            if reviewer.persona
            else "No persona; sees everything that was found."
        )
        return Assessment(
            name=f"{reviewer.key} {reviewer.name}",
            statement=strip_citations(description),
            score=self.score,
            points=self.points,
            readings=(),
        )


ReviewsByDimension = Sequence[tuple[RubricDimension, Sequence[BoardReview]]]
"""The dimensions in order, each with one review per reviewer, in the order of the reviewers."""


async def review_idea(
    llm: Llm,
    run: Run,
    options: BoardOptions,
    pack: EvidencePack,
    reviewer: Reviewer,
    dimensions: tuple[RubricDimension, ...],
    sections_read: Mapping[str, DimensionSections] | None,
) -> list[BoardReview]:
    """Ask one reviewer model to review the idea in every dimension, and return the reviews in the order of the
    dimensions. `sections_read` holds the sections relevant to each dimension; None means the whole idea. Raises
    LlmError or BudgetExhausted if the request fails."""
    question = _build_question(options, pack, reviewer, dimensions, sections_read, run.cutoff)
    answer = await ask(llm, build_judging_task(dimensions, reviewer.model), question, run)
    papers = label_papers(item.paper_id for item in question.evidence)
    writer = build_point_writer(pack, papers, [_build_given_quote(item) for item in pack.groundings])
    reviews = []
    for dimension in dimensions:
        all_judgements = answer.get_judgement(dimension)
        judgement = all_judgements.keep_points_citing(question.list_labels(dimension))
        run.journal.record_dropped(
            "point of a review",
            "cited a source that does not count for its dimension",
            len(all_judgements.claims) - len(judgement.claims),
        )
        rationale = strip_citations(judgement.rationale)
        reviews.append(
            BoardReview(
                reviewer=reviewer,
                score=dimension.build_score(judgement.score, rationale),
                points=writer.build_all_points(judgement),
                rationale=rationale,
            )
        )
    return reviews


def build_failed_review(reviewer: Reviewer, error: AssayerError) -> BoardReview:
    """Return a record of a failed review, which has no score and is excluded from all means."""
    return BoardReview(reviewer=reviewer, score=Absent(reason=f"Not reviewed: {error.reason}."))


def _build_question(
    options: BoardOptions,
    pack: EvidencePack,
    reviewer: Reviewer,
    dimensions: tuple[RubricDimension, ...],
    sections_read: Mapping[str, DimensionSections] | None,
    day: dt.date | None,
) -> JudgingQuestion:
    familiar = {source.paper.id for source in choose_visible_sources(reviewer, pack.before_cutoff)}
    counted_sources = [
        source
        for source in pack.before_cutoff
        if any(
            source.kind in dimension.evidence and (source.paper.id in familiar or not dimension.masked)
            for dimension in dimensions
        )
    ]
    evidence = label_evidence(counted_sources, options.excerpt_chars)
    labels = {item.paper_id: item.label for item in evidence}
    return JudgingQuestion(
        digest=format_digest(pack.idea.title, pack.six_tuple),
        idea=pack.text if sections_read is None else "",
        sections=() if sections_read is None else collect_shown_sections(pack.idea.sections, dimensions, sections_read),
        evidence=evidence,
        unfamiliar=tuple(item.label for item in evidence if item.paper_id not in familiar),
        notes=tuple(
            _build_grounding_note(grounding, labels[grounding.paper_id])
            for grounding in pack.groundings
            if grounding.paper_id in labels
        ),
        fit=pack.fit.level,
        day=day,
        reviewer=reviewer,
        dimensions=dimensions,
    )


def _build_grounding_note(grounding: Grounding, label: str) -> GroundingNote:
    return GroundingNote(
        label=label,
        part=grounding.part,
        stance=grounding.stance,
        analysis=strip_citations(grounding.analysis),
        quote=get_verified_words(grounding.quote),
    )


def build_point_writer(
    pack: EvidencePack, papers: Mapping[str, PaperId], given_quotes: Sequence[GivenQuote]
) -> PointWriter:
    """Return a point writer that can quote everything that was read from each source."""
    evidence_by_paper = {item.paper.id: build_source_item(item) for item in pack.before_cutoff}
    return PointWriter(papers, given_quotes, collect_numbers(pack.idea.text), evidence_by_paper)


def _build_given_quote(grounding: Grounding) -> GivenQuote:
    return GivenQuote(
        paper=grounding.paper_id,
        side="for" if grounding.stance == "supports" else "against",
        statement=grounding.analysis,
        quoted=grounding.quote,
    )
