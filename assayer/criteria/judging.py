"""Judge a plan by the criteria of a call for proposals, based on the findings of a finished evaluation."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from assayer.citing.labels import strip_citations
from assayer.criteria.part import JudgedCriterion, build_unjudged_part, criteria_part, label_criteria
from assayer.criteria.task import JUDGE_CRITERIA, CriteriaQuestion, ShownFinding
from assayer.evaluation_context import EvaluationContext
from assayer.models import Part, Point, Summary
from assayer.run.concurrency import Failed

_MAX_FINDINGS = 60
_MARKER = re.compile(r"\s*\[@[^\]]*\]")
"""Matches a citation in a text whose papers have not been numbered yet."""
_NO_MODEL = "no language model judged the criteria."


async def judge_criteria(context: EvaluationContext[Any], summary: Summary, parts: Sequence[Part]) -> Part:
    """Judge the run's criteria and return the report part with the answers. Each score names the finding that limits
    it. Without a language model or an answer, no criterion has a score. Raises errors that would affect every other
    request too."""
    criteria = context.run.criteria
    if not context.has_model:
        return build_unjudged_part(criteria, _NO_MODEL)
    points = list({point.text: point for point in _list_points(summary, parts)}.values())[:_MAX_FINDINGS]
    by_label = {f"F{number}": point for number, point in enumerate(points, start=1)}
    question = CriteriaQuestion(
        idea=context.text,
        criteria=label_criteria(criteria),
        findings=tuple(
            ShownFinding(label=label, kind=point.kind, text=_MARKER.sub("", point.text))
            for label, point in by_label.items()
        ),
    )
    answer = await context.try_to_ask(JUDGE_CRITERIA, question, "judgement by the call's criteria")
    if isinstance(answer, Failed):
        return build_unjudged_part(criteria, f"the criteria were not judged: {answer.error}")
    by_criterion = {item.label: item for item in answer.criteria}
    answers = [by_criterion[shown_criterion.label] for shown_criterion in question.criteria]
    return criteria_part(
        [
            JudgedCriterion(
                criterion, strip_citations(item.answer), item.score, item.certainty, by_label.get(item.point or "")
            )
            for criterion, item in zip(criteria, answers, strict=True)
        ]
    )


def _list_points(summary: Summary, parts: Sequence[Part]) -> Iterator[Point]:
    """Yield all findings, beginning with those in the summary."""
    yield from (*summary.weaknesses, *summary.strengths, *summary.suggestions)
    for part in parts:
        for assessment in part.assessments:
            yield from assessment.points
