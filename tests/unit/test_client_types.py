"""The client's types are the service's: every field of every resource, and what of a request is optional."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from assayer_client import (
    accounts,
    audit_log,
    batches,
    comparisons,
    contestation,
    corpus,
    curation,
    erasures,
    evaluations,
    model_calls,
    people,
    plan_reviews,
    rankings,
    references,
    reports,
    resources,
    reviewing,
    rewards,
    webhooks,
)
from assayer_client.rankings import Ranking
from assayer_client.reports import Report

DOCS = Path(__file__).parents[2] / "docs"
MODULES = (
    accounts,
    audit_log,
    batches,
    comparisons,
    contestation,
    corpus,
    erasures,
    curation,
    evaluations,
    model_calls,
    plan_reviews,
    people,
    rankings,
    references,
    reviewing,
    reports,
    resources,
    rewards,
    webhooks,
)
NOT_OFFERED = {"Check", "Health", "ProblemDocument", "ProblemError"}
"""What monitors and refusals hold: the client turns problem documents into ApiProblem."""


def _described(document: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DOCS / document).read_text("utf-8"))
    return found


def _shape(schema: dict[str, Any]) -> tuple[set[str], set[str]]:
    return set(schema.get("properties", {})), set(schema.get("required", ()))


def _named(name: str) -> type[BaseModel] | None:
    for module in MODULES:
        found = getattr(module, name, None)
        if isinstance(found, type) and issubclass(found, BaseModel):
            return found
    return None


def _parts(kind: type[BaseModel]) -> Iterator[tuple[str, dict[str, Any]]]:
    schema = kind.model_json_schema(mode="serialization")
    yield kind.__name__, schema
    yield from schema.get("$defs", {}).items()


@pytest.mark.parametrize("name", sorted(_described("openapi.json")["components"]["schemas"]))
def test_resource_of_the_service_has_the_same_fields_in_the_client(name: str) -> None:
    if name in NOT_OFFERED or name.startswith("Page_"):
        return
    schema = _described("openapi.json")["components"]["schemas"][name]
    if "oneOf" in schema:  # a choice between others, with no fields of its own
        assert all(_named(one["$ref"].rpartition("/")[2]) for one in schema["oneOf"])
        return
    kind = _named(name)
    assert kind is not None, f"assayer_client has no {name}"
    fields, required = _shape(schema)
    ours, needed = _shape(kind.model_json_schema(mode="serialization"))
    assert ours == fields
    if name.endswith("Body") or name == "TenantPatch":
        assert needed == required


@pytest.mark.parametrize(("kind", "document"), [(Report, "report.schema.json"), (Ranking, "ranking.schema.json")])
def test_report_has_the_same_fields_in_the_client(kind: type[BaseModel], document: str) -> None:
    described = _described(document)
    ours = dict(_parts(kind))
    assert _shape(ours[kind.__name__])[0] == _shape(described)[0]
    theirs = described["$defs"]
    assert ours.keys() - {kind.__name__} == theirs.keys()
    for name, schema in theirs.items():
        assert _shape(ours[name])[0] == _shape(schema)[0], name
