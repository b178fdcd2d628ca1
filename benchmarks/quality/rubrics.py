"""Experts' statements on ScholarIdeas' ideas, and their coverage by a report, measured by a judge or a proxy."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.llm import Task
from assayer.models import Absent, Frozen, Report
from assayer.models.board import MetaReview
from assayer.prompts import Prompts
from assayer.text.sentences import sentences


class Rubric(NamedTuple):
    idea: str
    number: int
    statement: str
    axis: str
    """`soundness` or `contribution`."""
    type: str
    """`strength` or `weakness`."""
    severity: str

    @property
    def discipline(self) -> str:
        return self.idea.partition("_")[0]


def read_rubrics(folder: Path) -> list[Rubric]:
    """Read the rubrics of all ideas under `folder`, in order, skipping blank lines."""
    return [rubric for path in sorted(folder.iterdir()) if path.is_dir() for rubric in _read_idea_rubrics(path)]


def _read_idea_rubrics(folder: Path) -> Iterator[Rubric]:
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").split("\n")]
    for number, line in enumerate(line for line in lines if line.strip()):
        record = json.loads(line)
        yield Rubric(
            folder.name, number, *(str(record.get(name) or "") for name in ("statement", "axis", "type", "severity"))
        )


class CoverageQuestion(Frozen):
    review: str
    statements: tuple[str, ...]


class Covered(Frozen):
    label: str = Field(pattern=r"^S[1-9]\d?$", description="Label of the statement, as S1.")
    where: Annotated[str, TextRole.COPIED] = Field(
        description="At most 30 words: the review's words that come nearest to it; empty if there are none."
    )
    score: int = Field(ge=1, le=5, strict=True)


class CoverageAnswer(Frozen):
    judgements: tuple[Covered, ...]


def _check(question: CoverageQuestion, answer: CoverageAnswer) -> list[str]:
    expected_labels = [f"S{number}" for number in range(1, len(question.statements) + 1)]
    answered_labels = [judgement.label for judgement in answer.judgements]
    return (
        []
        if sorted(answered_labels) == sorted(expected_labels)
        else [f"`judgements` must hold one entry for each of {', '.join(expected_labels)}."]
    )


COVERAGE = Task(
    name="quality.coverage",
    prompts=Prompts("benchmarks.quality"),
    prompt="coverage.v3.md",
    output=CoverageAnswer,
    tier="strong",
    max_tokens=4_000,
    check=_check,
)


def list_sentences(report: Report) -> list[str]:
    """Return the sentences of the judgement, without the idea's own text, quotes and references."""
    summary = report.summary
    texts = [point.text for points in (summary.strengths, summary.weaknesses, summary.suggestions) for point in points]
    for assessment in (item for part in report.parts for item in part.assessments):
        texts += [point.text for point in assessment.points]
        texts += [reading.text for reading in assessment.readings]
    if report.board and isinstance(report.board.meta_review, MetaReview):
        texts.append(report.board.meta_review.text)
    if report.plan_review:
        flaws, comparators = report.plan_review.flaws, report.plan_review.comparators
        texts += [] if isinstance(flaws, Absent) else [f"{flaw.text} {flaw.change}" for flaw in flaws]
        texts += [f"{comparator.text} {comparator.purpose}" for comparator in comparators]
    report_sentences = (sentence for text in texts for sentence in sentences(text, min_words=4))
    return list(dict.fromkeys(report_sentences))


def compute_nearest_cosines(statements: NDArray[np.float32], sentences: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return (s,): the cosine of each statement with the nearest sentence; 0 if there are no sentences."""
    if not len(sentences):
        return np.zeros(len(statements))
    nearest_cosines: NDArray[np.float64] = (statements @ sentences.T).max(axis=1).astype(np.float64)
    return nearest_cosines
