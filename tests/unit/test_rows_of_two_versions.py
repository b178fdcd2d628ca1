"""While a service is upgraded, processes of two versions read each other's rows: what one's own service stored is read
with keys that this version does not know. What comes from outside stays strict."""

import ast
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

import orchestrator
from assayer.errors import StorageError
from orchestrator.jobs.models import Problem
from orchestrator.store.json_columns import from_json_column, from_json_column_as
from tests.unit.schema_examples import LATER, examples
from workers.llm.permit_book import PermitBook
from workers.remote.rate_limit import RateBucket

ROOT = Path(orchestrator.__file__).parents[1]
READERS = ("from_json_column", "from_json_column_as")
OWN_WAYS = {"json_columns.py", "rows.py"}
VALIDATES = {"model_validate", "model_validate_json", "validate_json", "validate_python"}
PASSED_ON = {"PgItemOutcomes": 1, "result": 2}
"""Functions that are told what to read, and which argument says so: constructor and method of a store."""


def modules(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path, ast.parse(path.read_text("utf-8"))


def called(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Subscript):
                function = function.value
            name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
            yield name, node
            if name == "to_thread" and isinstance(node.args[0], ast.Name):
                yield node.args[0].id, ast.Call(node.func, node.args[1:], [])


def module_at(path: Path) -> ModuleType:
    return importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def stored_types() -> dict[str, TypeAdapter[Any]]:
    """All that stores are told to read from JSON, by name."""
    found: dict[str, TypeAdapter[Any]] = {}
    for path, tree in modules("orchestrator", "cluster"):
        for name, call in called(tree):
            place = 0 if name in READERS else PASSED_ON.get(name)
            argument = None if place is None or len(call.args) <= place else call.args[place]
            if not isinstance(argument, ast.Name):
                continue
            told = argument.id
            what = getattr(module_at(path), told, None)
            if isinstance(what, TypeAdapter):
                found[f"{path.stem}.{told}"] = what
            elif isinstance(what, type) and issubclass(what, BaseModel):
                found[told] = TypeAdapter(what)
    return found


STORED = stored_types()


def test_what_is_stored_is_found() -> None:
    models = {"ReportFigures", "Report", "Paper", "Problem", "RankingSummary", "RewardOutcome", "CurationOutcome"}
    assert models | {"job_sql._JOB_REQUEST", "mails.NEWS", "jobs._REJECTED", "call_contents._MESSAGES"} <= {*STORED}


@pytest.mark.parametrize("name", STORED)
def test_a_row_with_keys_of_a_later_version_is_read(name: str) -> None:
    adapter = STORED[name]
    schema = adapter.json_schema(mode="validation")
    pairs = zip(examples(schema), examples(schema, later=True), strict=True)
    read = 0
    for plain, later in pairs:
        try:
            expected = adapter.validate_json(json.dumps(plain))
        except ValidationError:
            continue  # a rule that the schema does not tell; another example fits it
        if LATER not in json.dumps(later):
            continue  # an empty list
        assert from_json_column_as(adapter, json.dumps(later), name) == expected
        with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
            adapter.validate_json(json.dumps(later))
        read += 1
    assert read, f"no example of {name} could be made from its schema"


@pytest.mark.parametrize("kind", [PermitBook, RateBucket])
def test_state_that_processes_share_is_read_with_keys_of_a_later_version(kind: type[PermitBook | RateBucket]) -> None:
    schema = TypeAdapter(kind).json_schema()
    for plain, later in zip(examples(schema), examples(schema, later=True), strict=True):
        assert LATER in json.dumps(later)
        assert kind.from_json(json.dumps(later)) == kind.from_json(json.dumps(plain))


def test_stores_read_json_and_rows_in_these_two_ways_alone() -> None:
    own = [
        f"{path.name}:{call.lineno}: {name}"
        for path, tree in modules("orchestrator/store")
        if path.name not in OWN_WAYS
        for name, call in called(tree)
        if name in VALIDATES or any(key.arg is None and _of_a_row(key.value) for key in call.keywords)
    ]
    assert own == [], "read it with from_json_column or from_row, which pass over what a later version has added"


def _of_a_row(value: ast.expr) -> bool:
    """`**dict(row)`, also with `|`."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict"
        for node in ast.walk(value)
    )


def test_what_cannot_be_read_says_where() -> None:
    with pytest.raises(StorageError, match=r"The problem of job j .* cannot be read: title: Field required"):
        from_json_column(Problem, '{"type": "x", "detail": "y", "new": 1}', "The problem of job j")
