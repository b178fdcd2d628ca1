"""What the API stands on, put together from the settings: the same for one process and for a cluster."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from assayer.errors import AssayerError
from assayer.methods import grapheval, scholareval
from assayer.methods.innoeval.options import METHOD as INNOEVAL
from assayer.ports import Clock
from cluster.engine import Engine
from cluster.settings import Settings
from cluster.webhooks import check_address, seal_of
from orchestrator.api.identifiers import drawn
from orchestrator.api.resources import Check
from orchestrator.api.searching import SearchedCorpora
from orchestrator.api.services import Services
from orchestrator.store import (
    Database,
    Listener,
    PgCensus,
    PgEvents,
    PgJobs,
    PgKeys,
    PgLedger,
    PgTenants,
    PgUsage,
)
from orchestrator.store.webhooks import PgWebhooks

__all__ = ["OFFERED", "api_services", "examine"]

OFFERED: Mapping[str, str] = {
    scholareval.METHOD: "Soundness and contribution of an idea, each claim held against the literature it finds.",
    grapheval.METHOD: "A verdict from ideas whose outcomes are known, through a graph of their viewpoints.",
    INNOEVAL: "A board of reviewers with different backgrounds judges the idea by what papers, web and code show.",
}
"""What each method is, in one line."""


def api_services(
    settings: Settings,
    database: Database,
    listener: Listener,
    clock: Clock,
    corpora: SearchedCorpora | None,
    ready: Callable[[], Awaitable[Sequence[Check]]],
) -> Services:
    return Services(
        settings=settings.api,
        clock=clock,
        ids=drawn(clock),
        jobs=PgJobs(database),
        events=PgEvents(database),
        ledger=PgLedger(database),
        tenants=PgTenants(database),
        keys=PgKeys(database, settings.keys),
        usage=PgUsage(database),
        census=PgCensus(database),
        listener=listener,
        methods=OFFERED,
        corpora=corpora,
        ready=ready,
        webhooks=PgWebhooks(database),
        seal=seal_of(settings),
        check_address=partial(check_address, settings.webhooks),
        batches=settings.batches,
    )


async def examine(database: Database, engine: Engine) -> list[Check]:
    """What evaluations need; a method that cannot run here is no reason to turn all others away."""
    health = await database.ping()
    lacking = [f"{name}: {why}" for name, why in (await engine.lacking()).items() if why is not None]
    return [
        Check(name="database", ok=not health.problem, detail=health.problem or f"{health.server}, {health.where}."),
        await _language_model(engine),
        Check(
            name="methods",
            ok=len(lacking) < len(engine.methods),
            detail="; ".join(lacking) or f"{', '.join(engine.methods)} can run.",
        ),
    ]


async def _language_model(engine: Engine) -> Check:
    name = "language model"
    try:
        await engine.reach()
    except AssayerError as error:
        return Check(name=name, ok=False, detail=str(error))
    models = engine.world.llm.models
    return Check(name=name, ok=True, detail=f"{', '.join(models)} within reach." if models else "None is configured.")
