"""`/metrics`: what the database says about the whole cluster, and what this process has counted."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from psutil import pid_exists

from orchestrator.store import Census

__all__ = ["exposition", "families"]

_SHARED = "PROMETHEUS_MULTIPROC_DIR"
_LIVE_FILE = re.compile(r"gauge_live\w*_(?P<process>\d+)\.db")


class _Counted(Collector):
    def __init__(self, census: Census | None) -> None:
        self._census = census

    def collect(self) -> Iterable[Metric]:
        up = self._census is not None
        yield _family("assayer_database_up", "1 while the database answers.", [], [((), float(up))])
        if self._census is not None:
            yield from families(self._census)


def exposition(census: Census | None) -> bytes:
    """Prometheus' text format. Without a census, of a database that does not answer: what processes have counted."""
    cluster = CollectorRegistry()
    cluster.register(_Counted(census))
    return generate_latest(cluster) + generate_latest(_processes())


def _processes() -> CollectorRegistry:
    """This process's, or with PROMETHEUS_MULTIPROC_DIR of all that share that directory."""
    shared = os.environ.get(_SHARED)
    if shared is None:
        return REGISTRY
    _forget_the_dead(Path(shared))
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def _forget_the_dead(folder: Path) -> None:
    """What a process that was killed had in work is in work no longer; what it has counted stays."""
    for file in folder.iterdir():
        if (match := _LIVE_FILE.fullmatch(file.name)) and not pid_exists(int(match["process"])):
            file.unlink(missing_ok=True)


def families(census: Census) -> Iterator[Metric]:
    """The same whichever process is asked: take the greatest over instances, not the sum."""
    yield _family(
        "assayer_jobs_queued",
        "Jobs that wait.",
        ["tenant", "priority"],
        (((one.tenant, one.priority), one.jobs) for one in census.queued),
    )
    yield _family(
        "assayer_queue_oldest_seconds",
        "How long the job that waits longest could have been begun.",
        ["tenant", "priority"],
        (((one.tenant, one.priority), one.oldest_seconds) for one in census.queued),
    )
    yield _family(
        "assayer_jobs_running",
        "Jobs that are worked on.",
        ["tenant", "priority"],
        (((one.tenant, one.priority), one.jobs) for one in census.running),
    )
    ended = ["tenant", "kind", "state"]
    yield _family(
        "assayer_jobs_ended_last_hour",
        "Jobs that got their verdict in the last hour.",
        ended,
        (((one.tenant, one.kind, one.state), one.jobs) for one in census.ended),
    )
    yield _family(
        "assayer_jobs_cost_usd_last_hour",
        "What the jobs that ended in the last hour cost.",
        ended,
        (((one.tenant, one.kind, one.state), one.cost_usd) for one in census.ended),
    )
    yield _family(
        "assayer_job_seconds_last_hour",
        "From acceptance to verdict.",
        [*ended, "quantile"],
        (
            ((one.tenant, one.kind, one.state, quantile), value)
            for one in census.ended
            for quantile, value in (("0.5", one.p50), ("0.95", one.p95))
        ),
    )
    yield from _money(census)
    yield from _stages(census)
    yield _family(
        "assayer_webhook_deliveries_pending", "Messages that are owed to webhooks.", [], [((), census.owed.deliveries)]
    )
    yield _family(
        "assayer_webhook_oldest_seconds",
        "For how long the oldest of them is owed.",
        [],
        [((), census.owed.oldest_seconds)],
    )


def _money(census: Census) -> Iterator[Metric]:
    yield _family(
        "assayer_tenant_spent_usd_this_month",
        "What the jobs that ended in this calendar month, UTC, have cost.",
        ["tenant"],
        (((one.tenant,), one.spent_usd) for one in census.money),
    )
    yield _family(
        "assayer_tenant_monthly_usd",
        "What may be spent in a calendar month, of tenants with such a limit.",
        ["tenant"],
        (((one.tenant,), one.monthly_usd) for one in census.money if one.monthly_usd is not None),
    )


def _stages(census: Census) -> Iterator[Metric]:
    stages = census.stages
    yield _family(
        "assayer_stage_calls_last_5_minutes",
        "Calls of a task to language models, answers from the cache included.",
        ["task"],
        (((one.task,), one.calls) for one in stages),
    )
    yield _family(
        "assayer_stage_cached_last_5_minutes",
        "Of these, answered from the cache.",
        ["task"],
        (((one.task,), one.cached) for one in stages),
    )
    yield _family(
        "assayer_stage_failed_last_5_minutes",
        "Of these, failed.",
        ["task"],
        (((one.task,), one.failed) for one in stages),
    )
    yield _family(
        "assayer_stage_seconds_last_5_minutes",
        "Time of a call that was sent.",
        ["task", "quantile"],
        (
            ((one.task, quantile), value)
            for one in stages
            for quantile, value in (("0.5", one.p50), ("0.95", one.p95))
            if value is not None
        ),
    )


def _family(
    name: str, about: str, labels: list[str], values: Iterable[tuple[tuple[str, ...], float]]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, about, labels=labels)
    for of, value in values:
        family.add_metric(list(of), value)
    return family
