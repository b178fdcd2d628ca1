"""Conversion of Pydantic errors in a request's body or parameters to a problem document with messages and locations."""

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel

from orchestrator.problems import HttpProblem, ProblemError, suggest_known_name
from orchestrator.validation_wording import describe_validation_error

BODY_SHAPES = ("one member of a group", "a whole group")
"""Tags with which Pydantic distinguishes alternative bodies. They appear in error locations but are not fields."""
_MAX_ERRORS = 20
_MAX_QUOTED_CHARS = 60
"""Maximum number of characters quoted from an unknown name."""


def build_validation_problem(error: RequestValidationError, body_model: type[BaseModel] | None) -> HttpProblem:
    """Convert validation errors to a problem. `body_model` is the model for the route's body; its field names are
    suggested in place of unknown ones."""
    independent = _drop_dependent_errors(error.errors())
    if independent and independent[0]["type"] == "json_invalid":
        return _build_malformed_json_problem(
            str(error.body), int(independent[0]["loc"][-1]), independent[0]["ctx"]["error"]
        )
    errors = [_convert_error(error_item, body_model) for error_item in independent[:_MAX_ERRORS]]
    first = errors[0]
    location = first.pointer if first.parameter is None else first.parameter
    further = f" Further errors: {len(independent) - 1}; see `errors`." if len(independent) > 1 else ""
    return HttpProblem("invalid-request", f"{location or 'The body'}: {first.detail}{further}", errors=errors)


def _drop_dependent_errors(errors: Sequence[Any]) -> list[Any]:
    """Drop errors that merely follow from others: a list with an invalid element is not also reported as too short."""
    paths = [tuple(error["loc"]) for error in errors]
    return [
        error
        for error, path in zip(errors, paths, strict=True)
        if error["type"] != "too_short"
        or not any(len(other_path) > len(path) and other_path[: len(path)] == path for other_path in paths)
    ]


def _build_malformed_json_problem(document: str, position: int, message: str) -> HttpProblem:
    line = document.count("\n", 0, position) + 1
    column = position - document.rfind("\n", 0, position)
    detail = f"The body is not JSON: line {line}, column {column}: {message}."
    return HttpProblem("malformed-body", detail, errors=[ProblemError(detail=detail, pointer="")])


def _convert_error(error: Mapping[str, Any], body_model: type[BaseModel] | None) -> ProblemError:
    kind, location = error["type"], _remove_shape(error["loc"])
    detail = describe_validation_error(error)
    if kind == "extra_forbidden":
        field_names = _list_field_names(body_model, location[1:-1]) if location[0] == "body" else ()
        detail += suggest_known_name(str(location[-1]), field_names)
    if location[0] == "body":
        return ProblemError(detail=detail, pointer=build_json_pointer(location[1:]))
    return ProblemError(detail=detail, parameter=".".join(str(part) for part in location[1:])[:_MAX_QUOTED_CHARS])


def _remove_shape(location: Sequence[str | int]) -> Sequence[str | int]:
    return (location[0], *location[2:]) if len(location) > 1 and location[1] in BODY_SHAPES else location


def build_json_pointer(location: Sequence[str | int]) -> str:
    """Return the JSON Pointer (RFC 6901) to a location, with each part shortened to 60 characters."""
    parts = (str(part)[:_MAX_QUOTED_CHARS].replace("~", "~0").replace("/", "~1") for part in location)
    return "".join(f"/{part}" for part in parts)


def _list_field_names(model: Any, location: Sequence[str | int]) -> tuple[str, ...]:
    """Return the field names at a location in a body."""
    if get_origin(model) in (Union, UnionType):
        return next(
            (names for alternative in get_args(model) if (names := _list_field_names(alternative, location))), ()
        )
    if get_origin(model) in (tuple, list) and location and isinstance(location[0], int):
        return _list_field_names(get_args(model)[0], location[1:])
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return ()
    if not location:
        return tuple(model.model_fields)
    field = model.model_fields.get(str(location[0]))
    return _list_field_names(field.annotation, location[1:]) if field is not None else ()
