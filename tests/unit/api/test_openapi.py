"""The OpenAPI document: published as it is, and whole."""

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.api.application import documented_app
from orchestrator.api.problems import MEDIA_TYPE

PUBLISHED = Path(__file__).parents[3] / "docs" / "openapi.json"
STALE = "docs/openapi.json is out of date; renew it with: python -m orchestrator.api > docs/openapi.json"

Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return documented_app().openapi()


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> list[Operation]:
    return [(path, method, one) for path, methods in document["paths"].items() for method, one in methods.items()]


def test_the_published_document_is_that_of_the_program(document: dict[str, Any]) -> None:
    assert json.loads(PUBLISHED.read_text("utf-8")) == document, STALE


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    def references(part: Any) -> set[str]:
        if isinstance(part, dict):
            own = {part["$ref"]} if isinstance(part.get("$ref"), str) else set()
            return own.union(*(references(one) for one in part.values()))
        return set().union(*(references(one) for one in part)) if isinstance(part, list) else set()

    named = {f"#/components/{kind}/{name}" for kind, members in document["components"].items() for name in members}
    assert {ref for ref in references(document) if ref.startswith("#/components/")} <= named


def test_every_route_below_v1_says_which_scope_it_needs(operations: list[Operation]) -> None:
    for path, method, operation in operations:
        if path.startswith("/v1/"):
            ((scopes,),) = (list(one.values()) for one in operation["security"])
            assert scopes, (path, method)


def test_every_post_that_makes_something_takes_an_idempotency_key(operations: list[Operation]) -> None:
    posts = {path: operation for path, method, operation in operations if method == "post"}
    asks_only = {"/v1/corpus/search", "/v1/references", "/v1/batches/estimate", "/v1/webhooks/{id}/ping"}
    deletes_only = {"/v1/erasures"}  # sent again it finds nothing more
    of_people = {  # sent again they come to the same, or are refused
        "/v1/members",
        "/v1/members/{id}/key",
        "/v1/batches/{id}/assignments",
        "/v1/batches/{id}/reviewers",
        "/v1/batches/{id}/sign-off",
        "/v1/evaluations/{id}/conflicts",
        "/v1/evaluations/{id}/judgements",
        "/v1/evaluations/{id}/opinions",
        "/v1/evaluations/{id}/override",
        "/v1/evaluations/{id}/remarks",
    }
    of_verdicts = {"/v1/evaluations/{id}/retry", "/v1/batches/{id}/retry"}  # what waits or runs stays as it is
    without = {
        path
        for path, operation in posts.items()
        if "Idempotency-Key" not in {one["name"] for one in operation.get("parameters", ())}
    }
    assert without == asks_only | deletes_only | of_people | of_verdicts


def test_every_refusal_is_a_problem_document(document: dict[str, Any], operations: list[Operation]) -> None:
    for path, method, operation in operations:
        for status, response in operation["responses"].items():
            if status.startswith(("4", "5")):
                shown = document["components"]["responses"].get(response.get("$ref", "").rpartition("/")[2], response)
                assert list(shown["content"]) == [MEDIA_TYPE], (path, method, status)


def test_operations_have_names_of_their_own(operations: list[Operation]) -> None:
    names = [operation["operationId"] for _, _, operation in operations]
    assert len(names) == len(set(names))
