"""Names and labels of all metrics of the service."""

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from prometheus_client import REGISTRY

import orchestrator
import workers
from orchestrator.api.metrics import build_metric_families
from orchestrator.store import ServiceMetrics

_ROOT = Path(__file__).parents[2]
_SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
_FINISHED = {"tenant": "bees", "kind": "evaluation", "jobs": 1, "cost_usd": 0.1, "p50": 1.0, "p95": 2.0}
_SERVICE_METRICS: ServiceMetrics = {
    "queued": [{"tenant": "bees", "priority": "batch", "jobs": 1, "oldest_seconds": 2.0}],
    "running": [{"tenant": "bees", "priority": "batch", "jobs": 1}],
    "finished": [{**_FINISHED, "state": "failed", "exhausted": 1}],
    "tasks": [{"task": "review", "calls": 3, "cached": 1, "failed": 1, "p50": 0.5, "p95": 1.0}],
    "spending": [{"tenant": "bees", "monthly_usd": 10.0, "spent_usd": 1.0}],
    "deliveries": [{"messages": 1, "oldest_seconds": 2.0}],
    "mails": [{"messages": 2, "oldest_seconds": 3.0}],
    "failed_mails": [{"messages": 1}],
}


@cache
def collect_metric_labels() -> Mapping[str, set[str]]:
    """Return the labels of every metric by its name in PromQL; metrics are registered when their module is imported."""
    labels_by_name = {
        sample.name: set(sample.labels)
        for family in build_metric_families(_SERVICE_METRICS)
        for sample in family.samples
    } | {"assayer_database_up": set()}
    for package in (workers, orchestrator):
        for file in Path(package.__path__[0]).rglob("*.py"):
            if "prometheus_client" in file.read_text("utf-8"):
                importlib.import_module(".".join(file.relative_to(_ROOT).with_suffix("").parts))
    for collector in list(REGISTRY._collector_to_names):
        name, kind = getattr(collector, "_name", ""), getattr(collector, "_type", "")
        if name.startswith("assayer_"):
            labels = set(getattr(collector, "_labelnames", ()))
            for suffix in _SUFFIXES[kind]:
                labels_by_name[name + suffix] = labels | ({"le"} if suffix == "_bucket" else set())
    return labels_by_name
