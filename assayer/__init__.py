"""assayer evaluates research proposals against the literature.

    from assayer import evaluate

    report = evaluate("proposal.md", model="openai/gpt-6-luna")

The names in `__all__` are a stable interface under semantic versioning; everything else may change. Each is loaded
on first use.

This package holds the domain model: proposals, papers, reviews, reports, and the methods that evaluate proposals. It
does not depend on HTTP, SQL, FAISS or Ray, and reaches external backends through `assayer.ports`.
"""

from typing import TYPE_CHECKING, Any

from assayer.version import __version__

if TYPE_CHECKING:
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
    "__version__",
    "check",
    "check_async",
    "evaluate",
    "evaluate_async",
    "rank",
    "rank_async",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from assayer import public_names

    return getattr(public_names, name)
