"""The API over a real database, with its callers; jobs are done by hand."""

import asyncio
import datetime as dt
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import httpx2
import uvicorn
from fastapi import FastAPI
from starlette.applications import Starlette

from assayer.models import EvaluationId, GraphRecord
from cluster.clock import SystemClock
from cluster.settings import WebhookSettings
from cluster.webhooks import check_webhook_address
from orchestrator.api.application import create_app
from orchestrator.api.common_schemas import Check
from orchestrator.api.identifiers import id_generator
from orchestrator.api.services import RewardJudges, Services
from orchestrator.jobs.api_keys import KeyPlan, Scope, generate_key
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.item_outcomes import CurationOutcome, ProposalOutcome, ScoreOutcome
from orchestrator.jobs.models import JobVerdict, Lease, Problem, TenantId, TenantPlan
from orchestrator.settings import AccessSettings, ApiSettings, BatchSettings, QueueSettings
from orchestrator.store import (
    ApiKeySettings,
    Database,
    NotificationListener,
    PgEvents,
    PgItemOutcomes,
    PgJobs,
    PgKeys,
    PgLeases,
    PgLedger,
    PgReports,
    PgRewardGroups,
    PgRewards,
    PgServiceMetrics,
    PgTenants,
    PgUsage,
)
from orchestrator.store.assigned_tables import PgAssignedTables
from orchestrator.store.assignments import PgAssignments
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.call_contents import PgCallContents
from orchestrator.store.call_details import PgCallDetails
from orchestrator.store.call_reviewers import PgCallReviewers
from orchestrator.store.call_series import PgCallSeries
from orchestrator.store.call_tables import PgCallTables
from orchestrator.store.decisions import PgDecisions
from orchestrator.store.erasure import PgErasures
from orchestrator.store.evaluation_costs import PgEvaluationCosts
from orchestrator.store.mails import PgMails
from orchestrator.store.members import PgMembers
from orchestrator.store.opinions import PgOpinions
from orchestrator.store.pair_verdicts import PgPairVerdicts
from orchestrator.store.panels import PgPanels
from orchestrator.store.rankings import PgRankings
from orchestrator.store.remarks import PgRemarks
from orchestrator.store.report_figures import PgReportFigures
from orchestrator.store.sessions import PgSessions
from orchestrator.store.sign_in_attempts import PgSignInAttempts
from orchestrator.store.tombstones import PgTombstones
from orchestrator.store.webhooks import PgWebhooks
from orchestrator.webhooks.secrets import SecretCipher
from tests.contract.store_records import report
from workers.documents.document_ideas import read_table

__all__ = ["ACME", "BODY", "KEY", "OTHER", "TEXT", "Service", "served"]

ACME, OTHER = TenantId("acme"), TenantId("other")
KEY = "Mo6xBqoz07Lr4rVLZ-s_oN-oSCnnzBtnm2c0C5LWlUY="
"""Under which secrets of webhooks are kept."""
TEXT = (
    "We predict which stored examples the next round of fine-tuning will overwrite, and rehearse those. "
    "Eight text domains in a fixed order, uniform replay as the baseline; we report accuracy and forgetting."
)
BODY = {"idea": {"title": "Rehearsal by risk", "text": TEXT}}
_ALL: tuple[Scope, ...] = ("submit", "read", "manage")


@dataclass
class Service:
    """One application and its stores."""

    database: Database
    services: Services
    app: FastAPI
    checks: list[Check] = field(default_factory=list)

    @classmethod
    def of(cls, database: Database, listener: NotificationListener, **settings: Any) -> "Service":
        clock = SystemClock()
        checks = [Check(name="database", ok=True, detail="it answers")]

        async def ready() -> Sequence[Check]:
            return checks

        audit_log, mails = PgAuditLog(database), PgMails(database, enabled=True)
        members = PgMembers(database, audit_log, mails)
        services = Services(
            settings=ApiSettings(**{"refusal_seconds": 0.0, **settings}),
            clock=clock,
            new_id=id_generator(clock),
            jobs=PgJobs(database),
            events=PgEvents(database),
            ledger=PgLedger(database),
            call_contents=PgCallContents(database),
            rewards=PgRewards(database),
            groups=PgRewardGroups(database),
            curations=PgItemOutcomes(database, CurationOutcome),
            proposals=PgItemOutcomes(database, ProposalOutcome),
            scores=PgItemOutcomes(database, ScoreOutcome),
            judges=RewardJudges({"two_analysts": "Two who compare.", "viewpoints": "No model."}, "two_analysts"),
            tenants=PgTenants(database),
            keys=PgKeys(database, ApiKeySettings(requests_per_minute=100_000)),
            access=AccessSettings(),
            audit_log=audit_log,
            mails=mails,
            members=members,
            assignments=PgAssignments(database, audit_log, mails),
            opinions=PgOpinions(database, audit_log),
            panels=PgPanels(database),
            assigned_tables=PgAssignedTables(database),
            call_reviewers=PgCallReviewers(database, audit_log, members),
            decisions=PgDecisions(database, audit_log),
            remarks=PgRemarks(database, audit_log),
            call_details=PgCallDetails(database, audit_log),
            pair_verdicts=PgPairVerdicts(database),
            rankings=PgRankings(database),
            sessions=PgSessions(database, AccessSettings()),
            sign_in_attempts=PgSignInAttempts(database, AccessSettings()),
            identity_providers={},
            usage=PgUsage(database),
            tables=PgCallTables(database),
            series=PgCallSeries(database),
            figures=PgReportFigures(database),
            costs=PgEvaluationCosts(database),
            erasures=PgErasures(database, audit_log),
            tombstones=PgTombstones(database),
            metrics=PgServiceMetrics(database),
            listener=listener,
            methods={
                "grapheval": "By a graph of viewpoints.",
                "innoeval": "By a board.",
                "scholareval": "By the literature.",
            },
            corpora=None,
            ready=ready,
            webhooks=PgWebhooks(database),
            cipher=SecretCipher([KEY]),
            check_address=partial(check_webhook_address, WebhookSettings(allow=("127.0.0.0/8",), plain_http=True)),
            batches=BatchSettings(),
            read_table=read_table,
            personas=12,
        )
        return cls(database, services, create_app(services), checks)

    def with_services(self, **others: Any) -> "Service":
        services = replace(self.services, **others)
        return Service(self.database, services, create_app(services), self.checks)

    async def tenant(self, tenant: TenantId = ACME) -> None:
        await self.services.tenants.create(tenant, TenantPlan(name=tenant))

    async def key(
        self,
        *scopes: Scope,
        tenant: TenantId = ACME,
        per_minute: int | None = None,
        expires_at: dt.datetime | None = None,
    ) -> str:
        """A new key; without scopes, one that may do all that a tenant may."""
        plan = KeyPlan(
            name="test", scopes=frozenset(scopes or _ALL), requests_per_minute=per_minute, expires_at=expires_at
        )
        key = generate_key()
        await self.services.keys.create(tenant, plan, key)
        return key.secret

    @asynccontextmanager
    async def client(self, key: str | None = None, url: str | None = None) -> AsyncIterator[httpx2.AsyncClient]:
        """Asks the application itself, or the server that runs at the URL."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        transport = None if url else httpx2.ASGITransport(app=self.app)
        async with httpx2.AsyncClient(
            transport=transport, base_url=url or "http://api", headers=headers, timeout=60
        ) as client:
            yield client

    @asynccontextmanager
    async def caller(self, *scopes: Scope, tenant: TenantId = ACME) -> AsyncIterator[httpx2.AsyncClient]:
        async with self.client(await self.key(*scopes, tenant=tenant)) as client:
            yield client

    async def lease(self) -> Lease:
        (lease,) = await PgLeases(self.database, QueueSettings()).acquire("worker", FreeSlots(1, 0))
        return lease

    async def finish(self, problem: Problem | None = None, graph: GraphRecord | None = None) -> Lease:
        """Does the next job: with a report, or as failed with a problem."""
        leases = PgLeases(self.database, QueueSettings())
        lease = await self.lease()
        run = EvaluationId(f"run_{lease.job}")
        assert await leases.record_run(lease, run, {})
        if problem is None:
            await PgReports(self.database).keep(report(run).model_copy(update={"graph": graph}), [], {})
        verdict = JobVerdict(state="failed" if problem else "done", run_id=run, problem=problem, cost_usd=0.25)
        assert await leases.finish(lease, verdict)
        return lease


@asynccontextmanager
async def served(app: Starlette) -> AsyncIterator[str]:
    """The application behind a real server; gives its URL."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=5)
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(server.serve([listening]))
            try:
                yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            finally:
                server.should_exit = True
                await running
