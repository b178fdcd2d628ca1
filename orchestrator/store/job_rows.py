"""Jobs between rows and values."""

import json
from collections.abc import Mapping
from typing import Any

import asyncpg
from pydantic import TypeAdapter, ValidationError

from assayer.errors import StorageError
from orchestrator.jobs.models import Job, Priority, Problem, Work
from orchestrator.store.documents import read, without_nul

__all__ = ["JOB", "NUMBER_OF", "PRIORITY_OF", "job", "json_document", "json_value", "work"]

JOB = """
    id, tenant, batch, "row", kind, priority, state, subject, attempt, run_id, problem, cost_usd, created_at,
    started_at, finished_at
"""
"""The columns of a Job."""

NUMBER_OF: Mapping[Priority, int] = {"interactive": 0, "batch": 1}
PRIORITY_OF: Mapping[int, Priority] = {number: priority for priority, number in NUMBER_OF.items()}
_WORK: TypeAdapter[Work] = TypeAdapter(Work)


def job(row: asyncpg.Record) -> Job:
    values = {name: row[name] for name in Job.model_fields}
    problem = values["problem"]
    told = None if problem is None else read(Problem, problem, f"The problem of job {row['id']}")
    return Job(**values | {"priority": PRIORITY_OF[row["priority"]], "problem": told})


def work(row: asyncpg.Record) -> Work:
    """Raises StorageError when this version of the program cannot read it."""
    try:
        return _WORK.validate_json(row["request"])
    except ValidationError as error:
        raise StorageError(
            f"The request of job {row['id']} in the database cannot be read: {error.errors(include_input=False)[0]}.",
            "Was it written by another version of assayer?",
        ) from error


def json_document(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else without_nul(json.dumps(value, allow_nan=False))


def json_value(text: str | None) -> Any:
    return None if text is None else json.loads(text)
