"""One question for each ScholarEval task, as its prompt file renders it."""

from typing import Any

from pydantic import BaseModel

from assayer.citing.evidence import Evidence
from assayer.llm import Task
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.schemas import (
    ComparedPaper,
    ComparisonQuestion,
    ContributionDimension,
    DimensionsQuestion,
    FirstLookQuestion,
    LabelledText,
    MethodsQuestion,
    PaperNote,
    ProposedMethod,
    ReadingQuestion,
    ReviewDigest,
    ReviewQuestion,
    SummaryQuestion,
    SynthesisQuestion,
    TitleShown,
)
from assayer.models import PaperId

IDEA = (
    "# Reading claims twice\n\n## Problem\nGenerated reviews cite papers that do not say what is claimed.\n\n"
    "## Method\nWe train a small reader that checks every quoted sentence against the cited abstract.\n\n"
    "## Experiment\nWe compare it with three baselines on 2,000 annotated claims and measure accuracy."
)
METHOD = ProposedMethod(
    name="Quote checking with a small reader",
    kind="system",
    description="A reader is trained on 2,000 annotated claims to decide whether an abstract contains a quote.",
    queries=["checking quotes against abstracts"],
)
PARTS = (LabelledText(label="M1", text="Quote checking with a small reader."),)
EVIDENCE = tuple(
    Evidence(
        label=f"P{number}",
        paper_id=PaperId(f"paper-{number}"),
        title=f"Checking claims, part {number}",
        year=2020 + number,
        text="We check claims against abstracts. Accuracy reaches 71.3% but drops to 58% out of domain.",
        similarity=0.6,
    )
    for number in (1, 2)
)
DIMENSION = ContributionDimension(
    name="Quote checking",
    statements=["A reader that checks quotes against abstracts."],
    queries=["quotes in abstracts"],
)
NOTE = PaperNote(
    label="P1",
    title="Checking claims, part 1",
    year=2021,
    stance="supports",
    did="Checked claims against abstracts.",
    results="71.3% accuracy.",
    context="In domain.",
    quote="Accuracy reaches 71.3% but drops to 58% out of domain.",
    similarity=0.6,
)
COMPARED = ComparedPaper(
    label="P1",
    title="Checking claims, part 1",
    year=2021,
    verdict="paper_has_part",
    reason="Checks claims, not quotes.",
    quote="",
)

QUESTIONS: tuple[tuple[Task[Any, Any], BaseModel], ...] = (
    (tasks.METHODS, MethodsQuestion(idea=IDEA, limit=8)),
    (
        tasks.FIRST_LOOK,
        FirstLookQuestion(
            purpose="soundness",
            parts=PARTS,
            shown=tuple(
                TitleShown(label=item.label, title=item.title, year=item.year, similarity=0.6) for item in EVIDENCE
            ),
            most=20,
        ),
    ),
    (tasks.READING, ReadingQuestion(parts=PARTS, evidence=EVIDENCE)),
    (tasks.REVIEW, ReviewQuestion(idea=IDEA, method=METHOD, notes=(NOTE,), fit="partial")),
    (
        tasks.SUMMARY,
        SummaryQuestion(
            idea=IDEA,
            papers=(TitleShown(label="P1", title="Checking claims, part 1", year=2021),),
            unreviewed=("A study of readers",),
            reviews=(
                ReviewDigest(
                    name="Quote checking",
                    score=6,
                    certainty="low",
                    support=("Works [P1].",),
                    contradictions=(),
                    suggestions=(),
                ),
            ),
        ),
    ),
    (tasks.DIMENSIONS, DimensionsQuestion(idea=IDEA, limit=6)),
    (
        tasks.COMPARISON,
        ComparisonQuestion(parts=(LabelledText(label="D1", text="Quote checking."),), evidence=EVIDENCE),
    ),
    (
        tasks.SYNTHESIS,
        SynthesisQuestion(idea=IDEA, dimension=DIMENSION, compared=(COMPARED,), untouching=3, fit="poor"),
    ),
)
