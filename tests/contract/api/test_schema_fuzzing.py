"""Requests drawn from the OpenAPI document: none is answered 5xx, and no answer contradicts the document.

More of them: ASSAYER_FUZZING=200 (examples a route and set of ids) and `--hypothesis-profile=default` for other ones.
"""

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from pydantic import SecretStr
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from orchestrator.application import get_documented_app
from orchestrator.store import Database, DatabaseSettings, NotificationListener
from tests.contract.api.people import add_person
from tests.contract.api.service import BODY, TEXT, Service, serve
from tests.contract.store_records import build_paper
from tests.in_memory import MemoryCorpusVersions
from tests.memory_corpus import MemoryCorpus
from tests.postgres import SharedPostgres
from workers.embedding.hashing_embedder import HashingEmbedder

# One method that a path lacks is enough: routes refuse such requests before anything of the path runs.
_CONFIG = SchemathesisConfig.from_dict({"phases": {"coverage": {"unexpected-methods": ["PATCH"]}}})
schema = schemathesis.openapi.from_dict(get_documented_app().openapi(), config=_CONFIG)

_CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    allow_header_conformance,
]
_EXAMPLES = int(os.environ.get("ASSAYER_FUZZING", "3"))
_QUICK = {"stream_seconds": 0.05, "poll_seconds": 0.02, "max_wait_seconds": 0.05, "open_metrics": True}


class Running(NamedTuple):
    url: str
    key: str
    ids: dict[str, str]
    """Id of an existing object, by the first part of its path."""


async def _create_resources(service: Service, key: str) -> dict[str, str]:
    """One of each kind that has an id; the evaluation is done."""
    async with service.open_client(key) as client:
        answer = await client.post("/v1/evaluations", json=BODY)
        await service.finish()
        batch = await client.post(
            "/v1/batches",
            content=json.dumps({"text": TEXT}),
            headers={"Content-Type": "application/x-ndjson"},
        )
        response = await client.post("/v1/keys", json={"name": "robot", "scopes": ["read"]})
    reviewer = await add_person(service, "reviewer", "Ada Byron")
    return {
        "evaluations": answer.json()["id"],
        "batches": batch.json()["id"],
        "keys": response.json()["id"],
        "members": str(reviewer.member.id),
        "tenants": "other",
    }


async def _serve(
    database_url: str, start_event: "threading.Event", services: list[Running], stop: threading.Event
) -> None:
    async with (
        Database(DatabaseSettings(url=SecretStr(database_url))) as database,
        NotificationListener(database) as listener,
    ):
        corpus = MemoryCorpus([build_paper(1), build_paper(2)], HashingEmbedder())
        service = Service.build(database, listener, **_QUICK).with_services(
            corpora=MemoryCorpusVersions(corpus), overnight=True
        )
        await service.create_tenant()
        key = await service.create_key("admin")
        ids = await _create_resources(service, key)
        async with serve(service.app) as url:
            services.append(Running(url, key, ids))
            start_event.set()
            await asyncio.to_thread(stop.wait)


@pytest.fixture(scope="module")
def running_service(postgres: SharedPostgres) -> Iterator[Running]:
    """Run the service on its own event loop, because the requests come from synchronous code."""
    url = asyncio.run(postgres.migrated_database())
    event, stop, services = threading.Event(), threading.Event(), list[Running]()

    def serve() -> None:
        try:
            asyncio.run(_serve(url, event, services, stop))
        finally:
            event.set()

    thread = threading.Thread(target=serve)
    thread.start()
    event.wait()
    try:
        yield services[0]
    finally:
        stop.set()
        thread.join()


@schemathesis.serializer("application/x-ndjson", "application/jsonl", "application/x-jsonlines", "application/zip")
def encode_body(_: schemathesis.SerializationContext, value: object) -> bytes:
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


# The service runs in a thread of this process and may draw from `random` while Hypothesis watches it.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
@schema.parametrize()
@settings(
    max_examples=_EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    database=None,
)
def test_fuzzed_requests_cause_no_server_error_or_schema_violation(
    case: "schemathesis.Case[Any]", running_service: Running
) -> None:
    headers = {"Authorization": f"Bearer {running_service.key}"}
    case.call_and_validate(base_url=running_service.url, headers=headers, checks=_CHECKS)
    known: Any = running_service.ids.get(case.path.split("/")[2]) if case.path.startswith("/v1/") else None
    if "id" in case.path_parameters and known is not None and case.method != "DELETE":
        case.path_parameters["id"] = known
        case.call_and_validate(base_url=running_service.url, headers=headers, checks=_CHECKS)
