"""What the OpenAPI document says beside what the signatures say: problems, and representations that are no JSON."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from orchestrator.api.problems import MEDIA_TYPE
from orchestrator.api.resources import ProblemDocument

__all__ = ["ACCEPTED", "REPLAYABLE", "describe", "event_stream", "open_problems", "problems"]

_PROBLEM = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}}
_WHEN = {
    400: "The body cannot be read",
    401: "No valid API key",
    403: "The key lacks a scope",
    404: "There is none of that id among one's own",
    406: "No representation that the client accepts",
    409: "Not in a state for this",
    410: "Deleted",
    413: "The body is too large",
    415: "Not a media type that is read here",
    422: "The request cannot be used; `errors` says where",
    429: "Too many; `Retry-After` says when to come back",
    501: "The service is not set up for this; the detail names the setting",
    503: "Out of reach or busy; `Retry-After` says when to come back",
}
_WAITING = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
_CHALLENGE = {"WWW-Authenticate": {"schema": {"type": "string"}}}
REPLAYABLE = {
    "Location": {"schema": {"type": "string"}, "description": "Where the new thing is."},
    "Idempotency-Replayed": {"schema": {"type": "string", "enum": ["true"]}, "description": "Only on replays."},
}
"""Headers of an answer to a POST."""
ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {"description": "Accepted: it is stored, and will end in one verdict", "headers": REPLAYABLE}
}
"""Of whoever asks for a job."""


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Responses of a route that needs a key: its own refusals, those of every route, and any other."""
    return open_problems(401, 403, 429, 503, *statuses)


def open_problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The same of a route that needs none."""
    documented: dict[int | str, dict[str, Any]] = {status: _response(status) for status in sorted(set(statuses))}
    return documented | {"default": {"description": "Any other problem", **_PROBLEM}}


def _response(status: int) -> dict[str, Any]:
    headers = _WAITING if status in (429, 503) else _CHALLENGE if status == 401 else {}
    return {"description": _WHEN[status], **_PROBLEM, **({"headers": headers} if headers else {})}


def event_stream(description: str, data: type[BaseModel]) -> dict[str, Any]:
    """A response of server-sent events, each with a document of that kind as its data."""
    told = {"type": "string", "contentMediaType": "application/json", "contentSchema": data.model_json_schema()}
    event = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "event": {"type": "string"}, "data": told},
        "required": ["id", "event", "data"],
    }
    return {"description": description, "content": {"text/event-stream": {"schema": event}}}


def describe(application: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, made once."""
    if application.openapi_schema is None:
        document = get_openapi(
            title=application.title,
            version=application.version,
            summary=application.summary,
            description=application.description,
            routes=application.routes,
            tags=application.openapi_tags,
        )
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        described = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(described.pop("$defs", {}))
        schemas["ProblemDocument"] = described
        shared = document["components"].setdefault("responses", {})
        for methods in document["paths"].values():
            for operation in methods.values():
                operation["summary"] = operation["description"].partition(".")[0]
                operation["responses"] = dict(_shared(operation["responses"], shared))
        application.openapi_schema = document
    return application.openapi_schema


def _shared(responses: dict[str, Any], shared: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Refusals are written down once for all routes."""
    for status, response in responses.items():
        name = f"Problem{status.capitalize()}"
        if MEDIA_TYPE in response.get("content", {}) and shared.setdefault(name, response) == response:
            yield status, {"$ref": f"#/components/responses/{name}"}
        else:
            yield status, response
