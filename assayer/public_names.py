"""Public names that `assayer` loads on first use."""

from assayer.errors import AssayerError
from assayer.reports.python_ranking import ProposalRanking, RankedProposal
from assayer.reports.python_report import EvaluationReport, ReportFinding, ReportScore
from cluster.python_api import check, check_async, evaluate, evaluate_async, rank, rank_async

__all__ = [
    "AssayerError",
    "EvaluationReport",
    "ProposalRanking",
    "RankedProposal",
    "ReportFinding",
    "ReportScore",
    "check",
    "check_async",
    "evaluate",
    "evaluate_async",
    "rank",
    "rank_async",
]
