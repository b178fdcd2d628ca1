"""Connections allowed under NetworkPolicies: each side is allowed by a policy that selects it, or selected by none."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from tests.contract.manifests.reference_rules import selects
from tests.contract.manifests.resources import Pod, Resource

Direction = Literal["Ingress", "Egress"]
_FIELDS: Mapping[Direction, tuple[str, str]] = {"Ingress": ("ingress", "from"), "Egress": ("egress", "to")}


def allows(policies: Sequence[Resource], source: Pod, target: Pod, port: int) -> bool:
    """Within the namespace, by TCP."""
    return _allows(policies, "Egress", source, target, port) and _allows(policies, "Ingress", target, source, port)


def _allows(policies: Sequence[Resource], direction: Direction, guarded_pod: Pod, peer_pod: Pod, port: int) -> bool:
    matching_policies = [policy for policy in policies if _is_guarded(policy, direction, guarded_pod)]
    if not matching_policies:
        return True
    rules, peers = _FIELDS[direction]
    return any(
        _has_port(rule, port) and any(_is_peer(peer, peer_pod) for peer in rule.get(peers, ({"podSelector": {}},)))
        for item in matching_policies
        for rule in item["spec"].get(rules, ())
    )


def _is_guarded(policy: Resource, direction: Direction, pod: Pod) -> bool:
    return direction in policy["spec"]["policyTypes"] and selects(policy["spec"]["podSelector"], pod.labels)


def _has_port(rule: Mapping[str, Any], port: int) -> bool:
    return "ports" not in rule or any(item["port"] == port and item["protocol"] == "TCP" for item in rule["ports"])


def _is_peer(peer: Mapping[str, Any], pod: Pod) -> bool:
    return peer.keys() == {"podSelector"} and selects(peer["podSelector"], pod.labels)


def iterate_egress_peers(policies: Sequence[Resource], pod: Pod) -> Iterator[Mapping[str, Any]]:
    """Yield the peers of everything the pod may connect to; an empty peer where it may connect anywhere."""
    matching_policies = [policy for policy in policies if _is_guarded(policy, "Egress", pod)]
    if not matching_policies:
        yield {}
    for item in matching_policies:
        for rule in item["spec"].get("egress", ()):
            yield from rule.get("to", ({},))


def iterate_ingress_rules(policies: Sequence[Resource], pod: Pod) -> Iterator[Mapping[str, Any]]:
    """Yield the rules that admit requests to the pod; an empty rule if no policy restricts it."""
    matching_policies = [policy for policy in policies if _is_guarded(policy, "Ingress", pod)]
    if not matching_policies:
        yield {}
    for item in matching_policies:
        yield from item["spec"].get("ingress", ())
