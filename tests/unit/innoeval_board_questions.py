"""Questions of the prompts of InnoEval's board."""

import datetime as dt
from typing import Any

from pydantic import BaseModel

from assayer.llm import Task
from assayer.methods.innoeval import tasks
from assayer.methods.innoeval.board.reviewers import build_control_reviewer, build_reviewer, draw_board, mask_evidence
from assayer.methods.innoeval.dimensions import Band, Scale, load_built_in_dimensions
from assayer.methods.innoeval.personas import load_built_in_persona_pool
from assayer.methods.innoeval.prompt_evidence import label_evidence
from assayer.methods.innoeval.schemas import (
    AdviceQuestion,
    DimensionReviews,
    GroundingNote,
    JudgingQuestion,
    MetaQuestion,
    PlanDoubt,
    ReviewTexts,
    ShownSection,
    Weakness,
)
from tests.unit.innoeval_evidence import make_evidence_pack
from tests.unit.innoeval_questions import DIGEST, IDEA
from tests.unit.innoeval_world import IDEA as PARSED

PACK = make_evidence_pack(finds=2)
EVIDENCE = label_evidence(PACK.before_cutoff, 60)
SEAT = draw_board(load_built_in_persona_pool(), 1, 0, PARSED)[0]
REVIEWER = build_reviewer("R1", SEAT, mask_evidence(0, PARSED, SEAT.persona, PACK.before_cutoff))
BUILT_IN_DIMENSIONS = load_built_in_dimensions()
NOVELTY = BUILT_IN_DIMENSIONS[1]
AGENCY_NOVELTY = NOVELTY.model_copy(
    update={
        "scale": Scale(min=1, max=6),
        "bands": (
            Band(low=5, high=6, means="Nobody has done it."),
            Band(low=3, high=4, means="Somebody has done half of it."),
            Band(low=1, high=2, means="Somebody has done it."),
        ),
    }
)
JUDGING = JudgingQuestion(
    digest=DIGEST,
    idea=IDEA,
    sections=(),
    evidence=EVIDENCE,
    unfamiliar=("P2",),
    notes=(
        GroundingNote(
            label="P1", part="method 1", stance="supports", analysis="It works.", quote="it works well enough"
        ),
        GroundingNote(label="P2", part="method 1", stance="contradicts", analysis="It fails.", quote=""),
    ),
    fit="partial",
    day=dt.date(2024, 6, 30),
    reviewer=REVIEWER,
    dimensions=BUILT_IN_DIMENSIONS,
)
JUDGING_BY_SECTION = JUDGING.model_copy(
    update={
        "idea": "",
        "sections": (
            ShownSection(title="Method", text="We train a reader.", dimensions=("Novelty",)),
            ShownSection(title="Appendix K", text="", dimensions=()),
        ),
        "day": None,
        "dimensions": (AGENCY_NOVELTY,),
        "reviewer": build_control_reviewer(),
        "evidence": (),
        "unfamiliar": (),
        "notes": (),
    }
)
SYNTHESIS_QUESTION = MetaQuestion(
    digest=DIGEST,
    evidence=EVIDENCE[:1],
    reviewers=(REVIEWER, build_control_reviewer().model_copy(update={"key": "R2"})),
    dimensions=tuple(
        DimensionReviews(
            label=f"D{number}",
            title=dimension.title,
            question=dimension.question,
            scale_min=0,
            scale_max=10,
            reviews=(
                ReviewTexts(
                    reviewer="R1",
                    score=6.5,
                    strengths=("Works [P1].",),
                    weaknesses=("Slow.",),
                    suggestions=("Hurry.",),
                    rationale="In between.",
                ),
                ReviewTexts(
                    reviewer="R2",
                    score=None,
                    strengths=(),
                    weaknesses=(),
                    suggestions=(),
                    rationale="Nothing to go by.",
                ),
            ),
        )
        for number, dimension in enumerate(BUILT_IN_DIMENSIONS, start=1)
    ),
    doubts=(
        PlanDoubt(text="One order of topics carries no ranking.", certainty="certain", quote="in a fixed order"),
        PlanDoubt(text="Too few reviews.", certainty="possible", quote=""),
    ),
)
ADVICE_QUESTION = AdviceQuestion(
    digest=DIGEST,
    idea=IDEA,
    day=dt.date(2024, 6, 30),
    weaknesses=(Weakness(label="W1", dimension="Validity", text="No control."),),
    evidence=EVIDENCE,
)
BOARD_QUESTIONS: tuple[tuple[Task[Any, Any], BaseModel], ...] = (
    (tasks.build_judging_task(BUILT_IN_DIMENSIONS), JUDGING),
    (tasks.build_judging_task((AGENCY_NOVELTY,)), JUDGING_BY_SECTION),
    (tasks.SYNTHESIS, SYNTHESIS_QUESTION),
    (tasks.ADVICE, ADVICE_QUESTION),
    (tasks.ADVICE, ADVICE_QUESTION.model_copy(update={"weaknesses": ()})),
)
