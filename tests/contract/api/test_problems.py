"""Requests that cannot be used: the answer says what was wrong and where, and gives nothing away."""

import json
import logging
import re
from typing import Any

import httpx2
import pytest
from fastapi.routing import APIRoute

from assayer.errors import StorageError
from orchestrator.application import get_documented_app
from orchestrator.store import PgJobs
from tests.contract.api.problems import check_problem, get_first_error
from tests.contract.api.service import ACME, BODY, TEXT, Service


async def test_invalid_json_is_rejected_with_line_and_column(client: httpx2.AsyncClient) -> None:
    answer = await client.post(
        "/v1/evaluations", content=b'{\n  "idea": {,}\n}', headers={"Content-Type": "application/json"}
    )
    document = check_problem(answer, 400, "malformed-body")
    assert "line 2, column 12" in document.detail


@pytest.mark.parametrize(
    "content", [b"\xff\xfe{}", b"[" * 100_000, b'{"idea": ' + b"9" * 5_000 + b"}"], ids=["bytes", "depth", "digits"]
)
async def test_body_that_breaks_the_parser_returns_400(client: httpx2.AsyncClient, content: bytes) -> None:
    answer = await client.post("/v1/evaluations", content=content, headers={"Content-Type": "application/json"})
    check_problem(answer, 400, "malformed-body")


@pytest.mark.parametrize(
    ("change", "pointer", "words"),
    [
        ({"idea": {"text": TEXT, "tilte": "x"}}, "/idea/tilte", 'Did you mean "title"?'),
        ({"limit": {}}, "/limit", 'Did you mean "limits"?'),
        ({"limits": {"max_usd": -1}}, "/limits/max_usd", "greater than 0"),
        ({"limits": {"max_usd": float("inf")}}, "/limits/max_usd", "finite"),
        ({"idea": {}}, "/idea", "either `text` or `sections`"),
        ({"idea": {"text": TEXT, "sections": [{"title": "a", "text": "b"}]}}, "/idea", "either `text` or `sections`"),
        ({"idea": {"sections": [{"title": "a", "text": "b", "a/b~c": 1}]}}, "/idea/sections/0/a~1b~0c", "is unknown"),
        ({"idea": "words"}, "/idea", "an object"),
        ({"idea": {"text": "Too short."}}, "/idea/text", "too short"),
        ({"idea": {"text": "a\0" * 200}}, "/idea/text", "not text"),
        ({"idea": {"text": "word " * 100_000}}, "/idea/text", "characters"),
        ({"idea": {"sections": [{"title": "a", "text": "b"}]}}, "/idea/sections", "too short"),
        ({"method": "reviw"}, "/method", '"review"'),
        ({"cutoff": "soon"}, "/cutoff", "date"),
        ({"priority": "now"}, "/priority", "'interactive', 'batch' or 'overnight'"),
    ],
)
async def test_a_field_that_cannot_be_used_is_named(
    client: httpx2.AsyncClient, change: dict[str, Any], pointer: str, words: str
) -> None:
    answer = await client.post(
        "/v1/evaluations", content=json.dumps(BODY | change), headers={"Content-Type": "application/json"}
    )
    response = await client.get("/v1/evaluations")
    error = get_first_error(answer)
    assert error.pointer == pointer
    assert words in error.detail
    assert response.json() == {"items": [], "next": None}


async def test_lone_surrogate_is_rejected(client: httpx2.AsyncClient) -> None:
    answer = await client.post(
        "/v1/evaluations",
        content=b'{"idea": {"text": "\\ud800 and more"}}',
        headers={"Content-Type": "application/json"},
    )
    error = get_first_error(answer)
    assert error.pointer == "/idea/text"


@pytest.mark.parametrize(
    ("query", "name"),
    [("limit=0", "limit"), ("limt=5", "limt"), ("state=asleep", "state"), ("after=bm9uc2Vuc2U", "after")],
)
async def test_a_query_parameter_that_cannot_be_used_is_named(service: Service, query: str, name: str) -> None:
    answer = await service.machine.get(f"/v1/evaluations?{query}")
    error = get_first_error(answer)
    assert error.parameter == name


@pytest.mark.parametrize(("first", "second"), [("limit", "state"), ("limt", "stat")])
async def test_every_wrong_query_parameter_is_named(client: httpx2.AsyncClient, first: str, second: str) -> None:
    answer = await client.get(f"/v1/evaluations?{first}=0&{second}=asleep")
    errors = check_problem(answer, 422, "invalid-request").errors or ()
    assert {error.parameter for error in errors} == {first, second}


async def test_unknown_path_is_404_and_wrong_method_is_405(client: httpx2.AsyncClient) -> None:
    check_problem(await client.get("/v1/nothing"), 404, "not-found")
    check_problem(await client.get("/v1/evaluations/ev_0"), 404, "not-found")
    answer = await client.put("/v1/evaluations")
    check_problem(answer, 405, "method-not-allowed")
    assert answer.headers["allow"] == "GET, POST"


async def test_unsupported_content_type_returns_415(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/v1/evaluations", content=TEXT, headers={"Content-Type": "text/plain"})
    assert "application/json" in check_problem(answer, 415, "unsupported-media-type").detail


async def test_unreachable_database_returns_503_with_retry_after(service: Service) -> None:
    class Gone(PgJobs):
        async def get(self, *_: object) -> None:
            raise StorageError("PostgreSQL at db.internal/assayer is out of reach.")

    unavailable_service = service.with_services(jobs=Gone(service.database))
    async with unavailable_service.open_caller() as client:
        answer = await client.get("/v1/evaluations/ev_1")
    assert check_problem(answer, 503, "unavailable").retry_after == int(answer.headers["retry-after"])
    assert "db.internal" not in answer.text


async def test_a_defect_is_500_without_a_stack_trace(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(PgJobs):
        async def get(self, *_: object) -> None:
            raise RuntimeError("secret inside")

    broken = service.with_services(jobs=Broken(service.database))
    with caplog.at_level(logging.ERROR):
        async with broken.open_caller() as client:
            answer = await client.get("/v1/evaluations/ev_1", headers={"X-Request-Id": "mine-1"})
    assert check_problem(answer, 500, "internal-error").request_id == "mine-1"
    assert "secret inside" not in answer.text
    assert "secret inside" in caplog.text


async def test_a_full_queue_is_429(service: Service, client: httpx2.AsyncClient) -> None:
    await service.database.execute("UPDATE tenants SET max_queued = 1 WHERE id = $1", ACME)
    assert (await client.post("/v1/evaluations", json=BODY)).status_code == 202
    answer = await client.post("/v1/evaluations", json=BODY)
    assert check_problem(answer, 429, "queue-full").retry_after == int(answer.headers["retry-after"])


@pytest.mark.parametrize(
    ("method", "path", "parameter", "words"),
    [
        ("DELETE", "/v1/batches/bt_1?erase=true", "erase", "Unknown parameter."),
        ("GET", "/v1/evaluations?limt=5", "limt", 'Did you mean "limit"?'),
        ("GET", "/v1/evaluations/ev_1?verbose=1", "verbose", "Unknown parameter"),
        ("GET", "/v1/usage?form=2026-01-01T00:00:00Z", "form", "Known: since, tenant, until"),
        ("GET", "/healthz?full=1", "full", "Unknown parameter"),
    ],
)
async def test_unused_query_parameter_is_rejected(
    client: httpx2.AsyncClient, method: str, path: str, parameter: str, words: str
) -> None:
    answer = await client.request(method, path)
    (error,) = check_problem(answer, 422, "invalid-request").errors or ()
    assert error.parameter == parameter
    assert words in error.detail


async def test_every_api_route_rejects_unknown_parameters(client: httpx2.AsyncClient) -> None:
    routes = [item for item in get_documented_app().routes if isinstance(item, APIRoute) and item.path != "/metrics"]
    heeded = []
    for route in routes:
        path = re.sub(r"\{[^}]*\}", "1", route.path)
        for method in route.methods or ():
            answer = await client.request(method, f"{path}?no_such=1", json={} if method != "GET" else None)
            heeded += [f"{method} {route.path}"] if answer.status_code != 422 else []
    assert heeded == []


async def test_a_cutoff_in_the_future_is_refused_before_anything_is_accepted(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/v1/evaluations", json=BODY | {"cutoff": "2044-01-01"})
    many = await client.post("/v1/batches?cutoff=2044-01-01", json=[{"text": TEXT}])
    (error,) = check_problem(answer, 422, "invalid-request").errors or ()
    assert (error.pointer, "in the future" in error.detail) == ("/cutoff", True)
    (error,) = check_problem(many, 422, "invalid-request").errors or ()
    assert (error.parameter, "in the future" in error.detail) == ("cutoff", True)


async def test_head_has_the_headers_of_get_and_no_body(service: Service, client: httpx2.AsyncClient) -> None:
    for path in ("/healthz", "/v1/evaluations", "/openapi.json", "/v1/evaluations/ev_none"):
        answer, head = await client.get(path), await client.head(path)
        assert (head.status_code, head.content) == (answer.status_code, b""), path
        assert head.headers["content-type"] == answer.headers["content-type"]
    assert (await client.head("/v1/batches/bt_1/events")).status_code == 405
    assert (await client.head("/v1/erasures")).status_code == 405
    async with service.open_client() as anonymous:
        assert (await anonymous.head("/v1/evaluations")).status_code == 401


async def test_nul_character_in_a_request_causes_no_server_error(client: httpx2.AsyncClient) -> None:
    for path in ("/v1/batches?tag=%00", "/v1/assignments?batch=%00", "/v1/evaluations?source=a%00"):
        answer = await client.get(path)
        assert answer.status_code in (200, 422), (path, answer.text)
    answer = await client.post("/v1/erasures", json={"batch": "a\x00"})
    assert (answer.status_code, "NUL" in answer.json()["detail"]) == (422, True)
