"""The whole service in one process, on one event loop: API, dispatcher, worker, webhooks. No Ray."""

import asyncio
import os
import platform
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI

from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.desk import OFFERED, api_services, examine
from cluster.dispatching import Dispatching, open_dispatching
from cluster.engine import open_engine
from cluster.parts import OWN, Parts
from cluster.performing import worker_of
from cluster.settings import Settings
from orchestrator.api.application import application
from orchestrator.api.resources import Check
from orchestrator.jobs.models import TenantId
from orchestrator.jobs.tenancy import KeyPlan, TenantPlan, draw_key
from orchestrator.store import Database, Listener, PgKeys, PgTenants
from orchestrator.work.local import LocalEvaluators
from orchestrator.work.worker import Worker

__all__ = ["Service", "first_key", "open_service", "process_name"]

_FIRST_TENANT = TenantId("default")
_MARGIN_SECONDS = 5.0
"""For what the worker gives back to be seen by the dispatcher."""


@dataclass(frozen=True)
class Service:
    """`run` it for as long as `app` is served."""

    app: FastAPI
    database: Database
    worker: Worker
    dispatching: Dispatching

    async def run(self) -> None:
        """Until it is cancelled; `drain` first."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.worker.run())
            group.create_task(self.dispatching.run())

    async def drain(self, seconds: float) -> None:
        """Leases nothing more, lets what is in hand end within that time, and gives the rest back."""
        await asyncio.gather(self.dispatching.drain(seconds + _MARGIN_SECONDS), self.worker.drain(seconds))


@asynccontextmanager
async def open_service(settings: Settings, parts: Parts = OWN) -> AsyncIterator[Service]:
    """Raises ConfigurationError and StorageError; what else is lacking is told by the jobs that need it."""
    clock = SystemClock()
    name = process_name()
    async with (
        open_database(settings) as database,
        Listener(database) as listener,
        open_engine(settings, tuple(OFFERED), database, for_service=True, parts=parts) as engine,
    ):
        worker = worker_of(name, settings, database, listener, engine)

        async def ready() -> list[Check]:
            return await examine(database, engine)

        services = api_services(settings, database, listener, clock, engine.corpora, ready)
        evaluators = LocalEvaluators(worker)
        async with open_dispatching(name, settings, database, listener, evaluators, clock) as dispatching:
            yield Service(application(services), database, worker, dispatching)


async def first_key(database: Database) -> str | None:
    """Where there is no tenant yet: makes one, and a key that may do anything. Nobody can be told it again."""
    tenants = PgTenants(database)
    if await tenants.list(limit=1) or await tenants.create(_FIRST_TENANT, TenantPlan(name="Default")) is None:
        return None
    drawn = draw_key()
    plan = KeyPlan(name="made at the first start", scopes=frozenset({"submit", "read", "manage", "admin"}))
    await PgKeys(database).create(_FIRST_TENANT, plan, drawn)
    return drawn.secret


def process_name() -> str:
    """Told in the rows of the jobs that it works on."""
    return f"{platform.node()}-{os.getpid()}-{secrets.token_hex(2)}"
