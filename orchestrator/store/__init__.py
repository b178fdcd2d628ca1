"""What outlives a process: answers, ledger, papers and evaluations, in PostgreSQL."""

from orchestrator.store.answers import PgAnswers
from orchestrator.store.database import Database, DatabaseHealth, DatabaseSettings, Revive
from orchestrator.store.evaluations import EvaluationState, PgEvaluations, StoredEvaluation
from orchestrator.store.ledger import LedgerTotals, PgLedger
from orchestrator.store.papers import PgPapers

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
    "Revive",
    "StoredEvaluation",
]
