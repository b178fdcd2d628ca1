"""Strict schemas of resources: unknown fields are errors, as with `kubectl apply --validate=strict`."""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import kubernetes_validate
import kubernetes_validate.utils
from jsonschema import Draft7Validator

from tests.contract.manifests.resources import ROOT, Resource, Resources, get_full_name, list_pods

DEFINITIONS = ROOT.parent / "shared" / "data" / "kubernetes"
"""Schemas of KubeRay, CloudNativePG, Prometheus' operator and the Gateway API."""
_KUBERNETES = "1.34"
_CUSTOM_GROUPS = ("ray.io", "postgresql.cnpg.io", "monitoring.coreos.com", "gateway.networking.k8s.io")


kubernetes_validate.utils.schema_contents = cache(kubernetes_validate.utils.schema_contents)
"""The package reads megabytes for each resource."""


def list_custom_resources(resources: Resources) -> list[Resource]:
    """Return the resources of kinds that an operator has added to Kubernetes."""
    return [resource for resource in resources if resource["apiVersion"].split("/")[0] in _CUSTOM_GROUPS]


def find_schema_problems(resources: Resources) -> Iterator[str]:
    """Custom resources only where their schemas are at hand."""
    custom = list_custom_resources(resources)
    for resource in resources:
        if resource not in custom:
            yield from _check_against_kubernetes(resource, get_full_name(resource))
        elif DEFINITIONS.is_dir():
            yield from _check_against_definition(resource)
    for pod in list_pods(custom):
        if "volumes" in pod.spec:  # what an operator makes of its own accord is not written here
            template = {"metadata": {"labels": pod.labels}, "spec": pod.spec}
            pod_template = {
                "apiVersion": "v1",
                "kind": "PodTemplate",
                "metadata": {"name": "one"},
                "template": template,
            }
            yield from _check_against_kubernetes(pod_template, pod.of)


def _check_against_kubernetes(resource: Resource, name: str) -> Iterator[str]:
    try:
        kubernetes_validate.validate(resource, _KUBERNETES, strict=True)
    except kubernetes_validate.ValidationError as error:
        yield f"{name}: {'/'.join(map(str, error.path))}: {error.message}"


def _check_against_definition(resource: Resource) -> Iterator[str]:
    for error in _load_validators()[resource["apiVersion"], resource["kind"]].iter_errors(resource):
        yield f"{get_full_name(resource)}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"


@cache
def _load_validators() -> dict[tuple[str, str], Draft7Validator]:
    validators = {}
    for file in DEFINITIONS.glob("*.json.gz"):
        document = json.loads(gzip.decompress(file.read_bytes()))
        schema = document["schema"]
        schema["properties"]["metadata"] = {"type": "object"}
        validators[f"{document['group']}/{document['version']}", document["kind"]] = Draft7Validator(
            _forbid_unknown_properties(schema)
        )
    return validators


def _forbid_unknown_properties(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema with unnamed properties disallowed."""
    strict = dict(schema)
    open_ended = strict.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in strict
    if strict.get("x-kubernetes-int-or-string"):
        strict.pop("type", None)
        strict["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if "properties" in strict:
        strict["properties"] = {
            key: value if key == "metadata" and value == {"type": "object"} else _forbid_unknown_properties(value)
            for key, value in strict["properties"].items()
        }
        if not open_ended:
            strict["additionalProperties"] = False
    if isinstance(strict.get("additionalProperties"), dict):
        strict["additionalProperties"] = _forbid_unknown_properties(strict["additionalProperties"])
    if "items" in strict:
        strict["items"] = _forbid_unknown_properties(strict["items"])
    if strict.pop("nullable", False):
        return {"anyOf": [{"type": "null"}, strict]}
    return strict
