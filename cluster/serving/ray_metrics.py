"""Export of this process's metrics to Ray's metrics agent, which reports the metrics of all processes on its node.

If all processes are on one machine, they share a folder instead, and the ingress reports all their metrics
(`orchestrator.api.metrics`)."""

import os
import threading
import time
from collections.abc import Iterable
from functools import cache

from prometheus_client import REGISTRY
from prometheus_client.metrics_core import Metric
from ray.util.metrics import Gauge

_SECONDS = 10.0
"""Seconds between exports, equal to the interval at which Ray reports to its own agent."""
_OURS = "assayer_"
_SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"


class RayMetrics:
    """Exporter that sets a Ray gauge for each sample. It also uses gauges for counters and histograms, because Ray's
    counters can only be incremented. Prometheus can compute rates and quantiles from gauges too."""

    def __init__(self) -> None:
        self._gauges: dict[str, Gauge] = {}

    def export(self, families: Iterable[Metric]) -> None:
        for family in families:
            for sample in family.samples:
                if sample.name.startswith(_OURS) and not sample.name.endswith("_created"):
                    self._get_gauge(sample.name, family.documentation, tuple(sample.labels)).set(
                        sample.value, tags=dict(sample.labels)
                    )

    def _get_gauge(self, name: str, description: str, labels: tuple[str, ...]) -> Gauge:
        if name not in self._gauges:
            self._gauges[name] = Gauge(name, description=description, tag_keys=labels)
        return self._gauges[name]


@cache
def export_to_ray() -> None:
    """Start the export once per process. It runs until the process ends."""
    if _SHARED_FOLDER not in os.environ:
        threading.Thread(target=_export_regularly, name="metrics for Ray", daemon=True).start()


def _export_regularly() -> None:
    metrics = RayMetrics()
    while True:
        metrics.export(REGISTRY.collect())
        time.sleep(_SECONDS)
