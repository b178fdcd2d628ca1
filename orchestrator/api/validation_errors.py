"""Pydantic's errors in a request's body or parameters as a problem document, in words and with their place."""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import UnionType
from typing import Any, Union, get_args, get_origin

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel

from orchestrator.api.common_schemas import ProblemError
from orchestrator.api.problems import HttpProblem

__all__ = ["BODY_SHAPES", "json_pointer", "suggestion", "validation_problem"]

BODY_SHAPES = ("one member of a group", "a whole group")
"""Tags by which pydantic tells the shapes of one body apart; they stand in its places, and are no field."""
_MOST_ERRORS = 20
_SHOWN = 60
"""The most characters of an unknown name that are quoted."""

_MESSAGES = {
    "missing": "It is required.",
    "extra_forbidden": "It is not a known field.",
    "model_attributes_type": "It must be an object.",
    "model_type": "It must be an object.",
    "dict_type": "It must be an object.",
    "tuple_type": "It must be a list.",
    "list_type": "It must be a list.",
    "string_type": "It must be text.",
    "string_unicode": "It contains half of a character (a lone surrogate).",
}


def validation_problem(error: RequestValidationError, body_model: type[BaseModel] | None) -> HttpProblem:
    """`body_model`: the route's body, whose field names are suggested."""
    found = _independent_errors(error.errors())
    if found and found[0]["type"] == "json_invalid":
        return _malformed_json(str(error.body), int(found[0]["loc"][-1]), found[0]["ctx"]["error"])
    errors = [_problem_error(one, body_model) for one in found[:_MOST_ERRORS]]
    first = errors[0]
    where = first.pointer if first.parameter is None else first.parameter
    more = f" {len(found) - 1} more in `errors`." if len(found) > 1 else ""
    return HttpProblem("invalid-request", f"{where or 'The body'}: {first.detail}{more}", errors=errors)


def _independent_errors(errors: Sequence[Any]) -> list[Any]:
    """Without those that only follow from others: a list with a wrong element is not also too short."""
    places = [tuple(one["loc"]) for one in errors]
    return [
        one
        for one, place in zip(errors, places, strict=True)
        if one["type"] != "too_short" or not any(len(p) > len(place) and p[: len(place)] == place for p in places)
    ]


def _malformed_json(document: str, position: int, message: str) -> HttpProblem:
    line = document.count("\n", 0, position) + 1
    column = position - document.rfind("\n", 0, position)
    detail = f"The body is not JSON: line {line}, column {column}: {message}."
    return HttpProblem("malformed-body", detail, errors=[ProblemError(detail=detail, pointer="")])


def _problem_error(error: Mapping[str, Any], body_model: type[BaseModel] | None) -> ProblemError:
    kind, place = error["type"], _without_shape(error["loc"])
    detail = _MESSAGES.get(kind) or _sentence(str(error["msg"]))
    if kind == "extra_forbidden":
        known = _known_fields(body_model, place[1:-1]) if place[0] == "body" else ()
        detail += suggestion(str(place[-1]), known)
    if place[0] == "body":
        return ProblemError(detail=detail, pointer=json_pointer(place[1:]))
    return ProblemError(detail=detail, parameter=".".join(str(part) for part in place[1:])[:_SHOWN])


def _without_shape(place: Sequence[str | int]) -> Sequence[str | int]:
    return (place[0], *place[2:]) if len(place) > 1 and place[1] in BODY_SHAPES else place


def _sentence(message: str) -> str:
    """Pydantic's words: `Input should be greater than 0`."""
    words = message.removeprefix("Value error, ").replace("Input should", "It should").strip()
    return words if words.endswith(".") else f"{words}."


def json_pointer(place: Sequence[str | int]) -> str:
    """RFC 6901."""
    parts = (str(part)[:_SHOWN].replace("~", "~0").replace("/", "~1") for part in place)
    return "".join(f"/{part}" for part in parts)


def suggestion(name: str, known: Sequence[str]) -> str:
    """The closest known name, else all known names; starts with a space."""
    close = get_close_matches(name[:_SHOWN], known, n=1)
    if close:
        return f" Did you mean {json.dumps(close[0])}?"
    return f" Known: {', '.join(sorted(known))}." if known else ""


def _known_fields(model: Any, place: Sequence[str | int]) -> tuple[str, ...]:
    """Names of the fields at a place of a body."""
    if get_origin(model) in (Union, UnionType):
        return next((names for one in get_args(model) if (names := _known_fields(one, place))), ())
    if get_origin(model) in (tuple, list) and place and isinstance(place[0], int):
        return _known_fields(get_args(model)[0], place[1:])
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return ()
    if not place:
        return tuple(model.model_fields)
    inner = model.model_fields.get(str(place[0]))
    return _known_fields(inner.annotation, place[1:]) if inner is not None else ()
