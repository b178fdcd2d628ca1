"""The OpenAPI document: published as it is, and whole."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from orchestrator.application import get_documented_app
from orchestrator.problems import MEDIA_TYPE

PUBLISHED = Path(__file__).parents[3] / "docs" / "openapi.json"
STALE_MESSAGE = "docs/openapi.json is out of date; renew it with: python -m orchestrator > docs/openapi.json"

Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return get_documented_app().openapi()


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> list[Operation]:
    return [(path, method, item) for path, methods in document["paths"].items() for method, item in methods.items()]


def test_published_openapi_document_is_up_to_date(document: dict[str, Any]) -> None:
    assert json.loads(PUBLISHED.read_text("utf-8")) == document, STALE_MESSAGE


def test_every_schema_reference_exists(document: dict[str, Any]) -> None:
    def collect_references(part: Any) -> set[str]:
        if isinstance(part, dict):
            own_references = {part["$ref"]} if isinstance(part.get("$ref"), str) else set()
            return own_references.union(*(collect_references(item) for item in part.values()))
        return set().union(*(collect_references(item) for item in part)) if isinstance(part, list) else set()

    defined = {f"#/components/{kind}/{name}" for kind, members in document["components"].items() for name in members}
    assert {ref for ref in collect_references(document) if ref.startswith("#/components/")} <= defined


def test_every_route_below_v1_says_which_scope_it_needs(operations: list[Operation]) -> None:
    for path, method, operation in operations:
        if path.startswith("/v1/"):
            ((scopes,),) = (list(item.values()) for item in operation["security"])
            assert scopes, (path, method)


def test_posts_without_idempotency_key_are_listed_exceptions(operations: list[Operation]) -> None:
    posts = {path: operation for path, method, operation in operations if method == "post"}
    asks_only = {"/v1/corpus/search", "/v1/references", "/v1/batches/estimate", "/v1/webhooks/{id}/ping"}
    deletes_only = {"/v1/erasures"}  # sent again it finds nothing more
    of_people = {  # sent again they come to the same, or are refused
        "/v1/members",
        "/v1/members/{id}/key",
        "/v1/batches/{id}/assignments",
        "/v1/batches/{id}/reviewers",
        "/v1/batches/{id}/sign-off",
        "/v1/batches/{id}/decisions",
        "/v1/batches/{id}/letters/sent",
        "/v1/evaluations/{id}/assignments",
        "/v1/evaluations/{id}/conflicts",
        "/v1/evaluations/{id}/judgements",
        "/v1/evaluations/{id}/opinions",
        "/v1/evaluations/{id}/override",
        "/v1/evaluations/{id}/remarks",
    }
    of_verdicts = {"/v1/evaluations/{id}/retry", "/v1/batches/{id}/retry"}  # what waits or runs stays as it is
    operations_without_key = {
        path
        for path, operation in posts.items()
        if "Idempotency-Key" not in {item["name"] for item in operation.get("parameters", ())}
    }
    assert operations_without_key == asks_only | deletes_only | of_people | of_verdicts


def test_every_error_response_is_a_problem_document(document: dict[str, Any], operations: list[Operation]) -> None:
    for path, method, operation in operations:
        for status, response in operation["responses"].items():
            if status.startswith(("4", "5")):
                resolved = document["components"]["responses"].get(
                    response.get("$ref", "").rpartition("/")[2], response
                )
                assert list(resolved["content"]) == [MEDIA_TYPE], (path, method, status)


def test_operation_ids_are_unique_and_read_as_verb_and_noun(operations: list[Operation]) -> None:
    ids = [operation["operationId"] for _, _, operation in operations]
    assert len(ids) == len(set(ids))
    assert not [id for id in ids if not re.fullmatch(r"[a-z]+(_[a-z]+)+", id)]
    assert {"create_batch", "list_batches", "get_batch", "cancel_batch", "create_ranking", "get_member"} <= set(ids)
    verbs = {"get": {"get", "list", "stream", "search", "check"}, "delete": {"cancel", "delete", "remove", "revoke"}}
    verbs["delete"] |= {"withdraw", "clear"}
    for path, method, operation in operations:
        verb = operation["operationId"].partition("_")[0]
        assert method not in verbs or verb in verbs[method], (path, method)


def test_operation_ids_match_route_functions_except_shared_handlers(operations: list[Operation]) -> None:
    shared = {"list_jobs", "get_job", "cancel_job", "list_items", "stream"}
    functions = {route.endpoint.__name__ for route in list_routes(get_documented_app().routes)}
    ids = {operation["operationId"] for _, _, operation in operations}
    assert functions - ids == shared


def list_routes(routes: Iterable[BaseRoute]) -> Iterator[APIRoute]:
    for route in routes:
        if isinstance(route, APIRoute):
            yield from [route] if route.include_in_schema else []
        elif (router := getattr(route, "original_router", None)) is not None:
            yield from list_routes(router.routes)


def test_summaries_are_single_lines(operations: list[Operation]) -> None:
    assert [path for path, _, operation in operations if "\n" in operation["summary"]] == []
