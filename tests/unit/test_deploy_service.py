"""The service on Kubernetes, as far as it can be checked without one."""

import re
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import ray
import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
_KUBERNETES = "1.34"


@pytest.fixture(scope="module")
def service() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "kubernetes" / "service.yaml").read_text("utf-8"))["spec"]
    return found


@pytest.fixture(scope="module")
def groups(service: dict[str, Any]) -> list[dict[str, Any]]:
    cluster = service["rayClusterConfig"]
    return [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]


def test_it_serves_the_pools_of_the_clusters_file(service: dict[str, Any]) -> None:
    assert service["serveConfigV2"] == (DEPLOY / "serve" / "cpu-cluster.yaml").read_text("utf-8")


def test_its_pods_are_what_kubernetes_understands_and_see_the_same_files(groups: list[dict[str, Any]]) -> None:
    for group in groups:
        pod = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "one"}, "template": group["template"]}
        kubernetes_validate.validate(pod, _KUBERNETES, strict=True)
    containers = [group["template"]["spec"]["containers"][0] for group in groups]
    assert all(one["env"] == containers[0]["env"] for one in containers)
    assert all(one["volumeMounts"] == containers[0]["volumeMounts"] for one in containers)


def test_a_cluster_asks_for_a_token_and_runs_the_ray_that_is_tested(service: dict[str, Any]) -> None:
    cluster = service["rayClusterConfig"]
    assert cluster["authOptions"] == {"mode": "token"}
    assert cluster["rayVersion"] == ray.__version__


def test_smallest_cluster_has_room_for_the_fewest_processes_of_every_pool(service: dict[str, Any]) -> None:
    config = yaml.safe_load(service["serveConfigV2"])
    pools = config["applications"][0]["args"]["serving"]
    needed = sum(one.get("replicas", 1) * one.get("cpus", 0.1) for name, one in pools.items() if isinstance(one, dict))
    (workers,) = service["rayClusterConfig"]["workerGroupSpecs"]
    cpus = int(workers["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"])
    assert workers["minReplicas"] * cpus >= needed


def test_work_that_a_pod_has_begun_has_time_to_end(service: dict[str, Any], groups: list[dict[str, Any]]) -> None:
    drain = yaml.safe_load(service["serveConfigV2"])["applications"][0]["args"]["serving"]["drain_seconds"]
    for group in groups[1:]:
        assert group["template"]["spec"]["terminationGracePeriodSeconds"] > drain


def test_image_has_all_packages_and_extras_that_exist() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = set(project["project"]["optional-dependencies"]) - {"dev", "rl"}  # policies are trained elsewhere
    (named,) = re.findall(r'(?m)^extras="(.+)"$', (DEPLOY / "lock.sh").read_text("utf-8"))
    assert set(named.split()) == extras
    found = project["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = {one.removesuffix("*") for one in found} | {"client"}
    assert set(re.findall(r"^COPY (\w+) \1$", text, re.M)) == packages
    for copied in re.findall(r"^COPY (.+) \./$", text, re.M)[0].split():
        assert (ROOT / copied).is_file()
