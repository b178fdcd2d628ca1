"""`/metrics` in Prometheus' text format: the whole cluster's figures from the database, and this process's counters."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from psutil import pid_exists

from orchestrator.store import ServiceMetrics

__all__ = ["prometheus_text", "service_metric_families"]

_MULTIPROCESS_DIR = "PROMETHEUS_MULTIPROC_DIR"
_LIVE_FILE = re.compile(r"gauge_live\w*_(?P<process>\d+)\.db")


class _ServiceCollector(Collector):
    def __init__(self, metrics: ServiceMetrics | None) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        up = self._metrics is not None
        yield _gauge("assayer_database_up", "1 while the database answers.", [], [((), float(up))])
        if self._metrics is not None:
            yield from service_metric_families(self._metrics)


def prometheus_text(metrics: ServiceMetrics | None) -> bytes:
    """Prometheus' text format. `metrics` is None where the database does not answer: then only what processes have
    counted."""
    cluster = CollectorRegistry()
    cluster.register(_ServiceCollector(metrics))
    return generate_latest(cluster) + generate_latest(_processes())


def _processes() -> CollectorRegistry:
    """This process's, or with PROMETHEUS_MULTIPROC_DIR of all that share that directory."""
    shared = os.environ.get(_MULTIPROCESS_DIR)
    if shared is None:
        return REGISTRY
    _remove_dead_processes(Path(shared))
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def _remove_dead_processes(folder: Path) -> None:
    """The live gauges of processes that were killed go; their counters stay."""
    for file in folder.iterdir():
        if (match := _LIVE_FILE.fullmatch(file.name)) and not pid_exists(int(match["process"])):
            file.unlink(missing_ok=True)


def service_metric_families(metrics: ServiceMetrics) -> Iterator[Metric]:
    """Every process answers the same: take the maximum over instances, not the sum."""
    yield _gauge(
        "assayer_jobs_queued",
        "Jobs that wait.",
        ["tenant", "priority"],
        (((one.tenant, one.priority), one.jobs) for one in metrics.queued),
    )
    yield _gauge(
        "assayer_queue_oldest_seconds",
        "How long the job that waits longest could have started.",
        ["tenant", "priority"],
        (((one.tenant, one.priority), one.oldest_seconds) for one in metrics.queued),
    )
    yield _gauge(
        "assayer_jobs_running",
        "Jobs that are worked on.",
        ["tenant", "priority"],
        (((one.tenant, one.priority), one.jobs) for one in metrics.running),
    )
    ended = ["tenant", "kind", "state"]
    yield _gauge(
        "assayer_jobs_ended_last_hour",
        "Jobs that got their verdict in the last hour.",
        ended,
        (((one.tenant, one.kind, one.state), one.jobs) for one in metrics.finished),
    )
    yield _gauge(
        "assayer_jobs_cost_usd_last_hour",
        "What the jobs that ended in the last hour cost.",
        ended,
        (((one.tenant, one.kind, one.state), one.cost_usd) for one in metrics.finished),
    )
    yield _gauge(
        "assayer_job_seconds_last_hour",
        "From acceptance to verdict.",
        [*ended, "quantile"],
        (
            ((one.tenant, one.kind, one.state, quantile), value)
            for one in metrics.finished
            for quantile, value in (("0.5", one.p50), ("0.95", one.p95))
        ),
    )
    yield from _spending(metrics)
    yield from _task_calls(metrics)
    yield _gauge(
        "assayer_webhook_deliveries_pending",
        "Messages to webhooks that are not delivered yet.",
        [],
        [((), metrics.pending_deliveries.deliveries)],
    )
    yield _gauge(
        "assayer_webhook_oldest_seconds",
        "Age of the oldest of them.",
        [],
        [((), metrics.pending_deliveries.oldest_seconds)],
    )
    yield _gauge(
        "assayer_mails_pending",
        "Mails to members that the mail server has not taken yet.",
        [],
        [((), metrics.pending_mails.deliveries)],
    )
    yield _gauge(
        "assayer_mail_oldest_seconds", "Age of the oldest of them.", [], [((), metrics.pending_mails.oldest_seconds)]
    )
    yield _gauge(
        "assayer_mails_given_up_last_hour",
        "Mails that were given up in the last hour.",
        [],
        [((), metrics.mails_given_up)],
    )


def _spending(metrics: ServiceMetrics) -> Iterator[Metric]:
    yield _gauge(
        "assayer_tenant_spent_usd_this_month",
        "What the jobs that ended in this calendar month, UTC, have cost.",
        ["tenant"],
        (((one.tenant,), one.spent_usd) for one in metrics.spending),
    )
    yield _gauge(
        "assayer_tenant_monthly_usd",
        "What may be spent in a calendar month, of tenants with such a limit.",
        ["tenant"],
        (((one.tenant,), one.monthly_usd) for one in metrics.spending if one.monthly_usd is not None),
    )


def _task_calls(metrics: ServiceMetrics) -> Iterator[Metric]:
    tasks = metrics.tasks
    yield _gauge(
        "assayer_stage_calls_last_5_minutes",
        "Calls of a task to language models, answers from the cache included.",
        ["task"],
        (((one.task,), one.calls) for one in tasks),
    )
    yield _gauge(
        "assayer_stage_cached_last_5_minutes",
        "Of these, answered from the cache.",
        ["task"],
        (((one.task,), one.cached) for one in tasks),
    )
    yield _gauge(
        "assayer_stage_failed_last_5_minutes",
        "Of these, failed.",
        ["task"],
        (((one.task,), one.failed) for one in tasks),
    )
    yield _gauge(
        "assayer_stage_seconds_last_5_minutes",
        "Time of a call that was sent.",
        ["task", "quantile"],
        (
            ((one.task, quantile), value)
            for one in tasks
            for quantile, value in (("0.5", one.p50), ("0.95", one.p95))
            if value is not None
        ),
    )


def _gauge(
    name: str, about: str, labels: list[str], values: Iterable[tuple[tuple[str, ...], float]]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, about, labels=labels)
    for of, value in values:
        family.add_metric(list(of), value)
    return family
