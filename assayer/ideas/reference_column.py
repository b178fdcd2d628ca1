"""Column of a table whose values number the proposals, so that they serve as the sender's references."""

from collections.abc import Iterable, Mapping, Sequence

from assayer.ideas.record_fields import normal_name
from assayer.ideas.records import shown_reference

_THINGS = ("proposal", "application", "project", "award", "awd", "grant", "submission", "reference")
_NAMES = (
    "reference",
    *(f"{thing}_{number}" for number in ("number", "id", "no", "nr", "reference") for thing in _THINGS),
)
"""Normal names of such columns, the most telling first."""
_LONGEST = 80


def reference_column(names: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Return the column by which the rows can be told apart: the first that is named like the number of a proposal and
    has another value in each row. Empty if there is none, or if the table has the column `id`, which is used as it is.
    `rows` is read only if there is such a column."""
    columns = {normal_name(name): name.strip() for name in reversed(names)}
    seen = {} if "id" in columns else {columns[name]: set[str]() for name in _NAMES if name in columns}
    if not seen:
        return ""
    for fields in rows:
        for column in list(seen):
            value = fields.get(column, "").strip()
            if not value or len(value) > _LONGEST or shown_reference(value) in seen[column]:
                del seen[column]
            else:
                seen[column].add(shown_reference(value))
        if not seen:
            break
    return next(iter(seen), "")


def with_reference(fields: dict[str, str], column: str) -> dict[str, str]:
    """Return the fields of a row with the value of this column as the sender's id."""
    return {**fields, "id": fields[column]} if column in fields else fields
