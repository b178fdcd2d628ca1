"""The OpenAPI document, completed with problem responses, headers and representations that function signatures do not
state."""

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, pairwise
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.routing import BaseRoute

from assayer_client.resources import Body, Resource
from orchestrator.problems import MEDIA_TYPE, ProblemDocument

_PROBLEM_CONTENT = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}}
_DESCRIPTIONS = {
    400: "The body cannot be read",
    401: "No valid API key",
    403: "The key lacks a scope",
    404: "No resource with this id is visible to the caller",
    406: "The resource is not available in any format that `Accept` allows",
    409: "The resource's state does not allow this",
    410: "The resource was deleted",
    413: "The body is too large",
    415: "The body's media type is not supported",
    422: "The request is invalid; `errors` states where",
    429: "Too many requests; `Retry-After` states when to try again",
    503: "Unavailable or busy; `Retry-After` states when to try again",
}
_RETRY_AFTER_HEADER = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
_CHALLENGE_HEADER = {"WWW-Authenticate": {"schema": {"type": "string"}}}
REPLAYABLE_HEADERS = {
    "Location": {"schema": {"type": "string"}, "description": "The path of the new resource."},
    "Idempotency-Replayed": {"schema": {"type": "string", "enum": ["true"]}, "description": "Only on replays."},
}
"""Headers in the response to a POST request with an idempotency key."""
ACCEPTED_RESPONSE: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "Accepted: the job is stored and will end as succeeded, failed or cancelled",
        "headers": REPLAYABLE_HEADERS,
    }
}
"""Documentation for the response to a job submission."""
CREATED_RESPONSE: dict[int | str, dict[str, Any]] = {201: {"description": "Created", "headers": REPLAYABLE_HEADERS}}


DEFAULT_RESPONSE: dict[int | str, dict[str, Any]] = {
    "default": {"description": "Any other problem", **_PROBLEM_CONTENT}
}
"""Documentation for all status codes that a route does not declare."""


def _derive_problem_statuses(path: str, method: str, operation: Mapping[str, Any]) -> set[int]:
    """Return the status codes of the problems that an operation can return, derived from its parameters, body and
    path."""
    statuses = {401, 403, 429, 503} if operation.get("security") else set[int]()
    parameters = [parameter["name"] for parameter in operation.get("parameters", ())]
    if parameters or "requestBody" in operation:
        statuses.add(422)
    if "requestBody" in operation:
        statuses |= {400, 413, 415}
    if "accept" in parameters:
        statuses.add(406)
    if "{" in path:
        statuses |= {404, 409, 410}
    if method != "get":
        statuses.add(409)
    return statuses


def _describe_problem_response(status: int) -> dict[str, Any]:
    headers = _RETRY_AFTER_HEADER if status in (429, 503) else _CHALLENGE_HEADER if status == 401 else {}
    return {"description": _DESCRIPTIONS[status], **_PROBLEM_CONTENT, **({"headers": headers} if headers else {})}


def describe_event_stream(description: str, data: type[BaseModel]) -> dict[str, Any]:
    """Return the documentation for a stream of server-sent events whose data are JSON documents of this model."""
    data_schema = {"type": "string", "contentMediaType": "application/json", "contentSchema": data.model_json_schema()}
    event = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "event": {"type": "string"}, "data": data_schema},
        "required": ["id", "event", "data"],
    }
    return {"description": description, "content": {"text/event-stream": {"schema": event}}}


def build_openapi_document(application: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, built on the first call."""
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
        problem_schema = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(problem_schema.pop("$defs", {}))
        schemas["ProblemDocument"] = problem_schema
        describe_schemas(schemas)
        describe_parameters(document, application.routes)
        for name, schema in schemas.items():
            if name.endswith("Patch"):
                # A field omitted from a patch stays unchanged, so it has no default value.
                for field in schema["properties"].values():
                    field.pop("default", None)
        document["components"].setdefault("responses", {})
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                _complete_operation(path, method, operation, document["components"])
        application.openapi_schema = document
    return application.openapi_schema


def _complete_operation(path: str, method: str, operation: dict[str, Any], components: dict[str, Any]) -> None:
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "header":
            _document_as_string(parameter)
    _name_body_choice(operation, components["schemas"])
    operation["summary"] = " ".join(operation["description"].partition(".")[0].split())
    statuses = sorted(_derive_problem_statuses(path, method, operation))
    problems = {str(status): _describe_problem_response(status) for status in statuses}
    default = operation["responses"].pop("default")
    responses = operation["responses"] | problems | {"default": default}
    operation["responses"] = dict(_share_problem_responses(responses, components["responses"]))


def _name_body_choice(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Give a request body with alternatives a named schema, because client generators need a name."""
    for media in operation.get("requestBody", {}).get("content", {}).values():
        if "oneOf" in media["schema"]:
            words = operation["operationId"].replace("-", "_").split("_")
            name = "".join(word.capitalize() for word in words) + "Choice"
            schemas[name] = media["schema"] | {"title": name}
            media["schema"] = {"$ref": f"#/components/schemas/{name}"}


def _document_as_string(header: dict[str, Any]) -> None:
    """Document a repeatable header as a single string. Its lines can be joined with commas (RFC 9110), and client
    generators support only that."""
    alternatives = header["schema"].get("anyOf", [])
    if any(alternative.get("type") == "array" for alternative in alternatives):
        header["schema"] = {"type": "string", "title": header["schema"].get("title", header["name"])}


def _share_problem_responses(responses: dict[str, Any], shared_responses: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Replace problem responses with references to definitions that all routes share."""
    for status, response in responses.items():
        name = f"Problem{status.capitalize()}"
        if MEDIA_TYPE in response.get("content", {}) and shared_responses.setdefault(name, response) == response:
            yield status, {"$ref": f"#/components/responses/{name}"}
        else:
            yield status, response


def describe_schemas(schemas: dict[str, Any]) -> None:
    """Add descriptions to the fields of all wire models in the document."""
    for model in (*_find_subclasses(Resource), *_find_subclasses(Body)):
        schema = schemas.get(re.sub(r"[^a-zA-Z0-9.\-_]", "_", model.__name__), {})
        for name, text in _read_field_descriptions(model).items():
            if name in schema.get("properties", {}):
                schema["properties"][name].setdefault("description", text)


def describe_parameters(document: dict[str, Any], routes: Iterable[BaseRoute]) -> None:
    """Add descriptions to parameters that come from a query model's fields."""
    for route in routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            descriptions = dict(_find_query_descriptions(route.dependant))
            operations = document["paths"][route.path_format]
            methods = (operations.get(method.lower(), {}) for method in route.methods or ())
            for parameter in chain.from_iterable(operation.get("parameters", ()) for operation in methods):
                if parameter["in"] == "query" and parameter["name"] in descriptions:
                    parameter.setdefault("description", descriptions[parameter["name"]])
        elif (router := getattr(route, "original_router", None)) is not None:
            describe_parameters(document, router.routes)


def _find_query_descriptions(dependant: Dependant) -> Iterator[tuple[str, str]]:
    for field in dependant.query_params:
        model = field.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            yield from _read_field_descriptions(model).items()
    for dependency in dependant.dependencies:
        yield from _find_query_descriptions(dependency)


def _find_subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for subclass in model.__subclasses__():
        yield subclass
        yield from _find_subclasses(subclass)


def _read_field_descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Return the description of each field, including inherited fields."""
    descriptions: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, Resource | Body):
            descriptions |= _read_docstrings(base.__module__).get(base.__name__, {})
    return descriptions


@cache
def _read_docstrings(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings below the fields in a module, by class and field."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: dict(_find_documented_fields(node.body)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _find_documented_fields(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, next_statement in pairwise(body):
        match field, next_statement:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)
