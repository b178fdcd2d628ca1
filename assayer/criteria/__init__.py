"""A call's own criteria: judged from a report's findings, or by a method itself, and shown as a part of the report."""

from assayer.criteria.judging import judge_criteria
from assayer.criteria.part import JudgedCriterion, ShownCriterion, criteria_part, shown_criteria, unjudged_part
from assayer.criteria.task import JUDGE_CRITERIA

__all__ = [
    "JUDGE_CRITERIA",
    "JudgedCriterion",
    "ShownCriterion",
    "criteria_part",
    "judge_criteria",
    "shown_criteria",
    "unjudged_part",
]
