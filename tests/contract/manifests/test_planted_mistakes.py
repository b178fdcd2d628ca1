"""Mistakes planted in manifests that are right: each is found, by the words that name it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.manifests.pod_rules import find_pod_problems
from tests.contract.manifests.ray_rules import find_ray_problems
from tests.contract.manifests.reference_rules import find_reference_problems
from tests.contract.manifests.resources import Resource, build_folder, get_full_name
from tests.contract.manifests.schemas import DEFINITIONS, find_schema_problems

Planting = Callable[[dict[str, Resource]], Any]


def _get_cluster(have: dict[str, Resource]) -> dict[str, Any]:
    cluster: dict[str, Any] = have["RayService/assayer"]["spec"]["rayClusterConfig"]
    return cluster


def _get_head(have: dict[str, Resource]) -> dict[str, Any]:
    head_spec: dict[str, Any] = _get_cluster(have)["headGroupSpec"]["template"]["spec"]
    return head_spec


def _get_pools(have: dict[str, Resource]) -> dict[str, Any]:
    worker_group: dict[str, Any] = _get_cluster(have)["workerGroupSpecs"][0]
    return worker_group


def _get_grobid(have: dict[str, Resource]) -> dict[str, Any]:
    grobid_spec: dict[str, Any] = have["Deployment/assayer-grobid"]["spec"]["template"]["spec"]
    return grobid_spec


def _get_spec(have: dict[str, Resource], name: str) -> dict[str, Any]:
    resource_spec: dict[str, Any] = have[name]["spec"]
    return resource_spec


MISTAKES: list[tuple[str, Planting]] = [
    ("may run as root", lambda have: _get_grobid(have)["securityContext"].update(runAsNonRoot=False)),
    ("may gain privileges", lambda have: _get_head(have)["containers"][0]["securityContext"].update(privileged=True)),
    ("keeps capabilities", lambda have: _get_grobid(have)["containers"][0]["securityContext"].pop("capabilities")),
    ("may write into its image", lambda have: _get_head(have)["containers"][0]["securityContext"].clear()),
    (
        "sees the node's own files",
        lambda have: _get_head(have)["volumes"].append({"name": "h", "hostPath": {"path": "/"}}),
    ),
    ("another program tomorrow", lambda have: _get_grobid(have)["containers"][0].update(image="grobid/grobid:latest")),
    ("and this is version", lambda have: _get_head(have)["containers"][0].update(image="assayer:0.0.9")),
    ("not held to the memory", lambda have: _get_grobid(have)["containers"][0]["resources"].pop("limits")),
    ("has no readinessProbe", lambda have: _get_grobid(have)["containers"][0].pop("readinessProbe")),
    ("that it has not", lambda have: _get_grobid(have)["containers"][0]["livenessProbe"]["httpGet"].update(port=8071)),
    (
        "which nobody makes",
        lambda have: _get_pools(have)["template"]["spec"]["containers"][0]["envFrom"][1]["secretRef"].update(
            name="asayer"
        ),
    ),
    (
        "takes the claim",
        lambda have: _get_pools(have)["template"]["spec"]["volumes"][1]["persistentVolumeClaim"].update(
            claimName="papers"
        ),
    ),
    ("which is not there", lambda have: _get_head(have)["containers"][0]["volumeMounts"][0].update(name="corpora")),
    ("a token for Kubernetes", lambda have: _get_grobid(have).pop("automountServiceAccountToken")),
    (
        "leads to no pod",
        lambda have: _get_spec(have, "Service/assayer-grobid")["selector"].update({"assayer/part": "pdf"}),
    ),
    ("listens to the world", lambda have: _get_spec(have, "Service/assayer-grobid").update(type="LoadBalancer")),
    (
        "is about no pod",
        lambda have: _get_spec(have, "NetworkPolicy/door")["podSelector"]["matchLabels"].update(part="x"),
    ),
    (
        "pods that are not there",
        lambda have: _get_spec(have, "NetworkPolicy/redis")["ingress"][0]["from"][0].update(
            podSelector={"matchLabels": {"assayer/part": "heads"}}
        ),
    ),
    (
        "never lets a node be drained",
        lambda have: _get_spec(have, "PodDisruptionBudget/assayer-pools").update(minAvailable=4),
    ),
    (
        "a plain minAvailable alone",
        lambda have: _get_spec(have, "PodDisruptionBudget/assayer-pools").update(minAvailable="75%"),
    ),
    ("and so does its autoscaler", lambda have: _get_spec(have, "Deployment/assayer-grobid").update(replicas=2)),
    (
        "leads to assayer-head-svc",
        lambda have: _get_spec(have, "HTTPRoute/assayer")["rules"][0]["backendRefs"][0].update(name="assayer-head-svc"),
    ),
    (
        "a listener that is not there",
        lambda have: _get_spec(have, "HTTPRoute/assayer")["parentRefs"][0].update(sectionName="tls"),
    ),
    (
        "asks at a port",
        lambda have: _get_spec(have, "PodMonitor/assayer")["podMetricsEndpoints"][0].update(port="http"),
    ),
    (
        "knows no upgrade",
        lambda have: _get_spec(have, "RayService/assayer")["upgradeStrategy"].update(type="RollingUpdate"),
    ),
    ("may run code in it", lambda have: _get_cluster(have).pop("authOptions")),
    ("wants restartPolicy Never", lambda have: _get_head(have).update(restartPolicy="Always")),
    ("given twice", lambda have: _get_cluster(have)["headGroupSpec"]["rayStartParams"].update({"redis-password": "x"})),
    ("Redis is not at", lambda have: _get_cluster(have)["gcsFaultToleranceOptions"].update(redisAddress="redis:6379")),
    ("takes every worker along", lambda have: _get_cluster(have).pop("gcsFaultToleranceOptions")),
    ("behind a feature gate", lambda have: _get_cluster(have).update(networkPolicy={"mode": "DenyAllIngress"})),
    ("not between the fewest and the most", lambda have: _get_cluster(have)["workerGroupSpecs"][0].update(replicas=40)),
    (
        "differ from the head's",
        lambda have: _get_cluster(have)["workerGroupSpecs"][1]["template"]["spec"]["containers"][0].pop("envFrom"),
    ),
    ("do not run where they are", lambda have: _get_pools(have).pop("labels")),
    ("the fewest pods have 0", lambda have: _get_cluster(have)["workerGroupSpecs"].pop(1)),
    (
        "it may not end",
        lambda have: _get_cluster(have)["workerGroupSpecs"][0]["template"]["spec"].update(
            terminationGracePeriodSeconds=60
        ),
    ),
]

UNKNOWN_FIELDS: list[tuple[str, Planting]] = [
    ("Deployment/assayer-grobid", lambda have: _get_grobid(have)["containers"][0].update(livenesProbe={})),
    ("RayService/assayer", lambda have: _get_cluster(have).update(enableInTreeAutoScaling=True)),
    (
        "RayService/assayer: pools",
        lambda have: _get_cluster(have)["workerGroupSpecs"][0]["template"]["spec"].update(nodeSelectors={}),
    ),
    ("Cluster/assayer-postgres", lambda have: _get_spec(have, "Cluster/assayer-postgres").update(replicas=3)),
    (
        "ScheduledBackup/assayer-postgres",
        lambda have: _get_spec(have, "ScheduledBackup/assayer-postgres").update(method="dump"),
    ),
    ("PodMonitor/assayer", lambda have: _get_spec(have, "PodMonitor/assayer").update(endpoints=[])),
    (
        "PrometheusRule/assayer",
        lambda have: _get_spec(have, "PrometheusRule/assayer")["groups"][0]["rules"][0].update(severity="page"),
    ),
    (
        "Gateway/assayer",
        lambda have: _get_spec(have, "Gateway/assayer")["listeners"][0]["tls"].update(mode="Terminated"),
    ),
    ("HTTPRoute/assayer", lambda have: _get_spec(have, "HTTPRoute/assayer")["rules"][0].update(timeout="0s")),
    ("NetworkPolicy/door", lambda have: _get_spec(have, "NetworkPolicy/door").update(ingres=[])),
]


def _plant(planting: Planting) -> list[Resource]:
    resources = build_folder("overlays/gpu")
    planting({get_full_name(resource): resource for resource in resources})
    return list(resources)


@pytest.mark.parametrize(("words", "planting"), MISTAKES, ids=[words for words, _ in MISTAKES])
def test_planted_mistake_is_found(words: str, planting: Planting) -> None:
    resources = _plant(planting)
    problems = [*find_pod_problems(resources), *find_reference_problems(resources), *find_ray_problems(resources)]
    assert [problem for problem in problems if words in problem], problems


@pytest.mark.parametrize(("name", "planting"), UNKNOWN_FIELDS, ids=[name for name, _ in UNKNOWN_FIELDS])
def test_unknown_field_is_found(name: str, planting: Planting) -> None:
    custom = not name.startswith(("Deployment", "NetworkPolicy", "RayService/assayer:"))
    if custom and not DEFINITIONS.is_dir():
        pytest.skip("shared/data/kubernetes is not here")
    assert [problem for problem in find_schema_problems(_plant(planting)) if problem.startswith(f"{name}:")]
