"""What every method hands back."""

from typing import NamedTuple

from assayer.models import Paper, Report

__all__ = ["Evaluation"]


class Evaluation(NamedTuple):
    report: Report
    papers: tuple[Paper, ...]
    """The full records of the report's references, in their order."""
