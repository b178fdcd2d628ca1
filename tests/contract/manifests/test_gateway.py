"""The way in lets through what the application answers to callers and to people, and nothing else."""

from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.application import get_documented_app
from tests.contract.manifests.resources import Resource, Resources, build_folder, filter_by_kind

GATED = ("bucket", "cpu", "gpu", "gpu-search", "llm")
OWN = {"/metrics"}
"""Prometheus asks the pods themselves."""
SERVES = ("/-/healthz", "/-/routes")


def list_application_paths() -> set[str]:
    return {path for route in get_documented_app().routes for path in _iterate_paths(route)}


def _iterate_paths(route: Any) -> Iterator[str]:
    """Yield the paths of a route, or of all routes of an included router."""
    if hasattr(route, "effective_route_contexts"):
        yield from (context.path for context in route.effective_route_contexts())
    else:
        yield route.path


@pytest.fixture(params=GATED)
def resources(request: pytest.FixtureRequest) -> Resources:
    return build_folder(f"overlays/{request.param}")


def _get_ingress_route(resources: Resources) -> Resource:
    (route,) = (item for item in filter_by_kind(resources, "HTTPRoute") if item["metadata"]["name"] == "assayer")
    return route


def _allows(route: Resource, path: str) -> bool:
    matches = [match["path"] for rule in route["spec"]["rules"] for match in rule["matches"]]
    return any(
        path == match["value"] or (match["type"] == "PathPrefix" and path.startswith(match["value"].rstrip("/") + "/"))
        for match in matches
    )


def test_gateway_allows_every_public_route(resources: Resources) -> None:
    route, paths = _get_ingress_route(resources), list_application_paths()
    assert {"/console/callback", "/console/static/{name}", "/v1/evaluations", "/docs"} <= paths
    assert not sorted(path for path in paths - OWN if not _allows(route, path))


def test_gateway_blocks_all_other_paths(resources: Resources) -> None:
    route = _get_ingress_route(resources)
    assert not [path for path in (*OWN, *SERVES, "/consoles", "/nothing") if _allows(route, path)]


def test_access_url_setting_equals_the_gateway_address(resources: Resources) -> None:
    (settings,) = (item["data"] for item in filter_by_kind(resources, "ConfigMap") if "ASSAYER_HOME" in item["data"])
    (host,) = _get_ingress_route(resources)["spec"]["hostnames"]
    assert settings["ASSAYER_ACCESS__URL"] == f"https://{host}"
