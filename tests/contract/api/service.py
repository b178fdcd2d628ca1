"""The API over a real database, with its callers; jobs are done by hand."""

import asyncio
import datetime as dt
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any

import httpx2
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from assayer.models import EvaluationId, GraphRecord
from assayer_client.accounts import Scope
from cluster.clock import SystemClock
from cluster.settings import WebhookSettings
from cluster.webhooks import check_webhook_address
from orchestrator.access.api_keys import KeyPlan, generate_key
from orchestrator.application import create_app
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import JobVerdict, Lease, Problem, TenantId, TenantPlan
from orchestrator.problems import Check
from orchestrator.services.evaluation_options import EvaluationOptions
from orchestrator.services.reward_judges import RewardJudges
from orchestrator.settings import AccessSettings, ApiSettings, BatchSettings, QueueSettings
from orchestrator.store import (
    ApiKeySettings,
    Database,
    NotificationListener,
    PgLeases,
    PgReports,
)
from orchestrator.store.mails import PgMails
from orchestrator.web.services import Services
from orchestrator.webhooks.secrets import SecretCipher
from tests.contract.store_records import report
from workers.documents.document_parsing import read_table
from workers.documents.page_rendering import render_pages

ACME, OTHER = TenantId("acme"), TenantId("other")
KEY = "Mo6xBqoz07Lr4rVLZ-s_oN-oSCnnzBtnm2c0C5LWlUY="
"""Key that encrypts the secrets of webhooks."""
TEXT = (
    "We predict which stored examples the next round of fine-tuning will overwrite, and rehearse those. "
    "Eight text domains in a fixed order, uniform replay as the baseline; we report accuracy and forgetting."
)
BODY = {"idea": {"title": "Rehearsal by risk", "text": TEXT}}
JSONL_HEADERS = {"Content-Type": "application/jsonl"}
_ALL: tuple[Scope, ...] = ("submit", "read", "manage")


@dataclass
class Service:
    """Application under test, with its stores."""

    database: Database
    services: Services
    app: FastAPI
    checks: list[Check] = field(default_factory=list)
    machine_key: str = ""

    @cached_property
    def machine(self) -> httpx2.AsyncClient:
        """A client with a key of the tenant `ACME` that permits everything."""
        return self.open_client(self.machine_key)

    @classmethod
    def build(cls, database: Database, listener: NotificationListener, **settings: Any) -> "Service":
        clock = SystemClock()
        checks = [Check(name="database", ok=True, detail="it answers")]

        async def ready() -> Sequence[Check]:
            return checks

        services = Services(
            database,
            listener,
            clock,
            EvaluationOptions(
                methods={
                    "grapheval": "By a graph of viewpoints.",
                    "innoeval": "By a board.",
                    "review": "By a panel and the literature.",
                },
                personas=12,
            ),
            RewardJudges({"two_analysts": "Two who compare.", "viewpoints": "No model."}, "two_analysts"),
            PgMails(database, enabled=True),
            SecretCipher([KEY]),
            partial(check_webhook_address, WebhookSettings(allow=("127.0.0.0/8",), plain_http=True)),
            read_table,
            render_pages,
            ready,
            api=ApiSettings(**{"refusal_seconds": 0.0, **settings}),
            keys=ApiKeySettings(requests_per_minute=100_000),
            access=AccessSettings(),
            batches=BatchSettings(),
            queue=QueueSettings(),
        )
        return cls(database, services, create_app(services), checks)

    def with_services(self, **changes: Any) -> "Service":
        """Return a copy of the service with some members replaced; fields of `options` are passed by their own
        names."""
        services = copy(self.services)
        names = {item.name for item in fields(services.options)} & changes.keys()
        services.options = replace(services.options, **{name: changes.pop(name) for name in names})
        for name, value in changes.items():
            setattr(services, name, value)
        return Service(self.database, services, create_app(services), self.checks, self.machine_key)

    async def create_tenant(self, tenant: TenantId = ACME) -> None:
        await self.services.tenants.create(tenant, TenantPlan(name=tenant))
        if tenant == ACME:
            self.machine_key = await self.create_key()

    async def create_key(
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

    def open_client(self, key: str | None = None, url: str | None = None) -> httpx2.AsyncClient:
        """Return a client of the application itself, or of the server that runs at the URL."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        transport = None if url else httpx2.ASGITransport(app=self.app)
        return httpx2.AsyncClient(transport=transport, base_url=url or "http://api", headers=headers, timeout=60)

    @asynccontextmanager
    async def open_caller(self, *scopes: Scope, tenant: TenantId = ACME) -> AsyncIterator[httpx2.AsyncClient]:
        async with self.open_client(await self.create_key(*scopes, tenant=tenant)) as client:
            yield client

    async def lease_next(self) -> Lease:
        (lease,) = await PgLeases(self.database, QueueSettings()).acquire("worker", FreeSlots(1, 0))
        return lease

    async def finish(self, problem: Problem | None = None, graph: GraphRecord | None = None) -> Lease:
        """Finish the next job: with a report, or as failed with a problem."""
        leases = PgLeases(self.database, QueueSettings())
        lease = await self.lease_next()
        run = EvaluationId(f"run_{lease.job}")
        assert await leases.record_run(lease, run, {})
        if problem is None:
            await PgReports(self.database).store(report(run).model_copy(update={"graph": graph}))
        verdict = JobVerdict(state="failed" if problem else "succeeded", run_id=run, problem=problem, cost_usd=0.25)
        assert await leases.finish(lease, verdict)
        return lease


@asynccontextmanager
async def serve(app: ASGIApp) -> AsyncIterator[str]:
    """The application behind a real server; gives its URL."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=5)
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        async with asyncio.TaskGroup() as tasks:
            server_task = tasks.create_task(server.serve([listener]))
            try:
                yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            finally:
                server.should_exit = True
                await server_task
