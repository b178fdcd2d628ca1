"""Rules for every pod: its user, permissions and resources, and that everything it references exists."""

import re
from collections.abc import Iterator
from typing import Any

from assayer.version import __version__
from tests.contract.manifests.resources import ROOT, Pod, Resources, filter_by_kind, get_full_name, list_pods

RUNBOOK = ROOT / "docs" / "run" / "kubernetes.md"
_TAG = re.compile(r"[\w./-]+:[v\d][\w.-]*")


def find_pod_problems(resources: Resources) -> Iterator[str]:
    secrets = list_known_secrets(resources)
    for pod in list_pods(resources):
        if "volumes" not in pod.spec and not pod.claims:
            continue  # what an operator makes of its own accord is not written here
        rules = (
            _check_security_context(pod.spec),
            *(_check_container(pod, container) for container in pod.containers),
            _check_references(pod, resources, secrets),
            _check_token(pod, resources),
        )
        yield from (f"{pod.of}: {problem}" for rule in rules for problem in rule)


def _check_security_context(spec: dict[str, Any]) -> Iterator[str]:
    security_context = spec.get("securityContext", {})
    if not security_context.get("runAsNonRoot") or not security_context.get("runAsUser"):
        yield "may run as root"
    if security_context.get("seccompProfile") != {"type": "RuntimeDefault"}:
        yield "may make any system call"
    if any(spec.get(field) for field in ("hostNetwork", "hostPID", "hostIPC")):
        yield "shares the node's own names"
    if any("hostPath" in volume for volume in spec.get("volumes", ())):
        yield "sees the node's own files"


def _check_container(pod: Pod, container: dict[str, Any]) -> Iterator[str]:
    name, security_context = container["name"], container.get("securityContext", {})
    if security_context.get("privileged") or security_context.get("allowPrivilegeEscalation") is not False:
        yield f"{name} may gain privileges"
    if security_context.get("capabilities") != {"drop": ["ALL"]}:
        yield f"{name} keeps capabilities"
    if not security_context.get("readOnlyRootFilesystem"):
        yield f"{name} may write into its image"
    image = container["image"]
    if not _TAG.fullmatch(image):
        yield f"{name} runs {image}, which is another program tomorrow"
    if image.startswith("assayer") and not image.endswith(f":{__version__}"):
        yield f"{name} runs {image}, and this is version {__version__}"
    yield from _check_resources(name, container.get("resources", {}))
    # KubeRay gives the containers of Ray probes of its own.
    needs_probes = pod.lasting and not pod.ray and container in pod.spec["containers"]
    if needs_probes and (missing_probes := {"readinessProbe", "livenessProbe"} - container.keys()):
        yield f"{name} has no {' and no '.join(sorted(missing_probes))}"
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        for way in ("httpGet", "tcpSocket"):
            port = container.get(probe, {}).get(way, {}).get("port")
            if port is not None and port not in {*pod.ports, *pod.ports.values()}:
                yield f"{name} is asked at a port {port} that it has not"


def _check_resources(name: str, resources: dict[str, Any]) -> Iterator[str]:
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    if "cpu" not in requests or "memory" not in requests:
        yield f"{name} does not say what it takes"
    if limits.get("memory") != requests.get("memory") or "memory" not in limits:
        yield f"{name} is not held to the memory that it asks for"
    if "ephemeral-storage" not in requests or "ephemeral-storage" not in limits:
        yield f"{name} does not say how much of its node's disk it takes"
    if requests.get("nvidia.com/gpu") != limits.get("nvidia.com/gpu"):
        yield f"{name} asks for other GPUs than it may have"


def _check_references(pod: Pod, resources: Resources, secrets: dict[str, set[str]]) -> Iterator[str]:
    existing = {get_full_name(resource) for resource in resources}
    volumes = {volume["name"]: volume for volume in pod.spec.get("volumes", ())}
    for container in pod.containers:
        for mount in container.get("volumeMounts", ()):
            if mount["name"] not in {*volumes, *pod.claims}:
                yield f"mounts {mount['name']}, which is not there"
        for source in container.get("envFrom", ()):
            if (secret := source.get("secretRef")) and secret["name"] not in secrets:
                yield f"takes the Secret {secret['name']}, which nobody makes"
            if (config := source.get("configMapRef")) and f"ConfigMap/{config['name']}" not in existing:
                yield f"takes the ConfigMap {config['name']}, which is not there"
        for variable in container.get("env", ()):
            key = variable.get("valueFrom", {}).get("secretKeyRef")
            if key and key["key"] not in secrets.get(key["name"], ()):
                yield f"takes {key['key']} of the Secret {key['name']}, which nobody makes"
    for volume in volumes.values():
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        # The corpus and the models are shared by what is built apart.
        if claim not in {None, "assayer-corpus"} and f"PersistentVolumeClaim/{claim}" not in existing:
            yield f"takes the claim {claim}, which is not there"
        config = volume.get("configMap", {}).get("name")
        if config is not None and f"ConfigMap/{config}" not in existing:
            yield f"takes the ConfigMap {config}, which is not there"


def _check_token(pod: Pod, resources: Resources) -> Iterator[str]:
    """Yield problems with access to the Kubernetes API.

    Only a Ray head that scales its own cluster and pods with an account made for them may have a token."""
    account = pod.spec.get("serviceAccountName")
    if account is not None and f"ServiceAccount/{account}" not in {get_full_name(resource) for resource in resources}:
        yield f"runs for {account}, who is not there"
    scales = any(
        item["spec"]["rayClusterConfig"].get("enableInTreeAutoscaling")
        for item in filter_by_kind(resources, "RayService")
        if pod.of == f"{get_full_name(item)}: head"
    )
    if account is None and not scales and pod.spec.get("automountServiceAccountToken") is not False:
        yield "is given a token for Kubernetes that it does not need"


def list_known_secrets(resources: Resources) -> dict[str, set[str]]:
    """Return the keys of known secrets by name: those created by the runbook, and those created by operators."""
    text = RUNBOOK.read_text("utf-8").replace("\\\n", " ")
    keys_by_secret: dict[str, set[str]] = {}
    for name, keys in re.findall(r"kubectl create secret generic (\S+)([^\n]*)", text):
        keys_by_secret.setdefault(name, set()).update(re.findall(r"--from-(?:literal|file)=([^=\s]+)=", keys))
    for name in re.findall(r"kubectl create secret tls (\S+)", text):
        keys_by_secret[name] = {"tls.crt", "tls.key"}
    for item in filter_by_kind(resources, "Cluster"):
        keys_by_secret[f"{item['metadata']['name']}-app"] = {"username", "password", "dbname", "host", "port", "uri"}
    return keys_by_secret
