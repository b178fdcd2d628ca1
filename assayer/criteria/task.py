"""LLM task that judges a plan by the criteria of a call for proposals, based on a report's findings."""

from typing import Annotated

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.citing.labels import check_each_once
from assayer.criteria.part import ShownCriterion
from assayer.llm import Cut, Task
from assayer.models import Frozen, ScoreCertainty
from assayer.prompts import Prompts


class ShownFinding(Frozen):
    label: str
    kind: str
    text: str


class CriteriaQuestion(Frozen):
    idea: str
    criteria: tuple[ShownCriterion, ...]
    findings: tuple[ShownFinding, ...]


class CriterionAnswer(Frozen):
    label: Annotated[str, Field(description="Label of one of the criteria, e.g. C1."), TextRole.LABEL]
    answer: Annotated[str, TextRole.RESTATES] = Field(
        description="At most 45 words: what the plan offers for the question. Without any citation or label."
    )
    point: Annotated[str, TextRole.LABEL] | None = Field(
        description="Label of the finding that limits the score, e.g. F2; null if none of them does."
    )
    certainty: ScoreCertainty
    score: Annotated[int, Field(ge=1, le=10)] | None = Field(
        description="1 to 10 by the anchors; null if the plan says too little to tell."
    )


class CriteriaAnswer(Frozen):
    criteria: list[CriterionAnswer] = Field(description="One entry for each criterion, in order.")


def _find_answer_errors(question: CriteriaQuestion, answer: CriteriaAnswer) -> list[str]:
    criterion_labels = [item.label for item in question.criteria]
    criterion_errors = check_each_once(criterion_labels, (item.label for item in answer.criteria), "criterion")
    finding_labels = {item.label for item in question.findings}
    cited_labels = {item.point for item in answer.criteria if item.point is not None}
    return [
        *criterion_errors,
        *(f"{label} is not a finding given here." for label in sorted(cited_labels - finding_labels) if finding_labels),
    ]


JUDGE_CRITERIA = Task[CriteriaQuestion, CriteriaAnswer](
    "criteria.judging",
    Prompts("assayer.criteria"),
    "judging.v1.md",
    CriteriaAnswer,
    tier="strong",
    max_tokens=3_000,
    check=_find_answer_errors,
    cuts=(Cut("findings", "finding for the criteria"),),
)
