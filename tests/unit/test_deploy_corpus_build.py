"""The job that builds the corpus on a cluster, as far as it can be checked without one."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from index.capacity_planning import CapacityRequest, load_planning_constants, plan_capacity

JOB = Path(__file__).parents[2] / "k8s" / "corpus" / "build" / "job.yaml"


@pytest.fixture(scope="module")
def job() -> dict[str, Any]:
    specification: dict[str, Any] = yaml.safe_load(JOB.read_text("utf-8"))["spec"]
    return specification


def test_corpus_build_pods_mount_the_same_volumes(job: dict[str, Any]) -> None:
    cluster = job["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    volume_mounts = [group["template"]["spec"]["containers"][0]["volumeMounts"] for group in groups]
    assert all(item == volume_mounts[0] for item in volume_mounts)


def test_corpus_build_pods_have_the_planned_memory(job: dict[str, Any]) -> None:
    """A shard for every processor at once, and on the head also who deals the papers out."""
    assert "--shards 16" in job["entrypoint"]
    request = CapacityRequest(papers=200_000_000, model="specter2", profile="gpu-1", shards=16)
    planned = {figure.name: figure.value for figure in plan_capacity(request, load_planning_constants()).memory}
    cluster = job["rayClusterSpec"]
    (workers,) = cluster["workerGroupSpecs"]
    for group, extra_memory in ((cluster["headGroupSpec"], planned["To distribute papers to shards"]), (workers, 0)):
        limits = group["template"]["spec"]["containers"][0]["resources"]
        needed = int(limits["requests"]["cpu"]) * planned["To build one of 16 shards"] + extra_memory
        assert int(limits["limits"]["memory"].removesuffix("Gi")) * 2**30 * 0.8 > needed
