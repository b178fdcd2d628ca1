"""Service in a single process, without Ray: API and evaluator on one event loop, built from the settings.

`cluster.serving` builds pools of processes from the same components."""

import asyncio
import os
import platform
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from fastapi import FastAPI

from assayer.errors import AssayerError
from assayer.methods.innoeval.personas import load_built_in_persona_pool
from assayer.ports import Clock
from assayer.ranking.comparison import describe_judging
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.engine import Engine, open_engine
from cluster.engine_components import NOTHING_SHARED, SharedComponents
from cluster.evaluator import Evaluator, open_evaluator
from cluster.mail import build_mail_outbox
from cluster.methods import METHOD_DESCRIPTIONS, METHODS
from cluster.reward_judge import describe_known_judges
from cluster.settings import Settings
from cluster.submitted_documents import open_documents
from cluster.typical_usage import estimate_typical_board, estimate_typical_evaluations
from cluster.webhooks import check_webhook_address, load_secret_cipher
from orchestrator.access.api_keys import KeyPlan, generate_key
from orchestrator.access.identity_provider import IdentityProvider
from orchestrator.application import create_app
from orchestrator.event_loop_lag import watch_event_loop
from orchestrator.jobs.models import TenantId, TenantPlan
from orchestrator.problems import Check
from orchestrator.services.evaluation_options import EvaluationOptions
from orchestrator.services.reward_judges import RewardJudges
from orchestrator.store import (
    Database,
    NotificationListener,
    PgKeys,
    PgTenants,
)
from orchestrator.web.searchable_corpus import SearchableCorpora
from orchestrator.web.services import Services
from workers.documents.document_parsing import read_table
from workers.documents.page_rendering import render_pages


def build_api_services(
    settings: Settings,
    database: Database,
    listener: NotificationListener,
    clock: Clock,
    corpora: SearchableCorpora | None,
    ready: Callable[[], Awaitable[Sequence[Check]]],
    unavailable: Mapping[str, str] | None = None,
) -> Services:
    """Build the API's services. `unavailable` maps methods to the reasons why they cannot run here; None derives it
    from the settings."""
    board = settings.innoeval.board
    return Services(
        database,
        listener,
        clock,
        EvaluationOptions(
            methods=METHOD_DESCRIPTIONS,
            unavailable=_list_methods_without_llm(settings) if unavailable is None else unavailable,
            scicompanion=settings.scicompanion,
            typical_evaluations=estimate_typical_evaluations(settings.llm, board),
            gpu_speeds=settings.llm.gpu_speeds if settings.llm else {},
            get_typical_board=estimate_typical_board(settings.llm, board),
            judging=describe_judging(settings.ranking, settings.llm.model if settings.llm else None, None),
            blind=settings.evaluation.blind,
            unpriced_models=tuple(model for model in settings.llm.models if model not in settings.llm.prices)
            if settings.llm
            else (),
            methods_without_llm=frozenset(name for name, method in METHODS.items() if not method.asks_llm),
            overnight=settings.llm is not None and settings.llm.batch.enabled,
            personas=len(load_built_in_persona_pool().personas),
            board_models=settings.evaluation.board_models,
        ),
        RewardJudges(describe_known_judges(settings.debate), settings.debate.composition),
        build_mail_outbox(settings, database),
        load_secret_cipher(settings),
        partial(check_webhook_address, settings.webhooks),
        read_table,
        render_pages,
        ready,
        api=settings.api,
        keys=settings.keys,
        access=settings.access,
        batches=settings.batches,
        queue=settings.queue,
        documents=open_documents(settings, database),
        identity_providers=_create_identity_providers(settings, clock),
        corpora=corpora,
        group_seconds=settings.rewards.group_seconds,
        max_abstract_chars=settings.curation.abstract_chars,
    )


def _list_methods_without_llm(settings: Settings) -> dict[str, str]:
    methods = [name for name, method in METHODS.items() if method.needs_llm] if settings.llm is None else []
    return dict.fromkeys(methods, "It needs a language model, but none is configured.")


def _create_identity_providers(settings: Settings, clock: Clock) -> dict[str, IdentityProvider]:
    callback_url = f"{settings.access.url}/console/callback"
    return {
        name: IdentityProvider(name, provider, callback_url, clock)
        for name, provider in settings.access.providers.items()
    }


async def check_readiness(database: Database, engine: Engine) -> list[Check]:
    """Check the database, the language model and the methods. The service is ready if at least one method can run."""
    health = await database.ping()
    unavailable = [
        f"{name}: {reason}" for name, reason in (await engine.find_unavailable_methods()).items() if reason is not None
    ]
    return [
        Check(name="database", ok=not health.problem, detail=health.problem or f"{health.server}, {health.address}."),
        await _check_language_model(engine),
        Check(
            name="methods",
            ok=len(unavailable) < len(engine.methods),
            detail="; ".join(unavailable) or f"{', '.join(engine.methods)} can run.",
        ),
    ]


async def _check_language_model(engine: Engine) -> Check:
    name = "language model"
    try:
        await engine.check_llm_reachable()
    except AssayerError as error:
        return Check(name=name, ok=False, detail=str(error))
    models = engine.backends.llm.models
    return Check(name=name, ok=True, detail=f"{', '.join(models)}: reachable." if models else "None is configured.")


_FIRST_TENANT = TenantId("default")
LOCAL_TENANT = TenantId("mcp-local")
"""Tenant of the agents that `assayer mcp --local` serves."""


@dataclass(frozen=True)
class Service:
    """A service and its app. `run` must be running while `app` is served."""

    app: FastAPI
    database: Database
    evaluator: Evaluator

    async def run(self) -> None:
        """Run until cancelled; call `drain` before cancelling."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.evaluator.run())
            group.create_task(watch_event_loop())

    async def drain(self, seconds: float) -> None:
        """Stop leasing, wait up to `seconds` for running jobs, then return unfinished ones to the queue."""
        await self.evaluator.drain(seconds)


@asynccontextmanager
async def open_service(settings: Settings, components: SharedComponents = NOTHING_SHARED) -> AsyncIterator[Service]:
    """Open the service. Raises ConfigurationError or StorageError if it cannot start. Other components may be
    unavailable; jobs that need them fail with the reason."""
    clock = SystemClock()
    async with (
        open_database(settings) as database,
        NotificationListener(database) as listener,
        open_engine(settings, tuple(METHOD_DESCRIPTIONS), database, for_service=True, components=components) as engine,
    ):

        async def ready() -> list[Check]:
            return await check_readiness(database, engine)

        unavailable = {name: reason.message for name, reason in engine.methods.items() if reason is not None}
        services = build_api_services(settings, database, listener, clock, engine.corpora, ready, unavailable)
        async with open_evaluator(make_process_name(), settings, database, listener, engine, clock) as evaluator:
            yield Service(create_app(services), database, evaluator)


async def create_first_key(database: Database) -> str | None:
    """Create a default tenant and a key that has every scope, and return the key, which cannot be shown again. Returns
    None if any tenant other than that of local agents exists."""
    tenants = PgTenants(database)
    other_tenants = [tenant for tenant in await tenants.list(limit=2) if tenant.id != LOCAL_TENANT]
    if other_tenants or await tenants.create(_FIRST_TENANT, TenantPlan(name="Default")) is None:
        return None
    key = generate_key()
    plan = KeyPlan(name="created at first start", scopes=frozenset({"submit", "read", "manage", "admin"}))
    await PgKeys(database).create(_FIRST_TENANT, plan, key)
    return key.secret


def make_process_name() -> str:
    """Return a unique name for this process, which is recorded with the jobs that it runs."""
    return f"{platform.node()}-{os.getpid()}-{secrets.token_hex(2)}"
