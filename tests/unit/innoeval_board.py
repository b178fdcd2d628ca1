"""A dossier and simple answers, for tests of the board."""

import datetime as dt
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from assayer.evidence import Quoted
from assayer.methods.innoeval.board_schemas import (
    Advice,
    AdviceQuestion,
    Claim,
    Judgement,
    JudgingQuestion,
    LaterStep,
    MetaQuestion,
    Synthesis,
    WeighedDispute,
    judgement_on,
)
from assayer.methods.innoeval.dossier import Dossier, Grounding, Kind, Knowledge, SixTuple
from assayer.models import CorpusFit, Idea, Paper, PaperId
from tests.unit.innoeval_world import IDEA
from tests.unit.twins import Answerer

SIX = SixTuple(
    tldr="A checker compares every quoted sentence of a review with its source.",
    methods=("A checker compares quoted sentences with sources.", "A test on 500 reviews against two baselines."),
)


def knowledge(kind: Kind, number: int, year: int = 2023) -> Knowledge:
    paper = Paper(
        id=PaperId(f"{kind}:{number}"),
        title=f"Wrong quotes in the {kind}, part {number}",
        abstract="",
        publication_date=dt.date(year, 5, 31),
        source="corpus",
    )
    text = f"Of every hundred quotes that we compared, {number + 20} could not be found in their source by any reader."
    return Knowledge(paper=paper, kind=kind, text=text, score=8.0, dated=True)


def dossier(idea: Idea = IDEA, finds: int = 10, later: int = 2) -> Dossier:
    before = tuple(knowledge(kind, n) for kind in _kinds() for n in range(finds))
    return Dossier(
        idea=idea,
        text=idea.text,
        six=SIX,
        before=before,
        after=tuple(knowledge("literature", 100 + n, year=2025) for n in range(later)),
        groundings=_groundings(before) if finds > 1 else (),
        fit=CorpusFit(level="good", value=0.9, criterion="similarity"),
    )


def _groundings(before: Sequence[Knowledge]) -> tuple[Grounding, ...]:
    return (
        Grounding(
            part="method 1",
            paper_id=before[0].paper.id,
            stance="supports",
            analysis="It shows that quotes are often wrong.",
            quote=Quoted(words=before[0].text, state="verified"),
        ),
        Grounding(
            part="method 1",
            paper_id=before[1].paper.id,
            stance="contradicts",
            analysis="It shows that readers notice.",
            quote=Quoted(words="words that stand nowhere at all in it", state="not_found"),
        ),
    )


def _kinds() -> tuple[Kind, ...]:
    return ("literature", "web", "code")


def judgement(question: BaseModel) -> Judgement:
    """A score that hangs on reviewer and dimension alone, so that the matrix is known."""
    assert isinstance(question, JudgingQuestion)
    scores = question.dimension.scores
    cited = f" [{question.evidence[0].label}]" if question.evidence else ""
    number = int(question.reviewer.key[1:])
    share = ((len(question.dimension.name) + number) % 5) / 4
    return judgement_on(scores)(
        strengths=[Claim(text=f"Quotes are compared with their sources{cited}.")],
        weaknesses=[Claim(text=f"Reviewer {number} misses a control{cited}.")],
        suggestions=[Claim(text="Add a control.")],
        rationale="The middle band fits.",
        score=scores[round(share * (len(scores) - 1))],
    )


def synthesis(question: BaseModel) -> Synthesis:
    assert isinstance(question, MetaQuestion)
    cited = f" [{question.evidence[0].label}]" if question.evidence else ""
    return Synthesis(
        disputes=[WeighedDispute(dimension="D1", positions="R1 doubts what R2 takes for granted.", weighing="R1.")],
        strengths=[Claim(text=f"Quotes are compared{cited}.")],
        weaknesses=[Claim(text="There is no control.")],
        suggestions=[Claim(text="Add a control.")],
        assessment="A checker of quotes is proposed.",
    )


def advice(question: BaseModel) -> Advice:
    assert isinstance(question, AdviceQuestion)
    find = question.evidence[0]
    step = LaterStep(
        label=find.label, quote=find.text, shows="Many quotes are wrong.", weakness="W1", change="Take more reviews."
    )
    return Advice(steps=[step])


BOARD_ANSWERS: Mapping[str, Answerer] = {
    "innoeval.judging": judgement,
    "innoeval.synthesis": synthesis,
    "innoeval.advice": advice,
}
