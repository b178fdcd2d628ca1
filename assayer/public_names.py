"""Names that `assayer` loads when they are first used."""

from assayer.errors import AssayerError
from assayer.reports.python_report import Finding, Report, Score
from cluster.python_api import check, check_async, evaluate, evaluate_async

__all__ = ["AssayerError", "Finding", "Report", "Score", "check", "check_async", "evaluate", "evaluate_async"]
