"""Network policies: the service can make the connections it needs, and no others."""

import pytest

from tests.contract.manifests.network_reach import allows, iterate_egress_peers, iterate_ingress_rules
from tests.contract.manifests.resources import Pod, Resources, build_folder, filter_by_kind, list_pods

SERVICES = ("bucket", "cpu", "gpu", "gpu-search", "llm", "mail", "small", "kind")
_NAMESPACE = "kubernetes.io/metadata.name"
_DNS = (
    {"namespaceSelector": {"matchLabels": {_NAMESPACE: "kube-system"}}},
    {"ipBlock": {"cidr": "169.254.20.10/32"}},
    {"namespaceSelector": {"matchLabels": {_NAMESPACE: "openshift-dns"}}},
)


def _build_overlay(name: str) -> Resources:
    return [*build_folder(f"overlays/{name}"), *build_folder("overlays/nightly")]


def _get_pods_by_part(resources: Resources) -> dict[str, Pod]:
    return {pod.labels["assayer/part"]: pod for pod in list_pods(resources)}


@pytest.fixture(params=SERVICES)
def resources(request: pytest.FixtureRequest) -> Resources:
    return _build_overlay(request.param)


def test_every_pod_is_restricted_by_a_network_policy(resources: Resources) -> None:
    policies = filter_by_kind(resources, "NetworkPolicy")
    for pod in list_pods(resources):
        assert {} not in list(iterate_ingress_rules(policies, pod)), f"anybody may ask {pod.of}"
        assert {} not in list(iterate_egress_peers(policies, pod)), f"{pod.of} may ask anybody"


def test_only_pools_accept_traffic_from_the_gateway(resources: Resources) -> None:
    policies = filter_by_kind(resources, "NetworkPolicy")
    reached: dict[str, dict[str, set[int]]] = {}
    for pod in list_pods(resources):
        for rule in iterate_ingress_rules(policies, pod):
            assert rule["from"], f"anybody may ask {pod.of}"
            for peer in rule["from"]:
                assert "ipBlock" not in peer, f"{pod.of} listens to addresses"
                if "namespaceSelector" in peer:
                    namespace = peer["namespaceSelector"]["matchLabels"][_NAMESPACE]
                    ports = {port["port"] for port in rule["ports"]}
                    reached.setdefault(namespace, {}).setdefault(pod.labels["assayer/part"], set()).update(ports)
    assert reached.get("envoy-gateway-system", {"pools": {8000}}) == {"pools": {8000}}
    assert reached.keys() <= {"envoy-gateway-system", "kuberay-system", "cnpg-system", "monitoring"}


def test_required_connections_are_allowed(resources: Resources) -> None:
    policies, parts = filter_by_kind(resources, "NetworkPolicy"), _get_pods_by_part(resources)
    calls = [
        ("head", "redis", 6379),
        ("head", "pools", 40_000),
        ("pools", "head", 6379),
        ("pools", "pools", 8000),
        ("pools", "postgres", 5432),
        ("pools", "grobid", 8070),
        ("gpus", "head", 6379),
        ("pools", "gpus", 40_000),
        ("pools", "llm", 8000),
        ("llm", "llm-head", 6379),
        ("dump", "postgres", 5432),
        ("migrate", "postgres", 5432),
        ("corpus-gpus", "corpus-head", 6379),
        ("submitter", "corpus-head", 8265),
    ]
    for source, target, port in calls:
        if {source, target} <= parts.keys():
            assert allows(policies, parts[source], parts[target], port), f"{source} cannot ask {target}"


def test_other_connections_are_blocked(resources: Resources) -> None:
    policies, parts = filter_by_kind(resources, "NetworkPolicy"), _get_pods_by_part(resources)
    calls = [
        ("pools", "redis", 6379),
        ("gpus", "postgres", 5432),
        ("grobid", "postgres", 5432),
        ("grobid", "pools", 8000),
        ("redis", "postgres", 5432),
        ("postgres", "pools", 8000),
        ("llm", "postgres", 5432),
        ("llm", "pools", 8000),
        ("pools", "llm", 8265),
        ("corpus-gpus", "postgres", 5432),
        ("schedule", "pools", 8000),
        ("dump", "head", 8265),
    ]
    for source, target, port in calls:
        if {source, target} <= parts.keys():
            assert not allows(policies, parts[source], parts[target], port), f"{source} can ask {target}"


def test_closed_cluster_pods_connect_only_internally_and_to_dns() -> None:
    """Every peer of every pod is a pod of the namespace or the cluster's own DNS server."""
    resources = build_folder("overlays/llm")
    policies = filter_by_kind(resources, "NetworkPolicy")
    pods = list_pods(resources)
    assert {pod.labels["assayer/part"] for pod in pods} >= {"head", "pools", "gpus", "llm", "llm-head", "postgres"}
    for pod in pods:
        peers = list(iterate_egress_peers(policies, pod))
        assert not [peer for peer in peers if peer.keys() != {"podSelector"} and peer not in _DNS], pod.of


@pytest.mark.parametrize("name", SERVICES)
def test_every_pod_can_resolve_dns_on_each_cluster_type(name: str) -> None:
    resources = build_folder(f"overlays/{name}")
    policies = filter_by_kind(resources, "NetworkPolicy")
    for pod in list_pods(resources):
        assert [peer for peer in iterate_egress_peers(policies, pod) if peer in _DNS] == list(_DNS), pod.of


def test_only_pools_and_gpu_workers_reach_public_addresses() -> None:
    resources = build_folder("overlays/gpu")
    policies = filter_by_kind(resources, "NetworkPolicy")
    public: set[str] = set()
    private: set[str] = set()
    for pod in list_pods(resources):
        for block in (
            peer["ipBlock"] for peer in iterate_egress_peers(policies, pod) if "ipBlock" in peer and peer not in _DNS
        ):
            block_group = public if block["cidr"] == "0.0.0.0/0" else private
            block_group.add(pod.labels["assayer/part"])
            if block_group is public:
                assert {"10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"} <= {*block["except"]}
    assert (public, private) == ({"pools", "gpus"}, {"head", "postgres"})
