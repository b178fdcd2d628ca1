"""A small task for tests of the gateway, and what a run of it needs."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from assayer.llm import Task
from assayer.models import EvaluationId, Frozen
from assayer.prompts import Prompts
from assayer.run.budget import Budget
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from cluster.clock import SystemClock

LABELS = ("P1", "P2")


class Question(Frozen):
    statement: str
    labels: tuple[str, ...]


class Weight(Frozen):
    label: str = Field(pattern=r"^P\d+$")
    stance: Literal["for", "against"]
    weight: int = Field(ge=0, le=5)


class Weighing(Frozen):
    weights: list[Weight]
    remark: str = ""


def _check(question: Question, answer: Weighing) -> Sequence[str]:
    counts = Counter(weight.label for weight in answer.weights)
    complaints = [f"There is no weight for {label}." for label in question.labels if not counts[label]]
    return complaints + [f"{label} was not given." for label in counts if label not in question.labels]


WEIGHING: Task[Question, Weighing] = Task(
    name="tests.weighing",
    prompts=Prompts("tests.contract"),
    prompt="weighing.v3.md",
    output=Weighing,
    max_tokens=500,
    check=_check,
)


def a_question(statement: str = "Weights help, always.") -> Question:
    return Question(statement=statement, labels=LABELS)


def an_answer(labels: Sequence[str] = LABELS, **changes: Any) -> str:
    """A valid answer as JSON text; `changes` replace fields of each weight."""
    weights = [{"label": label, "stance": "for", "weight": 3} | changes for label in labels]
    return json.dumps({"weights": weights, "remark": "All [P1] {good}."})


def a_run(name: str = "run", budget: Budget | None = None) -> Run:
    return Run(
        id=EvaluationId(name), cutoff=None, clock=SystemClock(), progress=NoProgress(), budget=budget or Budget()
    )
