"""Between values and columns."""

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from assayer.errors import StorageError
from assayer.models import Fault

__all__ = ["document", "faults_document", "plain", "read", "without_nul"]

M = TypeVar("M", bound=BaseModel)

_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_FAULTS: TypeAdapter[Sequence[Fault]] = TypeAdapter(Sequence[Fault])


def plain(text: str) -> str:
    """PostgreSQL cannot hold the character NUL; it becomes U+FFFD."""
    return text.replace("\0", "\ufffd")


def without_nul(json: str) -> str:
    return _NUL.sub(r"\1\\ufffd", json) if "\\u0000" in json else json


def document(value: BaseModel) -> str:
    """JSON for a jsonb column."""
    return without_nul(value.model_dump_json())


def faults_document(faults: Sequence[Fault]) -> str:
    return without_nul(_FAULTS.dump_json(faults).decode()) if faults else "[]"


def read(model: type[M], value: Any, what: str) -> M:
    """A stored document; raises StorageError when this version of the program cannot read it."""
    try:
        return model.model_validate_json(value)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise StorageError(
            f"{what} in the database cannot be read: {place}: {first['msg']}.",
            "Was it written by another version of assayer?",
        ) from error
