"""Checks for every API request: no unknown query parameters, and only JSON where a route reads a JSON body."""

from collections.abc import Iterator

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel

from orchestrator.problems import HttpProblem, ProblemError, suggest_known_name

_MAX_NAME_CHARS = 60
_MAX_PARAMETERS = 20


async def refuse_unknown_parameters(request: Request) -> None:
    """Reject unknown query parameters, because a misspelt `limit` or an unsupported `erase` would otherwise seem to
    have taken effect. Raises HttpProblem with status 422, listing up to 20 of them."""
    route = request.scope.get("route")
    if not request.url.query or not isinstance(route, APIRoute) or not route.include_in_schema:
        return  # pages may get unknown parameters, for example from an identity provider's redirect
    known_names = sorted(set(_find_parameter_names(route.dependant)))
    unknown_names = [name for name in dict.fromkeys(request.query_params) if name not in known_names][:_MAX_PARAMETERS]
    if not unknown_names:
        return
    errors = [
        ProblemError(
            detail=f"Unknown parameter.{suggest_known_name(name, known_names)}", parameter=name[:_MAX_NAME_CHARS]
        )
        for name in unknown_names
    ]
    raise HttpProblem("invalid-request", f"{errors[0].parameter}: {errors[0].detail}", errors=errors)


async def refuse_other_media(request: Request) -> None:
    """Reject a body that is not JSON with status 415; otherwise, FastAPI would report misleading errors in its
    fields."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute) or not route.include_in_schema or route.body_field is None:
        return
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and await request.body():
        raise HttpProblem(
            "unsupported-media-type",
            f"The Content-Type of the request is {media_type or 'missing'}; this route requires application/json.",
        )


def _find_parameter_names(dependant: Dependant) -> Iterator[str]:
    for field in dependant.query_params:
        model = field.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            yield from (model_field.alias or name for name, model_field in model.model_fields.items())
        else:
            yield field.alias
    for dependency in dependant.dependencies:
        yield from _find_parameter_names(dependency)
