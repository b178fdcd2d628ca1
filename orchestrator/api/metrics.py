"""The content of `/metrics` in Prometheus' text format: figures for the whole cluster, read from the database, and this
process's counters."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from psutil import pid_exists

from orchestrator.store import ServiceMetrics

_MULTIPROCESS_DIR = "PROMETHEUS_MULTIPROC_DIR"
_LIVE_FILE = re.compile(r"gauge_live\w*_(?P<process>\d+)\.db")


_QUANTILES = {"p50": "0.5", "p95": "0.95"}
_Query: TypeAlias = tuple[str, tuple[str, ...]]
"""Name of a query in PgServiceMetrics, and the columns that become labels."""
_QUEUED_QUERY = ("queued", ("tenant", "priority"))
_RUNNING_QUERY = ("running", ("tenant", "priority"))
_FINISHED_QUERY = ("finished", ("tenant", "kind", "state"))
_EXHAUSTED_QUERY = ("finished", ("tenant", "kind"))
_SPENDING_QUERY = ("spending", ("tenant",))
_TASKS_QUERY = ("tasks", ("task",))
_DELIVERIES_QUERY: _Query = ("deliveries", ())
_MAILS_QUERY: _Query = ("mails", ())
_FAILED_MAILS_QUERY: _Query = ("failed_mails", ())
_GAUGES: Mapping[str, tuple[str, _Query, str]] = {
    "assayer_jobs_queued": ("Queued jobs.", _QUEUED_QUERY, "jobs"),
    "assayer_queue_oldest_seconds": (
        "Seconds for which the longest-waiting job has been ready to start.",
        _QUEUED_QUERY,
        "oldest_seconds",
    ),
    "assayer_jobs_running": ("Running jobs.", _RUNNING_QUERY, "jobs"),
    "assayer_jobs_ended_last_hour": ("Jobs that ended in the last hour.", _FINISHED_QUERY, "jobs"),
    "assayer_jobs_exhausted_last_hour": (
        "Jobs that failed in the last hour with no attempts left.",
        _EXHAUSTED_QUERY,
        "exhausted",
    ),
    "assayer_jobs_cost_usd_last_hour": ("Cost of the jobs that ended in the last hour.", _FINISHED_QUERY, "cost_usd"),
    "assayer_job_seconds_last_hour": (
        "Seconds from acceptance to the end of a job, for jobs that ended in the last hour.",
        _FINISHED_QUERY,
        "p50 p95",
    ),
    "assayer_tenant_spent_usd_this_month": (
        "Cost of the jobs that ended in this calendar month (UTC).",
        _SPENDING_QUERY,
        "spent_usd",
    ),
    "assayer_tenant_monthly_usd": (
        "Monthly budget, for tenants that have one.",
        _SPENDING_QUERY,
        "monthly_usd",
    ),
    "assayer_stage_requests_last_5_minutes": (
        "Language model requests by task, including those answered from the cache.",
        _TASKS_QUERY,
        "calls",
    ),
    "assayer_stage_cached_last_5_minutes": (
        "Language model requests answered from the cache, by task.",
        _TASKS_QUERY,
        "cached",
    ),
    "assayer_stage_failed_last_5_minutes": ("Language model requests that failed, by task.", _TASKS_QUERY, "failed"),
    "assayer_stage_seconds_last_5_minutes": (
        "Duration of requests that were sent to a provider, by task.",
        _TASKS_QUERY,
        "p50 p95",
    ),
    "assayer_webhook_deliveries_pending": ("Webhook messages not yet delivered.", _DELIVERIES_QUERY, "messages"),
    "assayer_webhook_oldest_seconds": (
        "Age of the oldest undelivered webhook message.",
        _DELIVERIES_QUERY,
        "oldest_seconds",
    ),
    "assayer_emails_pending": ("Emails to members not yet accepted by the mail server.", _MAILS_QUERY, "messages"),
    "assayer_email_oldest_seconds": (
        "Age of the oldest email not yet accepted by the mail server.",
        _MAILS_QUERY,
        "oldest_seconds",
    ),
    "assayer_emails_abandoned_last_hour": (
        "Emails to members abandoned as undeliverable in the last hour.",
        _FAILED_MAILS_QUERY,
        "messages",
    ),
}
"""Help text, query and value columns of each gauge, by name."""


class _ServiceCollector(Collector):
    def __init__(self, metrics: ServiceMetrics | None) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        is_up = self._metrics is not None
        yield GaugeMetricFamily("assayer_database_up", "1 if the database responds, 0 if not.", value=float(is_up))
        if self._metrics is not None:
            yield from build_metric_families(self._metrics)


def render_metrics(metrics: ServiceMetrics | None) -> bytes:
    """Return all metrics in Prometheus' text format. If the database does not respond, `metrics` is None, and only
    `assayer_database_up` and this process's counters are included."""
    cluster_registry = CollectorRegistry()
    cluster_registry.register(_ServiceCollector(metrics))
    return generate_latest(cluster_registry) + generate_latest(_get_process_registry())


def _get_process_registry() -> CollectorRegistry:
    """Return this process's registry or, if PROMETHEUS_MULTIPROC_DIR is set, one for all processes that share that
    directory."""
    folder = os.environ.get(_MULTIPROCESS_DIR)
    if folder is None:
        return REGISTRY
    _remove_dead_processes(Path(folder))
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def _remove_dead_processes(folder: Path) -> None:
    """Remove the live gauges of processes that were killed; their counters are kept."""
    for file in folder.iterdir():
        if (match := _LIVE_FILE.fullmatch(file.name)) and not pid_exists(int(match["process"])):
            file.unlink(missing_ok=True)


def build_metric_families(metrics: ServiceMetrics) -> Iterator[Metric]:
    """Yield metrics for the whole service. Every process reports the same values, so queries must take the maximum over
    instances, not the sum."""
    for name, (description, (query, labels), columns_text) in _GAUGES.items():
        columns = columns_text.split()
        family = GaugeMetricFamily(name, description, labels=[*labels, "quantile"] if len(columns) > 1 else labels)
        for row in metrics.get(query, ()):
            for column in columns:
                if row[column] is not None:
                    quantile = [_QUANTILES[column]] if len(columns) > 1 else []
                    family.add_metric([*(row[label] for label in labels), *quantile], row[column])
        yield family
