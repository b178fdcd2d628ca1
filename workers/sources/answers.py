"""The JSON that sources answer with: the frame must be right, parts of it that are not are left out."""

from typing import Annotated, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    WrapValidator,
)
from pydantic import ValidatorFunctionWrapHandler as Validator

from assayer.errors import SourceMalformed
from workers.remote.call import Reply
from workers.remote.metrics import PARSE_FAILURES

__all__ = ["Count", "Entries", "Maybe", "Shape", "Text", "Truth", "read", "read_known"]

T = TypeVar("T")
S = TypeVar("S", bound=BaseModel)

_MOST = 10**9


class Shape(BaseModel):
    """What is read of an object; sources add fields without asking."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def _or_none(value: object, validate: Validator, info: ValidationInfo) -> object:
    if value is None:
        return None
    try:
        return validate(value)
    except ValidationError:
        PARSE_FAILURES.labels(info.context or "unknown", "record").inc()
        return None


def _without_gaps(values: tuple[T | None, ...]) -> tuple[T, ...]:
    return tuple(value for value in values if value is not None)


Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
"""Empty for null and whatever else is no text."""
Count = Annotated[
    int | None, BeforeValidator(lambda value: value if type(value) is int and 0 <= value < _MOST else None)
]
"""None for what cannot be a number of things."""
Truth = Annotated[bool, BeforeValidator(lambda value: value is True)]
Maybe = Annotated[T | None, WrapValidator(_or_none)]
"""None for an object that is missing or malformed."""
Entries = Annotated[
    tuple[Annotated[T, WrapValidator(_or_none)], ...],
    BeforeValidator(lambda value: value if isinstance(value, list) else ()),
    AfterValidator(_without_gaps),
]
"""A list without its malformed entries and nulls; empty for null."""


def read_known(reply: Reply, shape: type[S], source: str) -> S | None:
    """As `read`; None when the source does not know what was asked for."""
    return None if reply.status == 404 else read(reply, shape, source)


def read(reply: Reply, shape: type[S], source: str) -> S:
    """The answer in its shape. Raises SourceMalformed; that and what is left out is counted for the source."""
    try:
        return shape.model_validate_json(reply.body, context=source)
    except ValidationError as error:
        PARSE_FAILURES.labels(source, "answer").inc()
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise SourceMalformed(
            f"The answer of {source} cannot be read{f' at {place}' if place else ''}: {first['msg']}.",
            "Check that its base URL is the API's; if it is, the API has changed.",
        ) from None
