"""What outlives a process: jobs, tenants, answers, ledger, papers, reports and viewpoint graphs, in PostgreSQL.

`PgViewpointGraph` is in `orchestrator.store.viewpoints`: it takes a numerical library.
"""

from orchestrator.settings import DatabaseSettings, KeySettings
from orchestrator.store.answers import PgAnswers
from orchestrator.store.census import Census, PgCensus
from orchestrator.store.database import Database, DatabaseHealth, Revive
from orchestrator.store.evaluations import PgEvaluations
from orchestrator.store.events import PgEvents
from orchestrator.store.jobs import PgJobs
from orchestrator.store.keys import PgKeys
from orchestrator.store.leases import PgLeases
from orchestrator.store.ledger import LedgerTotals, PgLedger
from orchestrator.store.listening import Heard, Listener, Missed
from orchestrator.store.papers import PgPapers
from orchestrator.store.replies import PgReplies
from orchestrator.store.tenants import PgTenants
from orchestrator.store.turns import PgTurns
from orchestrator.store.usage import PgUsage, TenantUsage

__all__ = [
    "Census",
    "Database",
    "DatabaseHealth",
    "DatabaseSettings",
    "Heard",
    "KeySettings",
    "LedgerTotals",
    "Listener",
    "Missed",
    "PgAnswers",
    "PgCensus",
    "PgEvaluations",
    "PgEvents",
    "PgJobs",
    "PgKeys",
    "PgLeases",
    "PgLedger",
    "PgPapers",
    "PgReplies",
    "PgTenants",
    "PgTurns",
    "PgUsage",
    "Revive",
    "TenantUsage",
]
