"""References from one resource to another are correct: selectors, ports, budgets, routes."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.contract.manifests.pod_rules import known_secrets
from tests.contract.manifests.resources import Pod, Resource, Resources, named, of_kind, pods_of


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Return whether a selector matches labels, as Kubernetes does: an empty selector matches everything."""
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    for item in selector.get("matchExpressions", ()):
        value, values = labels.get(item["key"]), item.get("values", ())
        matched = {
            "In": value in values,
            "NotIn": value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }
        if not matched[item["operator"]]:
            return False
    return True


def reference_problems(resources: Resources) -> Iterator[str]:
    pods = pods_of(resources)
    yield from _selectors(resources, pods)
    yield from _services(resources, pods)
    yield from _policies(resources, pods)
    yield from _budgets(resources, pods)
    yield from _scaled(resources)
    yield from _way_in(resources)
    yield from _monitors(resources, pods)


def _selectors(resources: Resources, pods: list[Pod]) -> Iterator[str]:
    for item in of_kind(resources, "Deployment", "StatefulSet"):
        if not selects(item["spec"]["selector"], item["spec"]["template"]["metadata"]["labels"]):
            yield f"{named(item)} does not select its own pods"
    for item in of_kind(resources, "PodDisruptionBudget", "PodMonitor"):
        if not any(selects(item["spec"]["selector"], pod.labels) for pod in pods):
            yield f"{named(item)} selects no pod"


def _services(resources: Resources, pods: list[Pod]) -> Iterator[str]:
    for item in of_kind(resources, "Service"):
        chosen = [pod for pod in pods if selects({"matchLabels": item["spec"]["selector"]}, pod.labels)]
        if not chosen:
            yield f"{named(item)} leads to no pod"
        for port in item["spec"]["ports"]:
            if any(port["targetPort"] not in pod.ports for pod in chosen):
                yield f"{named(item)} leads to a port {port['targetPort']} that its pods have not"
        if item["spec"].get("type", "ClusterIP") != "ClusterIP":
            yield f"{named(item)} listens to the world"


def _policies(resources: Resources, pods: list[Pod]) -> Iterator[str]:
    for item in of_kind(resources, "NetworkPolicy"):
        chosen = [pod for pod in pods if selects(item["spec"]["podSelector"], pod.labels)]
        if not chosen:
            yield f"{named(item)} is about no pod"
        peers = [
            peer["podSelector"]
            for rule in (*item["spec"].get("ingress", ()), *item["spec"].get("egress", ()))
            for peer in (*rule.get("from", ()), *rule.get("to", ()))
            if peer.keys() == {"podSelector"}
        ]
        for peer in peers:
            if not any(selects(peer, pod.labels) for pod in pods):
                yield f"{named(item)} names pods that are not there: {peer}"


def _budgets(resources: Resources, pods: list[Pod]) -> Iterator[str]:
    fewest = {
        item["spec"]["scaleTargetRef"]["name"]: item["spec"]["minReplicas"]
        for item in of_kind(resources, "HorizontalPodAutoscaler")
    }
    for item in of_kind(resources, "PodDisruptionBudget"):
        spec = item["spec"]
        for pod in pods:
            if not selects(spec["selector"], pod.labels):
                continue
            if pod.ray and not isinstance(spec.get("minAvailable"), int):
                yield f"{named(item)}: of pods of Ray, Kubernetes takes a plain minAvailable alone"
            there = pod.fewest if pod.ray else fewest.get(pod.of.partition("/")[2], 1)
            least = spec.get("minAvailable", 0)
            if spec.get("maxUnavailable") == 0 or (isinstance(least, int) and least >= there):
                yield f"{named(item)} never lets a node be drained"


def _scaled(resources: Resources) -> Iterator[str]:
    have = {named(resource): resource for resource in resources}
    for item in of_kind(resources, "HorizontalPodAutoscaler"):
        target = item["spec"]["scaleTargetRef"]
        scaled = have.get(f"{target['kind']}/{target['name']}")
        if scaled is None:
            yield f"{named(item)} scales what is not there"
        elif "replicas" in scaled["spec"]:
            yield f"{named(scaled)} says how many there are, and so does its autoscaler"


def _way_in(resources: Resources) -> Iterator[str]:
    secrets = known_secrets(resources)
    services = {
        (item["metadata"]["name"], port["port"])
        for item in of_kind(resources, "Service")
        for port in item["spec"]["ports"]
    }
    services |= {(f"{item['metadata']['name']}-serve-svc", 8000) for item in of_kind(resources, "RayService")}
    listeners: set[tuple[str, str]] = set()
    for gateway in of_kind(resources, "Gateway"):
        for listener in gateway["spec"]["listeners"]:
            listeners.add((gateway["metadata"]["name"], listener["name"]))
            for secret in listener.get("tls", {}).get("certificateRefs", ()):
                if secret["name"] not in secrets:
                    yield f"{named(gateway)} shows a certificate that nobody makes: {secret['name']}"
    for route in of_kind(resources, "HTTPRoute"):
        for parent in route["spec"]["parentRefs"]:
            if (parent["name"], parent["sectionName"]) not in listeners:
                yield f"{named(route)} hangs on a listener that is not there"
        yield from _route(route, services)


def _route(route: Resource, services: set[tuple[str, int]]) -> Iterator[str]:
    for rule in route["spec"]["rules"]:
        for back in rule.get("backendRefs", ()):
            if (back["name"], back["port"]) not in services:
                yield f"{named(route)} leads to {back['name']}, port {back['port']}, which is not there"
        plain = route["spec"]["parentRefs"][0]["sectionName"] != "https"
        if plain and rule.get("backendRefs"):
            yield f"{named(route)} leads in without encryption"


def _monitors(resources: Resources, pods: list[Pod]) -> Iterator[str]:
    secrets = known_secrets(resources)
    for item in of_kind(resources, "PodMonitor"):
        for endpoint in item["spec"]["podMetricsEndpoints"]:
            chosen = [pod for pod in pods if selects(item["spec"]["selector"], pod.labels)]
            if not any(endpoint["port"] in pod.ports for pod in chosen):
                yield f"{named(item)} asks at a port {endpoint['port']} that its pods have not"
            key = endpoint.get("authorization", {}).get("credentials")
            if key and key["key"] not in secrets.get(key["name"], ()):
                yield f"{named(item)} shows a key that nobody makes: {key['name']}"
