"""Find the column of a table that identifies the proposals, so that its values serve as the sender's references."""

from collections.abc import Iterable, Mapping, Sequence

from assayer.ideas.record_fields import normalise_field_name
from assayer.ideas.records import format_reference

_THINGS = ("proposal", "application", "project", "award", "awd", "grant", "submission", "reference")
_NAMES = (
    "reference",
    *(f"{thing}_{number}" for number in ("number", "id", "no", "nr", "reference") for thing in _THINGS),
)
"""Normal names of such columns, in order of preference."""
_MAX_CHARS = 80


def reference_column(names: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Return the first column that is named like a proposal number and has a different value in each row. Empty if
    there is none, or if the table has a column `id`, which is used as it is. `rows` is read only if a column has such a
    name."""
    columns = {normalise_field_name(name): name.strip() for name in reversed(names)}
    seen = {} if "id" in columns else {columns[name]: set[str]() for name in _NAMES if name in columns}
    if not seen:
        return ""
    for fields in rows:
        for column in list(seen):
            value = fields.get(column, "").strip()
            if not value or len(value) > _MAX_CHARS or format_reference(value) in seen[column]:
                del seen[column]
            else:
                seen[column].add(format_reference(value))
        if not seen:
            break
    return next(iter(seen), "")


def with_reference(fields: dict[str, str], column: str) -> dict[str, str]:
    """Return the fields of a row, with the value of this column as the sender's `id`."""
    return {**fields, "id": fields[column]} if column in fields else fields
