"""The client's models are those of the service's answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from assayer_client import operations  # noqa: F401 - with every model
from assayer_client.reports import Report
from assayer_client.resources import Absent, Body, Record, Resource

DOCS = Path(__file__).parents[2] / "docs"
SERVICE_ONLY = {
    *("Check", "Health", "ProblemDocument", "ProblemError"),  # clients raise problem documents as errors
    *("SubmittedComparison", "SubmittedJudge", "SubmittedVerdict"),  # comparisons, stricter than in an answer
}


def read_schema(document: str) -> dict[str, Any]:
    described: dict[str, Any] = json.loads((DOCS / document).read_text("utf-8"))
    return described


def list_fields(schema: dict[str, Any]) -> set[str]:
    return set(schema.get("properties", {}))


def list_schemas(kind: type[BaseModel]) -> dict[str, dict[str, Any]]:
    schema = kind.model_json_schema(mode="serialization")
    return {kind.__name__: schema, **schema.get("$defs", {})}


def iterate_subclasses(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for model in kind.__subclasses__():
        yield model
        yield from iterate_subclasses(model)


def test_every_service_schema_has_a_client_model() -> None:
    client_schemas = {
        model.__name__
        for base in (Resource, Body)
        for model in iterate_subclasses(base)
        if model.__module__.startswith("assayer_client.")
    }
    schemas = read_schema("openapi.json")["components"]["schemas"]
    schema_names = {name for name, schema in schemas.items() if "oneOf" not in schema and not name.startswith("Page_")}
    assert schema_names - client_schemas == SERVICE_ONLY


def test_report_has_the_same_fields_in_the_client() -> None:
    described = read_schema("report.schema.json")
    client_schemas = list_schemas(Report)
    service_schemas = {**described["$defs"], "Report": described}
    assert client_schemas.keys() - service_schemas.keys() == {"Record"}
    for name in client_schemas.keys() - {"Record"}:
        assert list_fields(client_schemas[name]) == list_fields(service_schemas[name]), name


def test_record_preserves_fields_unknown_to_client() -> None:
    response = {
        "corpus_fit": {"reason": "no corpus"},
        "sources": [{"source": "arxiv", "requests": 2}],
        "papers_read": 4,
    }
    record = Record.model_validate(response)
    assert isinstance(record.corpus_fit, Absent)
    assert record.sources[0].requests == 2
    assert record.model_dump(mode="json") == response
    with pytest.raises(AttributeError):
        _ = record.papers_burnt
