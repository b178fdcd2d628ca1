"""What outlives a process: answers, ledger, papers, evaluations and viewpoint graphs, in PostgreSQL."""

from orchestrator.store.answers import PgAnswers
from orchestrator.store.database import Database, DatabaseHealth, DatabaseSettings, Revive
from orchestrator.store.evaluations import EvaluationState, PgEvaluations, StoredEvaluation
from orchestrator.store.ledger import LedgerTotals, PgLedger
from orchestrator.store.papers import PgPapers
from orchestrator.store.replies import PgReplies
from orchestrator.store.turns import PgTurns
from orchestrator.store.viewpoints import PgViewpointGraph

__all__ = [
    "Database",
    "DatabaseHealth",
    "DatabaseSettings",
    "EvaluationState",
    "LedgerTotals",
    "PgAnswers",
    "PgEvaluations",
    "PgLedger",
    "PgPapers",
    "PgReplies",
    "PgTurns",
    "PgViewpointGraph",
    "Revive",
    "StoredEvaluation",
]
