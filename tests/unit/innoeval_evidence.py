"""A dossier and simple answers, for tests of the board."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel

from assayer.citing.evidence import Quoted
from assayer.methods.innoeval.dimensions import EvidenceKind, RubricDimension
from assayer.methods.innoeval.evidence_pack import EvidencePack, Grounding, ReadSource
from assayer.methods.innoeval.extraction import SixTuple
from assayer.methods.innoeval.schemas import (
    Advice,
    AdviceQuestion,
    Judgement,
    Judgements,
    JudgingQuestion,
    LaterStep,
    ReviewClaim,
    build_judgements_schema,
)
from assayer.models import CorpusFit, Idea, Paper, PaperId
from tests.unit.innoeval_world import IDEA
from tests.unit.twins import Answerer

SIX_TUPLE = SixTuple(
    tldr="A checker compares every quoted sentence of a review with its source.",
    methods=("A checker compares quoted sentences with sources.", "A test on 500 reviews against two baselines."),
)


def make_read_source(kind: EvidenceKind, number: int, year: int = 2023) -> ReadSource:
    paper = Paper(
        id=PaperId(f"{kind}:{number}"),
        title=f"Wrong quotes in the {kind}, part {number}",
        abstract="",
        publication_date=dt.date(year, 5, 31),
        source="corpus",
    )
    text = f"Of every hundred quotes that we compared, {number + 20} could not be found in their source by any reader."
    return ReadSource(paper=paper, kind=kind, text=text, score=8.0)


def make_evidence_pack(idea: Idea = IDEA, finds: int = 10, later_count: int = 2) -> EvidencePack:
    sources_before = tuple(make_read_source(kind, n) for kind in _list_kinds() for n in range(finds))
    return EvidencePack(
        idea=idea,
        text=idea.text,
        six_tuple=SIX_TUPLE,
        before_cutoff=sources_before,
        after_cutoff=tuple(make_read_source("literature", 100 + n, year=2025) for n in range(later_count)),
        groundings=_make_groundings(sources_before) if finds > 1 else (),
        fit=CorpusFit(level="good", value=0.9, criterion="similarity"),
    )


def _make_groundings(sources_before: Sequence[ReadSource]) -> tuple[Grounding, ...]:
    return (
        Grounding(
            part="method 1",
            paper_id=sources_before[0].paper.id,
            stance="supports",
            analysis="It shows that quotes are often wrong.",
            quote=Quoted(words=sources_before[0].text, state="verified"),
        ),
        Grounding(
            part="method 1",
            paper_id=sources_before[1].paper.id,
            stance="contradicts",
            analysis="It shows that readers notice.",
            quote=Quoted(words="words that stand nowhere at all in it", state="not_found"),
        ),
    )


def _list_kinds() -> tuple[EvidenceKind, ...]:
    return get_args(EvidenceKind)


def make_judgement(question: BaseModel, dimension: RubricDimension) -> Judgement:
    """Return a score that depends only on reviewer and dimension."""
    assert isinstance(question, JudgingQuestion)
    citation = "".join(f" [{label}]" for label in sorted(question.list_labels(dimension))[:1])
    number = int(question.reviewer.key[1:])
    share = ((len(dimension.name) + number) % 5) / 4
    return Judgement(
        strengths=[ReviewClaim(text=f"Quotes are compared with their sources{citation}.")],
        weaknesses=[ReviewClaim(text=f"Reviewer {number} misses a control{citation}.")],
        suggestions=[ReviewClaim(text="Add a control.")],
        rationale="The middle band fits.",
        score=dimension.scores[round(share * (len(dimension.scores) - 1))],
    )


def answer_judging(question: BaseModel, **changed: Any) -> Judgements:
    """Return reviews of all dimensions, with the same fields changed in each."""
    assert isinstance(question, JudgingQuestion)
    reviews = {item.name: make_judgement(question, item).model_copy(update=changed) for item in question.dimensions}
    return build_judgements_schema(question.dimensions).model_validate(
        {name: item.model_dump() for name, item in reviews.items()}
    )


def answer_advice(question: BaseModel) -> Advice:
    assert isinstance(question, AdviceQuestion)
    find = question.evidence[0]
    step = LaterStep(
        label=find.label, quote=find.text, shows="Many quotes are wrong.", weakness="W1", change="Take more reviews."
    )
    return Advice(steps=[step])


BOARD_ANSWERS: Mapping[str, Answerer] = {
    "innoeval.judging": answer_judging,
    "innoeval.advice": answer_advice,
}
