"""Conversion of values to and from text and jsonb columns.

Processes of two versions share a database during an upgrade, so stored documents may contain keys added by a later
version; these are ignored. External input is validated strictly elsewhere."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from assayer.errors import StorageError
from assayer.models import Fault

V = TypeVar("V")

_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_FAULTS: TypeAdapter[Sequence[Fault]] = TypeAdapter(Sequence[Fault])


def replace_nul(text: str) -> str:
    """Replace NUL characters, which PostgreSQL cannot store, with U+FFFD."""
    return text.replace("\0", "\ufffd")


def replace_nul_in_json(document: str) -> str:
    return _NUL.sub(r"\1\\ufffd", document) if "\\u0000" in document else document


def to_json_column(value: BaseModel) -> str:
    """Return JSON for a jsonb column."""
    return replace_nul_in_json(value.model_dump_json())


def faults_to_json_column(faults: Sequence[Fault]) -> str:
    return replace_nul_in_json(_FAULTS.dump_json(faults).decode()) if faults else "[]"


def from_json_column(kind: type[V] | TypeAdapter[V], value: Any, label: str) -> V:
    """Parse a stored JSON document. `kind` is a model, or a TypeAdapter for other types. Raises StorageError if this
    version of assayer cannot read the document."""
    parser: Any = kind
    validate: Callable[..., V] = parser.validate_json if isinstance(kind, TypeAdapter) else parser.model_validate_json
    try:
        return validate(value, extra="ignore")
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        location = ".".join(str(part) for part in first["loc"])
        raise StorageError(
            f"{label} in the database cannot be read: {location}: {first['msg']}.",
            "It may have been written by a different version of assayer.",
        ) from error


def mapping_to_json_column(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else replace_nul_in_json(json.dumps(value, allow_nan=False))
