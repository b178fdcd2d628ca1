"""Stored JSON that does not fit its model is reported with its place."""

import pytest

from assayer.errors import StorageError
from orchestrator.jobs.models import Problem
from orchestrator.store.json_columns import from_json_column


def test_unreadable_document_names_the_missing_field() -> None:
    with pytest.raises(StorageError, match=r"The problem of job j .* cannot be read: title: Field required"):
        from_json_column(Problem, '{"type": "x", "detail": "y"}', "The problem of job j")
