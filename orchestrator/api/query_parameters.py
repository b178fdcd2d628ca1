"""No query parameter is ignored: one that a route does not know is refused, since a misspelt `limit` or a hopeful
`erase` would otherwise be answered as if it had been heeded.
"""

from collections.abc import Iterator

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel

from orchestrator.api.common_schemas import ProblemError
from orchestrator.api.problems import HttpProblem
from orchestrator.api.validation_errors import suggestion

__all__ = ["refuse_unknown_parameters"]

_SHOWN = 60
_MOST = 20


async def refuse_unknown_parameters(request: Request) -> None:
    """Raises HttpProblem (422), which names each of them."""
    route = request.scope.get("route")
    if not request.url.query or not isinstance(route, APIRoute) or not route.include_in_schema:
        return  # pages are asked for by browsers, and by whoever sends people back to them with words of their own
    known = sorted(set(_parameters(route.dependant)))
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known][:_MOST]
    if not unknown:
        return
    errors = [
        ProblemError(detail=f"It is no parameter of this request.{suggestion(name, known)}", parameter=name[:_SHOWN])
        for name in unknown
    ]
    raise HttpProblem("invalid-request", f"{errors[0].parameter}: {errors[0].detail}", errors=errors)


def _parameters(dependant: Dependant) -> Iterator[str]:
    for field in dependant.query_params:
        model = field.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            yield from (one.alias or name for name, one in model.model_fields.items())
        else:
            yield field.alias
    for inner in dependant.dependencies:
        yield from _parameters(inner)
