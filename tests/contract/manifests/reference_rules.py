"""References from one resource to another are correct: selectors, ports, budgets, routes."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.contract.manifests.pod_rules import list_known_secrets
from tests.contract.manifests.resources import Pod, Resource, Resources, filter_by_kind, get_full_name, list_pods


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Return whether a selector matches labels, as Kubernetes does: an empty selector matches everything."""
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    for item in selector.get("matchExpressions", ()):
        value, values = labels.get(item["key"]), item.get("values", ())
        matches_by_operator = {
            "In": value in values,
            "NotIn": value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }
        if not matches_by_operator[item["operator"]]:
            return False
    return True


def find_reference_problems(resources: Resources) -> Iterator[str]:
    pods = list_pods(resources)
    yield from _check_selectors(resources, pods)
    yield from _check_services(resources, pods)
    yield from _check_policies(resources, pods)
    yield from _check_budgets(resources, pods)
    yield from _check_autoscalers(resources)
    yield from _check_ingress(resources)
    yield from _check_monitors(resources, pods)


def _check_selectors(resources: Resources, pods: list[Pod]) -> Iterator[str]:
    for item in filter_by_kind(resources, "Deployment", "StatefulSet"):
        if not selects(item["spec"]["selector"], item["spec"]["template"]["metadata"]["labels"]):
            yield f"{get_full_name(item)} does not select its own pods"
    for item in filter_by_kind(resources, "PodDisruptionBudget", "PodMonitor"):
        if not any(selects(item["spec"]["selector"], pod.labels) for pod in pods):
            yield f"{get_full_name(item)} selects no pod"


def _check_services(resources: Resources, pods: list[Pod]) -> Iterator[str]:
    for item in filter_by_kind(resources, "Service"):
        selected_pods = [pod for pod in pods if selects({"matchLabels": item["spec"]["selector"]}, pod.labels)]
        if not selected_pods:
            yield f"{get_full_name(item)} leads to no pod"
        for port in item["spec"]["ports"]:
            if any(port["targetPort"] not in pod.ports for pod in selected_pods):
                yield f"{get_full_name(item)} leads to a port {port['targetPort']} that its pods have not"
        if item["spec"].get("type", "ClusterIP") != "ClusterIP":
            yield f"{get_full_name(item)} listens to the world"


def _check_policies(resources: Resources, pods: list[Pod]) -> Iterator[str]:
    for item in filter_by_kind(resources, "NetworkPolicy"):
        selected_pods = [pod for pod in pods if selects(item["spec"]["podSelector"], pod.labels)]
        if not selected_pods:
            yield f"{get_full_name(item)} is about no pod"
        peers = [
            peer["podSelector"]
            for rule in (*item["spec"].get("ingress", ()), *item["spec"].get("egress", ()))
            for peer in (*rule.get("from", ()), *rule.get("to", ()))
            if peer.keys() == {"podSelector"}
        ]
        for peer in peers:
            if not any(selects(peer, pod.labels) for pod in pods):
                yield f"{get_full_name(item)} names pods that are not there: {peer}"


def _check_budgets(resources: Resources, pods: list[Pod]) -> Iterator[str]:
    fewest = {
        item["spec"]["scaleTargetRef"]["name"]: item["spec"]["minReplicas"]
        for item in filter_by_kind(resources, "HorizontalPodAutoscaler")
    }
    for item in filter_by_kind(resources, "PodDisruptionBudget"):
        spec = item["spec"]
        for pod in pods:
            if not selects(spec["selector"], pod.labels):
                continue
            if pod.ray and not isinstance(spec.get("minAvailable"), int):
                yield f"{get_full_name(item)}: of pods of Ray, Kubernetes takes a plain minAvailable alone"
            replica_count = pod.fewest if pod.ray else fewest.get(pod.of.partition("/")[2], 1)
            min_available = spec.get("minAvailable", 0)
            if spec.get("maxUnavailable") == 0 or (isinstance(min_available, int) and min_available >= replica_count):
                yield f"{get_full_name(item)} never lets a node be drained"


def _check_autoscalers(resources: Resources) -> Iterator[str]:
    resources_by_name = {get_full_name(resource): resource for resource in resources}
    for item in filter_by_kind(resources, "HorizontalPodAutoscaler"):
        target = item["spec"]["scaleTargetRef"]
        target_resource = resources_by_name.get(f"{target['kind']}/{target['name']}")
        if target_resource is None:
            yield f"{get_full_name(item)} scales what is not there"
        elif "replicas" in target_resource["spec"]:
            yield f"{get_full_name(target_resource)} says how many there are, and so does its autoscaler"


def _check_ingress(resources: Resources) -> Iterator[str]:
    secrets = list_known_secrets(resources)
    services = {
        (item["metadata"]["name"], port["port"])
        for item in filter_by_kind(resources, "Service")
        for port in item["spec"]["ports"]
    }
    services |= {(f"{item['metadata']['name']}-serve-svc", 8000) for item in filter_by_kind(resources, "RayService")}
    listeners: set[tuple[str, str]] = set()
    for gateway in filter_by_kind(resources, "Gateway"):
        for listener in gateway["spec"]["listeners"]:
            listeners.add((gateway["metadata"]["name"], listener["name"]))
            for secret in listener.get("tls", {}).get("certificateRefs", ()):
                if secret["name"] not in secrets:
                    yield f"{get_full_name(gateway)} shows a certificate that nobody makes: {secret['name']}"
    for route in filter_by_kind(resources, "HTTPRoute"):
        for parent in route["spec"]["parentRefs"]:
            if (parent["name"], parent["sectionName"]) not in listeners:
                yield f"{get_full_name(route)} hangs on a listener that is not there"
        yield from _check_route(route, services)


def _check_route(route: Resource, services: set[tuple[str, int]]) -> Iterator[str]:
    for rule in route["spec"]["rules"]:
        for backend in rule.get("backendRefs", ()):
            if (backend["name"], backend["port"]) not in services:
                yield f"{get_full_name(route)} leads to {backend['name']}, port {backend['port']}, which is not there"
        is_plain_http = route["spec"]["parentRefs"][0]["sectionName"] != "https"
        if is_plain_http and rule.get("backendRefs"):
            yield f"{get_full_name(route)} leads in without encryption"


def _check_monitors(resources: Resources, pods: list[Pod]) -> Iterator[str]:
    secrets = list_known_secrets(resources)
    for item in filter_by_kind(resources, "PodMonitor"):
        for endpoint in item["spec"]["podMetricsEndpoints"]:
            selected_pods = [pod for pod in pods if selects(item["spec"]["selector"], pod.labels)]
            if not any(endpoint["port"] in pod.ports for pod in selected_pods):
                yield f"{get_full_name(item)} asks at a port {endpoint['port']} that its pods have not"
            key = endpoint.get("authorization", {}).get("credentials")
            if key and key["key"] not in secrets.get(key["name"], ()):
                yield f"{get_full_name(item)} shows a key that nobody makes: {key['name']}"
