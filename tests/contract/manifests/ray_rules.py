"""Rules for KubeRay: settings its operator refuses or overlooks, and what the Serve file requires of its cluster."""

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import yaml
from packaging.version import Version

from tests.contract.manifests.resources import Resource, Resources, filter_by_kind, get_full_name, list_pods

_UPGRADES = {"NewCluster", "NewClusterWithIncrementalUpgrade", "None"}
_TOKENS_SINCE = Version("2.52.0")
_BEHIND_FEATURE_GATES = {"networkPolicy", "tlsOptions", "historyServerOptions"}


def find_ray_problems(resources: Resources) -> Iterator[str]:
    for item in filter_by_kind(resources, "RayService", "RayJob"):
        spec = item["spec"]
        cluster = spec.get("rayClusterConfig") or spec["rayClusterSpec"]
        serving_problems = _check_serving(spec, cluster)
        rules = (
            _check_operator(spec, cluster),
            _check_redis(spec, cluster),
            _check_pods(resources, item, cluster),
            serving_problems,
        )
        yield from (f"{get_full_name(item)}: {problem}" for rule in rules for problem in rule)
    for item in filter_by_kind(resources, "RayCronJob"):
        yield f"{get_full_name(item)}: is behind a feature gate"


def _check_operator(spec: dict[str, Any], cluster: dict[str, Any]) -> Iterator[str]:
    if (kind := spec.get("upgradeStrategy", {}).get("type", "None")) not in _UPGRADES:
        yield f"the operator knows no upgrade {kind}"
    if cluster.get("authOptions") != {"mode": "token"}:
        yield "whoever reaches it may run code in it"
    if Version(cluster["rayVersion"]) < _TOKENS_SINCE or cluster["rayVersion"] != version("ray"):
        yield f"says that it runs Ray {cluster['rayVersion']}, and the image has {version('ray')}"
    for field in sorted(_BEHIND_FEATURE_GATES & cluster.keys()):
        yield f"{field} is behind a feature gate"
    for group in cluster["workerGroupSpecs"]:
        if not group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]:
            yield f"{group['groupName']}: {group['replicas']} pods are not between the fewest and the most"
    scales = cluster.get("enableInTreeAutoscaling") and cluster.get("autoscalerOptions", {}).get("version") == "v2"
    templates = [cluster["headGroupSpec"]["template"], *(item["template"] for item in cluster["workerGroupSpecs"])]
    if scales and any(template["spec"].get("restartPolicy") != "Never" for template in templates):
        yield "the autoscaler's second version wants restartPolicy Never in every pod"


def _check_redis(spec: dict[str, Any], cluster: dict[str, Any]) -> Iterator[str]:
    options = cluster.get("gcsFaultToleranceOptions", {})
    if "serveConfigV2" in spec and not options:
        yield "a head that dies takes every worker along"
    head = cluster["headGroupSpec"]
    container = head["template"]["spec"]["containers"][0]
    variables = {item["name"] for item in container.get("env", ())}
    if "redisPassword" in options and ("redis-password" in head["rayStartParams"] or "REDIS_PASSWORD" in variables):
        yield "the password of Redis is given twice"
    if "redisPassword" in options and "valueFrom" not in options["redisPassword"]:
        yield "the password of Redis is written down"


def _check_pods(resources: Resources, resource: Resource, cluster: dict[str, Any]) -> Iterator[str]:
    """All processes of a cluster have the same image and settings; secrets differ (test_secrets)."""
    pods = [pod for pod in list_pods(resources) if pod.of.startswith(f"{get_full_name(resource)}: ")]
    first = pods[0].containers[0]
    for pod in pods:
        (container,) = pod.containers
        for field, of_container, of_head in (
            ("image", container["image"], first["image"]),
            ("settings", _get_settings(container), _get_settings(first)),
        ):
            if of_container != of_head:
                yield f"{pod.of}: {field} differ from the head's"
    options = cluster.get("gcsFaultToleranceOptions")
    if options:
        name, _, port = options["redisAddress"].partition(":")
        service_ports = {
            (item["metadata"]["name"], str(two["port"]))
            for item in filter_by_kind(resources, "Service")
            for two in item["spec"]["ports"]
        }
        if (name, port) not in service_ports:
            yield f"Redis is not at {name}:{port}"


def _get_settings(container: dict[str, Any]) -> list[Any]:
    plain_variables = [item for item in container.get("env", ()) if "valueFrom" not in item]
    return [*plain_variables, *(source for source in container.get("envFrom", ()) if "configMapRef" in source)]


def _check_serving(spec: dict[str, Any], cluster: dict[str, Any]) -> Iterator[str]:
    """The fewest processes of every pool find room on the fewest pods, and may end what they have begun."""
    if "serveConfigV2" not in spec:
        return
    (application,) = yaml.safe_load(spec["serveConfigV2"])["applications"]
    pools = application["args"].get("serving")
    if pools is None:
        return
    processes = [pool for pool in pools.values() if isinstance(pool, dict)]
    for name, field, default in (("cpu", "cpus", 0.1), ("nvidia.com/gpu", "gpus", 0.0)):
        required = sum(process.get("replicas", 1) * process.get(field, default) for process in processes)
        available = sum(
            group["minReplicas"]
            * float(group["template"]["spec"]["containers"][0]["resources"]["requests"].get(name, 0))
            for group in cluster["workerGroupSpecs"]
        )
        if required > available:
            yield f"the pools need {required:g} of {name}, and the fewest pods have {available:g}"
    if labels := pools.get("node_labels"):
        for group in cluster["workerGroupSpecs"]:
            has_secrets = "env" in group["template"]["spec"]["containers"][0]
            if (group.get("labels") == labels) != has_secrets:
                yield f"{group['groupName']}: the pools that need secrets do not run where they are"
    elif len(cluster["workerGroupSpecs"]) > 1:
        yield "pools that need secrets may run on any node"
    for group in cluster["workerGroupSpecs"]:
        if group["template"]["spec"].get("terminationGracePeriodSeconds", 30) <= pools["drain_seconds"]:
            yield f"{group['groupName']}: what a pod has begun it may not end"
