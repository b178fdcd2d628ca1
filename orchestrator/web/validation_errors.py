"""Conversion of Pydantic errors in a request's body or parameters to a problem document with messages and locations."""

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel

from orchestrator.problems import HttpProblem, ProblemError, suggestion
from orchestrator.validation_wording import fault_in_words

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
    errors = [_convert_error(item, body_model) for item in independent[:_MAX_ERRORS]]
    first = errors[0]
    where = first.pointer if first.parameter is None else first.parameter
    more = f" Further errors: {len(independent) - 1}; see `errors`." if len(independent) > 1 else ""
    return HttpProblem("invalid-request", f"{where or 'The body'}: {first.detail}{more}", errors=errors)


def _drop_dependent_errors(errors: Sequence[Any]) -> list[Any]:
    """Drop errors that merely follow from others: a list with an invalid element is not also reported as too short."""
    paths = [tuple(error["loc"]) for error in errors]
    return [
        error
        for error, path in zip(errors, paths, strict=True)
        if error["type"] != "too_short" or not any(len(p) > len(path) and p[: len(path)] == path for p in paths)
    ]


def _build_malformed_json_problem(document: str, position: int, message: str) -> HttpProblem:
    line = document.count("\n", 0, position) + 1
    column = position - document.rfind("\n", 0, position)
    detail = f"The body is not JSON: line {line}, column {column}: {message}."
    return HttpProblem("malformed-body", detail, errors=[ProblemError(detail=detail, pointer="")])


def _convert_error(error: Mapping[str, Any], body_model: type[BaseModel] | None) -> ProblemError:
    kind, place = error["type"], _remove_shape(error["loc"])
    detail = fault_in_words(error)
    if kind == "extra_forbidden":
        known = _list_field_names(body_model, place[1:-1]) if place[0] == "body" else ()
        detail += suggestion(str(place[-1]), known)
    if place[0] == "body":
        return ProblemError(detail=detail, pointer=build_json_pointer(place[1:]))
    return ProblemError(detail=detail, parameter=".".join(str(part) for part in place[1:])[:_MAX_QUOTED_CHARS])


def _remove_shape(place: Sequence[str | int]) -> Sequence[str | int]:
    return (place[0], *place[2:]) if len(place) > 1 and place[1] in BODY_SHAPES else place


def build_json_pointer(place: Sequence[str | int]) -> str:
    """Return the JSON Pointer (RFC 6901) to a location, with each part shortened to 60 characters."""
    parts = (str(part)[:_MAX_QUOTED_CHARS].replace("~", "~0").replace("/", "~1") for part in place)
    return "".join(f"/{part}" for part in parts)


def _list_field_names(model: Any, place: Sequence[str | int]) -> tuple[str, ...]:
    """Return the field names at a location in a body."""
    if get_origin(model) in (Union, UnionType):
        return next((names for item in get_args(model) if (names := _list_field_names(item, place))), ())
    if get_origin(model) in (tuple, list) and place and isinstance(place[0], int):
        return _list_field_names(get_args(model)[0], place[1:])
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return ()
    if not place:
        return tuple(model.model_fields)
    inner = model.model_fields.get(str(place[0]))
    return _list_field_names(inner.annotation, place[1:]) if inner is not None else ()
