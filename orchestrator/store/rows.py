"""Values from rows of tables, whose columns may be more than this version knows."""

from collections.abc import Sequence
from typing import Any, TypeVar

import asyncpg
from pydantic import BaseModel

__all__ = ["from_row"]

T = TypeVar("T", bound=BaseModel | tuple[Any, ...])


def from_row(model: type[T], row: asyncpg.Record, **instead: Any) -> T:
    """A frozen model or a named tuple of the columns that are called like its fields, or of what is given instead. A
    field without a column has its default; columns that a later version has added are left out."""
    names: Sequence[str] = tuple(model.model_fields) if issubclass(model, BaseModel) else getattr(model, "_fields", ())
    return model(**{name: row[name] for name in names if name in row} | instead)
