"""Figures of every process arrive where Prometheus asks: at the metrics agent of its node."""

import os
import urllib.request
from collections.abc import Iterator

import pytest
import ray
from prometheus_client.parser import text_string_to_metric_families
from ray import serve

from cluster.ray_cluster import enter_private_environment
from cluster.serving.replica import ReplicaConfig
from tests.cluster.served.counting import Counting
from tests.polling import wait_until

pytestmark = pytest.mark.slow

REPLICAS = 2


@pytest.fixture(scope="module")
def metrics_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a node's figures, of a Ray that tells some."""
    with pytest.MonkeyPatch.context() as patch, enter_private_environment() as folder:
        patch.setenv("RAY_enable_metrics_collection", "1")
        patch.setenv("ASSAYER_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("RAY_metrics_report_interval_ms", "1000")
        ray.init(
            num_cpus=2,
            object_store_memory=100 * 2**20,
            _temp_dir=str(folder),
            include_dashboard=False,
            _node_ip_address="127.0.0.1",
        )
        try:
            serve.start(proxy_location="Disabled", logging_config={"log_level": "WARNING"})
            (node,) = ray.nodes()  # type: ignore[no-untyped-call]
            yield f"http://127.0.0.1:{node['MetricsExportPort']}/metrics"
            serve.shutdown()  # type: ignore[no-untyped-call]
        finally:
            ray.shutdown()


def _read_counts(address: str) -> set[tuple[str, float]]:
    """Return the count of each process, by process."""
    with urllib.request.urlopen(address, timeout=10) as page:  # noqa: S310 - of our own Ray
        text = page.read().decode()
    return {
        (sample.labels["WorkerId"], sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "ray_assayer_job_attempts_total" and sample.labels["kind"] == "of this test"
    }


def test_metrics_of_each_replica_are_exported_by_its_node(metrics_address: str) -> None:
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ
    deployment = serve.deployment(name="counting", num_replicas=REPLICAS, ray_actor_options={"num_cpus": 0.1})(Counting)
    serve.run(deployment.bind(ReplicaConfig()), name="counting", route_prefix=None)

    metric_counts = wait_until(
        lambda: _read_counts(metrics_address), lambda counts: len(counts) == REPLICAS, interval=0.5
    )

    assert {value for _, value in metric_counts} == {3.0}
