"""Conversion of table rows to models; columns unknown to this version are ignored."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import asyncpg
from pydantic import BaseModel, TypeAdapter

from orchestrator.store.json_columns import from_json_column

Row = TypeVar("Row", bound=BaseModel | tuple[Any, ...])

PAGE = 50
"""Number of rows on a page of a table."""


class TablePage(NamedTuple, Generic[Row]):
    """One page of a table."""

    rows: Sequence[Row]
    matching: int
    """Number of matching rows on all pages."""

    @classmethod
    def from_records(cls, records: Sequence[asyncpg.Record], rows: Sequence[Row]) -> "TablePage[Row]":
        """Return a page with these rows. The number of matching rows is read from the column `matching` in the
        records."""
        return cls(rows, records[0]["matching"] if records else 0)

    @property
    def pages(self) -> int:
        return max(1, -(-self.matching // PAGE))


def from_row(model: type[Row], row: asyncpg.Record, **overrides: Any) -> Row:
    """Build a frozen model or named tuple from the columns named like its fields; values in `overrides` take
    precedence. A field without a column gets its default. Other columns, such as those added by a later version, are
    ignored. JSON is parsed for fields that are models or dictionaries. Raises StorageError if such JSON cannot be
    read."""
    values = {name: row[name] for name in _get_field_names(model) if name in row} | overrides
    kind: Any = model
    for name, adapter in _get_json_adapters(kind).items():
        if isinstance(value := values.get(name), str):
            label = f"The {name} of {row.get('id', model.__name__)}"
            values[name] = json.loads(value) if adapter is None else from_json_column(adapter, value, label)
    return model(**values)


def _get_field_names(model: type[Row]) -> tuple[str, ...]:
    return tuple(model.model_fields) if issubclass(model, BaseModel) else getattr(model, "_fields", ())


@cache
def _get_json_adapters(model: Any) -> dict[str, TypeAdapter[Any] | None]:
    """Return the fields that hold JSON documents: each with its type adapter if it is a model, or with None if it is a
    dictionary."""
    hints = get_type_hints(model, include_extras=True)
    adapters: dict[str, TypeAdapter[Any] | None] = {}
    for name in _get_field_names(model):
        kinds = list(_iterate_hint_parts(hints[name]))
        if any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in kinds):
            adapters[name] = TypeAdapter(hints[name])
        elif any(get_origin(kind) is dict for kind in kinds):
            adapters[name] = None
    return adapters


def _iterate_hint_parts(hint: Any) -> Iterator[Any]:
    yield hint
    for part in get_args(hint):
        yield from _iterate_hint_parts(part)
