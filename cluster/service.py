"""The service composed from the settings: API and evaluator, here on one event loop. No Ray.

`cluster.serving` makes pools of processes from the same pieces.
"""

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
from assayer.methods.innoeval.options import BoardOptions
from assayer.methods.innoeval.personas import built_in_persona_pool, load_persona_pool
from assayer.ports import Clock
from assayer.ranking.comparison import judging_now
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.engine import Engine, open_engine
from cluster.engine_parts import NOTHING_SHARED, SharedParts
from cluster.evaluator import Evaluator, open_evaluator
from cluster.mail import mail_outbox
from cluster.methods import METHOD_DESCRIPTIONS, METHODS
from cluster.reward_judge import known_judges
from cluster.settings import Settings
from cluster.submitted_documents import open_documents
from cluster.typical_usage import typical_board, typical_evaluations
from cluster.webhooks import check_webhook_address, load_secret_cipher
from orchestrator.access.identity_provider import IdentityProvider
from orchestrator.api.application import create_app
from orchestrator.api.common_schemas import Check
from orchestrator.api.identifiers import id_generator
from orchestrator.api.searchable_corpus import SearchableCorpora
from orchestrator.api.services import RewardJudges, Services
from orchestrator.event_loop_lag import watch_event_loop
from orchestrator.jobs.api_keys import KeyPlan, generate_key
from orchestrator.jobs.item_outcomes import CurationOutcome, ProposalOutcome, ScoreOutcome
from orchestrator.jobs.models import TenantId, TenantPlan
from orchestrator.store import (
    Database,
    NotificationListener,
    PgEvents,
    PgItemOutcomes,
    PgJobs,
    PgKeys,
    PgLedger,
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
from workers.documents.document_ideas import read_table

__all__ = [
    "Service",
    "api_services",
    "check_readiness",
    "create_first_key",
    "open_service",
    "process_name",
]


def api_services(
    settings: Settings,
    database: Database,
    listener: NotificationListener,
    clock: Clock,
    corpora: SearchableCorpora | None,
    ready: Callable[[], Awaitable[Sequence[Check]]],
    unavailable: Mapping[str, str] | None = None,
) -> Services:
    """`unavailable`: why methods cannot run here; None: only what the settings tell by themselves is known."""
    audit_log, documents = PgAuditLog(database), open_documents(settings, database)
    mails = mail_outbox(settings, database)
    members = PgMembers(database, audit_log, mails)
    return Services(
        settings=settings.api,
        clock=clock,
        new_id=id_generator(clock),
        jobs=PgJobs(database, settings.queue, documents, document_days=settings.batches.document_days),
        events=PgEvents(database),
        ledger=PgLedger(database),
        call_contents=PgCallContents(database),
        rewards=PgRewards(database),
        groups=PgRewardGroups(database),
        curations=PgItemOutcomes(database, CurationOutcome),
        proposals=PgItemOutcomes(database, ProposalOutcome),
        scores=PgItemOutcomes(database, ScoreOutcome),
        judges=RewardJudges(known_judges(settings.debate), settings.debate.composition),
        tenants=PgTenants(database),
        keys=PgKeys(database, settings.keys),
        access=settings.access,
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
        sessions=PgSessions(database, settings.access),
        sign_in_attempts=PgSignInAttempts(database, settings.access),
        identity_providers=_identity_providers(settings, clock),
        usage=PgUsage(database),
        tables=PgCallTables(database),
        series=PgCallSeries(database),
        figures=PgReportFigures(database),
        costs=PgEvaluationCosts(database),
        erasures=PgErasures(database, audit_log, documents),
        tombstones=PgTombstones(database),
        metrics=PgServiceMetrics(database),
        listener=listener,
        methods=METHOD_DESCRIPTIONS,
        unavailable=_without_llm(settings) if unavailable is None else unavailable,
        corpora=corpora,
        ready=ready,
        webhooks=PgWebhooks(database),
        cipher=load_secret_cipher(settings),
        check_address=partial(check_webhook_address, settings.webhooks),
        batches=settings.batches,
        read_table=read_table,
        group_seconds=settings.rewards.group_seconds,
        walks=settings.scicompanion,
        most_abstract_chars=settings.curation.abstract_chars,
        typical=typical_evaluations(settings.llm, settings.innoeval.board),
        typical_board=typical_board(settings.llm, settings.innoeval.board),
        judging=judging_now(settings.ranking, settings.llm.model if settings.llm else None, None),
        blind=settings.evaluation.blind,
        overnight=settings.llm is not None and settings.llm.batch.enabled,
        personas=_personas(settings.innoeval.board),
        board_models=settings.evaluation.board_models,
    )


def _without_llm(settings: Settings) -> dict[str, str]:
    needing = [name for name, method in METHODS.items() if method.needs_llm] if settings.llm is None else []
    return dict.fromkeys(needing, "It needs a language model, and none is configured.")


def _personas(options: BoardOptions) -> int | None:
    """None: their file cannot be read here. Evaluations say what is wrong with it."""
    try:
        pool = built_in_persona_pool() if options.personas is None else load_persona_pool(options.personas)
    except AssayerError:
        return None
    return len(pool.personas)


def _identity_providers(settings: Settings, clock: Clock) -> dict[str, IdentityProvider]:
    back = f"{settings.access.url}/console/callback"
    return {name: IdentityProvider(name, one, back, clock) for name, one in settings.access.providers.items()}


async def check_readiness(database: Database, engine: Engine) -> list[Check]:
    """What evaluations need; a method that cannot run here is no reason to turn all others away."""
    health = await database.ping()
    unavailable = [f"{name}: {why}" for name, why in (await engine.unavailable_methods()).items() if why is not None]
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
        await engine.reach()
    except AssayerError as error:
        return Check(name=name, ok=False, detail=str(error))
    models = engine.backends.llm.models
    return Check(name=name, ok=True, detail=f"{', '.join(models)} within reach." if models else "None is configured.")


_FIRST_TENANT = TenantId("default")


@dataclass(frozen=True)
class Service:
    """`run` it for as long as `app` is served."""

    app: FastAPI
    database: Database
    evaluator: Evaluator

    async def run(self) -> None:
        """Until it is cancelled; `drain` first."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.evaluator.run())
            group.create_task(watch_event_loop())

    async def drain(self, seconds: float) -> None:
        """Leases nothing more, lets what is in hand end within that time, and gives the rest back."""
        await self.evaluator.drain(seconds)


@asynccontextmanager
async def open_service(settings: Settings, parts: SharedParts = NOTHING_SHARED) -> AsyncIterator[Service]:
    """Raises ConfigurationError and StorageError; what else is unavailable is told by the jobs that need it."""
    clock = SystemClock()
    async with (
        open_database(settings) as database,
        NotificationListener(database) as listener,
        open_engine(settings, tuple(METHOD_DESCRIPTIONS), database, for_service=True, parts=parts) as engine,
    ):

        async def ready() -> list[Check]:
            return await check_readiness(database, engine)

        unavailable = {name: why.message for name, why in engine.methods.items() if why is not None}
        services = api_services(settings, database, listener, clock, engine.corpora, ready, unavailable)
        async with open_evaluator(process_name(), settings, database, listener, engine, clock) as evaluator:
            yield Service(create_app(services), database, evaluator)


async def create_first_key(database: Database) -> str | None:
    """Where there is no tenant yet: makes one, and a key that may do anything. Nobody can be told it again."""
    tenants = PgTenants(database)
    if await tenants.list(limit=1) or await tenants.create(_FIRST_TENANT, TenantPlan(name="Default")) is None:
        return None
    drawn = generate_key()
    plan = KeyPlan(name="made at the first start", scopes=frozenset({"submit", "read", "manage", "admin"}))
    await PgKeys(database).create(_FIRST_TENANT, plan, drawn)
    return drawn.secret


def process_name() -> str:
    """Told in the rows of the jobs that it works on."""
    return f"{platform.node()}-{os.getpid()}-{secrets.token_hex(2)}"
