"""Service in this process for `assayer mcp --local`, which offers the same tools without a separate service or a port.

Its jobs and reports are stored in this machine's database, like those of `assayer serve`."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from cluster.mcp.callers import ClientOpener, make_opener_with_own_key
from cluster.service import LOCAL_TENANT, open_service
from cluster.settings import Settings
from orchestrator.access.api_keys import KeyPlan, generate_key
from orchestrator.access.audit_chain import ActBy, Actor
from orchestrator.jobs.models import TenantPlan
from orchestrator.store import PgKeys, PgTenants

_OPERATOR = Actor("command", "the command line of the service", "machine")
_URL = "http://127.0.0.1"
"""Base URL for requests to the application, which do not leave this process."""


@asynccontextmanager
async def run_local_service(settings: Settings) -> AsyncIterator[ClientOpener]:
    """Run the service and yield a client opener for it, whose key is valid until the context ends. Unfinished jobs then
    return to the queue, and continue at the next start. Raises ConfigurationError or StorageError if the service cannot
    start."""
    async with open_service(settings) as service:
        await PgTenants(service.database).create(LOCAL_TENANT, TenantPlan(name="Agents on this machine"))
        key_store, key = PgKeys(service.database), generate_key()
        plan = KeyPlan(name="assayer mcp --local", scopes=frozenset({"submit", "read"}))
        await key_store.create(LOCAL_TENANT, plan, key)
        service_task = asyncio.create_task(service.run())
        try:
            yield make_opener_with_own_key(_URL, key.secret, httpx2.ASGITransport(service.app))
        finally:
            await service.drain(0)
            service_task.cancel()
            await asyncio.gather(service_task, return_exceptions=True)
            await key_store.revoke(LOCAL_TENANT, key.id, ActBy(_OPERATOR, dt.datetime.now(dt.UTC)))
