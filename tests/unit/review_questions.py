"""One question for each task of the review, as its prompt file renders it."""

import datetime as dt
from typing import Any

from pydantic import BaseModel

from assayer.criteria.part import ShownCriterion
from assayer.llm import Task
from assayer.methods.review import tasks
from assayer.methods.review.schemas import (
    EditorQuestion,
    LookQuestion,
    NotedPassage,
    PanelPoint,
    PassageQuestion,
    PlanContribution,
    PlanScore,
    PlanScores,
    PlanScoringQuestion,
    RecalledWork,
    RefereeQuestion,
    SearchedPoint,
    WalkthroughQuestion,
)
from assayer.methods.scholareval.schemas import TitleShown
from tests.unit.scholareval_questions import EVIDENCE, IDEA

NOVELTY = (SearchedPoint(label="Q1", text="A small reader that checks quotes against abstracts.", is_novelty=True),)
SEARCHED_POINTS = (*NOVELTY, SearchedPoint(label="Q2", text="The three baselines are not named."))
POINT = PanelPoint(
    label="Q2",
    referee="whole",
    kind="weakness",
    severity="major",
    claim="The three baselines are not named.",
    why="Whether the reader is better than what people use cannot be concluded.",
    fix="Name them and add a plain string match.",
    quoted=True,
)
PASSAGE = NotedPassage(
    label="E1",
    title="Checking claims, part 1",
    year=2021,
    relation="already_has",
    points=("Q1",),
    shows="checks claims against abstracts with a small reader",
)
REFEREE = RefereeQuestion(idea=IDEA, most=8, most_named=4, day=dt.date(2024, 9, 24))
SCORES = PlanScores(
    soundness=PlanScore(thoughts="Clear.", limited_by="The baselines are weak.", beats=9, score=52),
    contribution=PlanContribution(thoughts="Useful.", limited_by="Parts are known.", beats=8, score=61),
)
RECALLED_WORK = RecalledWork(
    label="N1",
    title="Readers that check quotes",
    author="Lee",
    year=2019,
    role="already_does",
    why="checks quotes with a small reader",
    record=None,
    looked_up=True,
)
READING = PassageQuestion(opening="A plan to measure plasticity.", points=SEARCHED_POINTS, evidence=EVIDENCE)
EDITOR_QUESTION = EditorQuestion(
    overview="It measures plasticity.",
    idea=IDEA,
    words=1_000,
    points=(POINT,),
    novelty=NOVELTY,
    passages=(PASSAGE,),
    named=(RECALLED_WORK,),
    scores=SCORES,
    fit="partial",
    day=dt.date(2024, 9, 24),
)

QUESTIONS: tuple[tuple[Task[Any, Any], BaseModel], ...] = (
    (tasks.REFEREE, REFEREE),
    (tasks.REFEREE_BRIEF, REFEREE),
    (tasks.WALKTHROUGH, WalkthroughQuestion(idea=IDEA, least=20, most=40)),
    (tasks.SCORES, PlanScoringQuestion(idea=IDEA)),
    (
        tasks.LOOK,
        LookQuestion(
            opening="A plan to measure plasticity.",
            points=SEARCHED_POINTS,
            shown=(
                TitleShown(label="P1", title="Checking claims", year=2021),
                TitleShown(label="P2", title="Bees", year=None),
            ),
            most=1,
        ),
    ),
    (tasks.READING, READING),
    (tasks.READING_BRIEF, READING),
    (tasks.EDITOR, EDITOR_QUESTION),
    (tasks.EDITOR_BRIEF, EDITOR_QUESTION.model_copy(update={"words": 300})),
    (
        tasks.EDITOR_BY_CRITERIA,
        EDITOR_QUESTION.model_copy(
            update={"criteria": (ShownCriterion(label="C1", text="Impact: Who would use it?"),)}
        ),
    ),
)
