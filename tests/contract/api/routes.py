"""Operations of the API and routes of the console, and requests that they accept."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from orchestrator.access.roles import Act
from tests.contract.api.service import Service

QUERY_PARAMETERS = {
    ("POST", "/v1/batches/{id}/rows"): {"first_row": "9"},
    ("DELETE", "/v1/evaluations/{id}/assignments"): {"reviewer": "mb_1"},
    ("DELETE", "/v1/evaluations/{id}/conflicts"): {"reviewer": "mb_1", "reason": "none at all"},
}
_PUT_BODIES: dict[str, dict[str, Any]] = {
    "/v1/members/{id}/expertise": {"keywords": ["friends"]},
    "/v1/batches/{id}/bidding": {"open": True},
    "/v1/batches/{id}/bids": {"bids": {"ev_1": "eager"}},
    "/v1/evaluations/{id}/applicant": {"name": "A Friend"},
    "/v1/batches/{id}/letter-templates": {"templates": {}},
}
_BODIES: dict[str, dict[str, Any]] = {
    "/v1/batches/{id}/letters/sent": {"evaluations": ["ev_1"]},
    "/v1/evaluations/{id}/objections": {"text": "a friend", "received_on": "2026-11-29"},
    "/v1/evaluations/{id}/objections/{number}/answer": {"answer": "a friend"},
    "/v1/batches/{id}/assignments": {},
    "/v1/batches/{id}/sign-off": {},
    "/v1/evaluations/{id}/assignments": {"reviewer": "mb_1"},
    "/v1/batches/{id}/decisions": {"proposals": [{"evaluation": "ev_1"}], "outcome": "fund"},
    "/v1/batches/{id}/reviewers": {"name": "A Friend", "email": "friend@example.org"},
    "/v1/evaluations/{id}/conflicts": {"reviewer": "mb_1", "reason": "a friend"},
    "/v1/evaluations/{id}/override": {"score": 5, "reason": "a friend"},
    "/v1/evaluations/{id}/opinions": {"score": 5},
    "/v1/evaluations/{id}/remarks": {"text": "a friend"},
    "/v1/evaluations/{id}/judgements": {"point": "/parts/0", "agrees": True, "reason": "a friend"},
}


def build_request_body(method: str, path: str) -> dict[str, Any]:
    """Return a well-formed body for an operation."""
    return _PUT_BODIES.get(path, {"reviewers": None}) if method == "PUT" else _BODIES.get(path, {"name": "mine"})


def list_api_operations(app: FastAPI) -> list[tuple[str, str]]:
    """Return the methods and paths of the API's description."""
    return [(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods]


def iterate_console_routes(service: Service) -> Iterator[tuple[APIRoute, Act | None]]:
    """Yield all routes of the console, each with the act that it requires."""
    routers = [router.original_router for router in service.app.router.routes if hasattr(router, "original_router")]
    for route in (route for router in routers for route in router.routes):
        if isinstance(route, APIRoute) and route.path.startswith("/console"):
            yield route, next(_iterate_acts(route.dependant), None)


def _iterate_acts(dependant: Dependant) -> Iterator[Act]:
    if act := getattr(dependant.call, "act", None):
        yield act
    for dependency in dependant.dependencies:
        yield from _iterate_acts(dependency)
