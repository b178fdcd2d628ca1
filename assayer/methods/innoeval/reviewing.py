"""One reviewer, one dimension: what the prompt shows, and the review that comes back."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from assayer.errors import AssayerError
from assayer.evidence import Quoted, labelled, plain, point
from assayer.methods.innoeval.board import visible
from assayer.methods.innoeval.board_options import BoardOptions
from assayer.methods.innoeval.board_schemas import FindNote, Judgement, JudgingQuestion
from assayer.methods.innoeval.board_tasks import judging
from assayer.methods.innoeval.dimensions import Dimension
from assayer.methods.innoeval.dossier import Dossier, Grounding, Knowledge
from assayer.methods.innoeval.extraction import digest
from assayer.methods.innoeval.finds import cut, find_of
from assayer.methods.innoeval.schemas import Find
from assayer.methods.innoeval.sectioning import Reading
from assayer.models import Absent, Assessment, PaperId, Point, Reviewer, Score
from assayer.ports import Llm
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["Judged", "Review", "lost", "review", "shown"]


@dataclass(frozen=True)
class Review:
    """What one reviewer said in one respect; papers stand in it as markers."""

    reviewer: Reviewer
    score: Score | Absent
    points: tuple[Point, ...] = ()
    rationale: str = ""

    def texts(self, kind: str) -> tuple[str, ...]:
        return tuple(one.text for one in self.points if one.kind == kind)

    @property
    def assessment(self) -> Assessment:
        """What decides about the reviewer's view stands in the statement."""
        one = self.reviewer
        who = (
            f"{one.role[:1].upper()}{one.role[1:]}, {one.field}. Wants: {one.goal}"
            if one.persona
            else "No persona; sees everything found."
        )
        return Assessment(
            name=f"{one.key} {one.name}", statement=plain(who), score=self.score, points=self.points, readings=()
        )


Judged = Sequence[tuple[Dimension, Sequence[Review]]]
"""Dimensions in their order, each with one review a reviewer, in the reviewers' order."""


async def review(
    llm: Llm,
    run: Run,
    options: BoardOptions,
    dossier: Dossier,
    reviewer: Reviewer,
    dimension: Dimension,
    reading: Reading | None,
) -> Review:
    """`reading` is what the idea says on the dimension; None for the whole idea. Raises an LlmError,
    BudgetExhausted or RunCancelled."""
    question = _question(options, dossier, reviewer, dimension, reading, run.cutoff)
    answer = await ask(llm, judging(dimension), question, run)
    return Review(
        reviewer=reviewer,
        score=_score(answer, dimension),
        points=_points(answer, question.evidence, dossier.groundings),
        rationale=plain(answer.rationale),
    )


def lost(reviewer: Reviewer, error: AssayerError) -> Review:
    """A review that never came: absent, and no part of any mean."""
    return Review(reviewer=reviewer, score=Absent(reason=f"Not reviewed: {error.reason}."))


def shown(knowledge: Sequence[Knowledge], chars: int) -> tuple[Find, ...]:
    """Labelled in order, each cut to so many characters."""
    finds = (find_of(one.paper, one.kind, cut(one.text, chars), full_text=one.full_text) for one in knowledge)
    return tuple(find.model_copy(update={"label": f"P{number}"}) for number, find in enumerate(finds, start=1))


def _question(
    options: BoardOptions,
    dossier: Dossier,
    reviewer: Reviewer,
    dimension: Dimension,
    reading: Reading | None,
    day: dt.date | None,
) -> JudgingQuestion:
    seen = [one for one in visible(reviewer, dossier.before) if one.kind in dimension.evidence]
    evidence = shown(seen, options.excerpt_chars)
    labels = {find.paper_id: find.label for find in evidence}
    return JudgingQuestion(
        digest=digest(dossier.idea.title, dossier.six),
        idea=dossier.text if reading is None else "",
        sections=() if reading is None else reading.sections,
        left_out=() if reading is None else reading.left_out,
        no_room=() if reading is None else reading.no_room,
        evidence=evidence,
        notes=tuple(_note(one, labels[one.paper_id]) for one in dossier.groundings if one.paper_id in labels),
        fit=dossier.fit.level,
        day=day,
        reviewer=reviewer,
        dimension=dimension,
    )


def _note(grounding: Grounding, label: str) -> FindNote:
    verified = grounding.quote is not None and grounding.quote.state == "verified"
    return FindNote(
        label=label,
        part=grounding.part,
        stance=grounding.stance,
        analysis=plain(grounding.analysis),
        quote=grounding.quote.words if grounding.quote and verified else "",
    )


def _score(answer: Judgement, dimension: Dimension) -> Score | Absent:
    basis = plain(answer.rationale)
    if answer.score is None:
        return Absent(reason=basis)
    return Score(value=answer.score, scale_min=dimension.scale.min, scale_max=dimension.scale.max, basis=basis)


def _points(answer: Judgement, evidence: Sequence[Find], groundings: Sequence[Grounding]) -> tuple[Point, ...]:
    """A point bears the words quoted from what it cites on its own side; without such words it cites as a whole."""
    papers = labelled(find.paper_id for find in evidence)
    supporting, contradicting = _quotes(groundings, "supports"), _quotes(groundings, "contradicts")
    return (
        *(point("strength", one.text, papers, supporting) for one in answer.strengths),
        *(point("weakness", one.text, papers, contradicting) for one in answer.weaknesses),
        *(point("suggestion", one.text, papers, {}) for one in answer.suggestions),
    )


def _quotes(groundings: Sequence[Grounding], stance: str) -> dict[PaperId, Quoted]:
    """A verified quote of each find if it has one on this side."""
    quotes: dict[PaperId, Quoted] = {}
    for one in groundings:
        if one.stance != stance or one.quote is None:
            continue
        if one.paper_id not in quotes or quotes[one.paper_id].state == "not_found":
            quotes[one.paper_id] = one.quote
    return quotes
