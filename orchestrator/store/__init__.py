"""Persistent storage in PostgreSQL: jobs, tenants, cached model answers, the ledger of model requests, papers, reports
and viewpoint graphs.

`PgViewpointGraph` is not re-exported here, because `orchestrator.store.viewpoint_graph` needs a numerical library."""

from orchestrator.settings import ApiKeySettings, DatabaseSettings
from orchestrator.store.claims import PgClaims
from orchestrator.store.database import Database, DatabaseHealth, StartServer
from orchestrator.store.item_outcomes import PgItemOutcomes, PgRewards
from orchestrator.store.job_events import PgEvents
from orchestrator.store.jobs import PgJobs
from orchestrator.store.key_store import PgKeys
from orchestrator.store.leases import PgLeases
from orchestrator.store.ledger import PgLedger
from orchestrator.store.llm_answer_cache import PgAnswerCache
from orchestrator.store.notifications import NotificationListener, NotificationsMissed, Subscription
from orchestrator.store.reports import PgReports
from orchestrator.store.reward_groups import PgRewardGroups
from orchestrator.store.service_metrics import PgServiceMetrics, ServiceMetrics
from orchestrator.store.shared_state import PgSharedState
from orchestrator.store.source_response_cache import PgResponseCache
from orchestrator.store.tenants import PgTenants, PgUsage
