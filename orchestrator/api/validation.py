"""What is wrong with a request's body or parameters, in words and with its place."""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import UnionType
from typing import Any, Union, get_args, get_origin

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel

from orchestrator.api.problems import Refusal
from orchestrator.api.resources import ProblemError

__all__ = ["explained", "pointer_to", "suggestion"]

_MOST_ERRORS = 20
_SHOWN = 60
"""Characters of an unknown name that are repeated."""

_WORDS = {
    "missing": "It is required.",
    "extra_forbidden": "It is not known here.",
    "model_attributes_type": "It must be an object.",
    "model_type": "It must be an object.",
    "dict_type": "It must be an object.",
    "tuple_type": "It must be a list.",
    "list_type": "It must be a list.",
    "string_type": "It must be text.",
    "string_unicode": "It holds half of a character (a lone surrogate).",
}


def explained(error: RequestValidationError, body_model: type[BaseModel] | None) -> Refusal:
    """`body_model` is what the route takes, for the names that it knows."""
    found = _own(error.errors())
    if found and found[0]["type"] == "json_invalid":
        return _no_json(str(error.body), int(found[0]["loc"][-1]), found[0]["ctx"]["error"])
    errors = [_error(one, body_model) for one in found[:_MOST_ERRORS]]
    first = errors[0]
    where = first.pointer if first.parameter is None else first.parameter
    more = f" {len(found) - 1} more in `errors`." if len(found) > 1 else ""
    return Refusal("invalid-request", f"{where or 'The body'}: {first.detail}{more}", errors=errors)


def _own(errors: Sequence[Any]) -> list[Any]:
    """Without those that only follow from another: a list whose one element is wrong is not also too short."""
    places = [tuple(one["loc"]) for one in errors]
    return [
        one
        for one, place in zip(errors, places, strict=True)
        if one["type"] != "too_short" or not any(len(p) > len(place) and p[: len(place)] == place for p in places)
    ]


def _no_json(document: str, position: int, said: str) -> Refusal:
    line = document.count("\n", 0, position) + 1
    column = position - document.rfind("\n", 0, position)
    detail = f"The body is not JSON: line {line}, column {column}: {said}."
    return Refusal("malformed-body", detail, errors=[ProblemError(detail=detail, pointer="")])


def _error(error: Mapping[str, Any], body_model: type[BaseModel] | None) -> ProblemError:
    kind, place = error["type"], error["loc"]
    detail = _WORDS.get(kind) or _sentence(str(error["msg"]))
    if kind == "extra_forbidden":
        known = _known(body_model, place[1:-1]) if place[0] == "body" else ()
        detail += suggestion(str(place[-1]), known)
    if place[0] == "body":
        return ProblemError(detail=detail, pointer=pointer_to(place[1:]))
    return ProblemError(detail=detail, parameter=".".join(str(part) for part in place[1:])[:_SHOWN])


def _sentence(said: str) -> str:
    """Pydantic's words: `Input should be greater than 0`."""
    words = said.removeprefix("Value error, ").replace("Input should", "It should").strip()
    return words if words.endswith(".") else f"{words}."


def pointer_to(place: Sequence[str | int]) -> str:
    """RFC 6901."""
    parts = (str(part)[:_SHOWN].replace("~", "~0").replace("/", "~1") for part in place)
    return "".join(f"/{part}" for part in parts)


def suggestion(name: str, known: Sequence[str]) -> str:
    """The name that was meant, else those that there are; starts with a space."""
    close = get_close_matches(name[:_SHOWN], known, n=1)
    if close:
        return f" Did you mean {json.dumps(close[0])}?"
    return f" There are: {', '.join(sorted(known))}." if known else ""


def _known(model: Any, place: Sequence[str | int]) -> tuple[str, ...]:
    """Names of the fields of what lies at a place of a body."""
    if get_origin(model) in (Union, UnionType):
        return next((names for one in get_args(model) if (names := _known(one, place))), ())
    if get_origin(model) in (tuple, list) and place and isinstance(place[0], int):
        return _known(get_args(model)[0], place[1:])
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return ()
    if not place:
        return tuple(model.model_fields)
    inner = model.model_fields.get(str(place[0]))
    return _known(inner.annotation, place[1:]) if inner is not None else ()
