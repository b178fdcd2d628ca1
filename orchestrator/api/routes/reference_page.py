"""`/docs`: the OpenAPI document as a page for people. It loads and runs nothing, so it works without a network."""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from assayer.reports.html import stylesheet

__all__ = [
    "ReferenceAnswer",
    "ReferenceBody",
    "ReferenceField",
    "ReferenceOperation",
    "ReferenceSchema",
    "operations_by_tag",
    "reference_html",
    "router",
    "type_in_words",
]

router = APIRouter(tags=["pages"], include_in_schema=False)

_LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matches {}",
}


@router.get("/docs", response_class=HTMLResponse)
async def reference(request: Request) -> HTMLResponse:
    # Its document is made once, and so is the page of it.
    state = request.app.state
    if not hasattr(state, "reference_page"):
        state.reference_page = reference_html(request.app.openapi())
    headers = {
        "Content-Security-Policy": (
            f"default-src 'none'; style-src '{_style().hash}'; img-src data:; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'"
        ),
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-cache",
    }
    return HTMLResponse(state.reference_page, headers=headers)


class ReferenceField(NamedTuple):
    """A parameter, a header, or a property of a body."""

    name: str
    place: str
    """`query`, `path`, `header`; empty for a property."""
    type: Markup
    required: bool
    description: str


class ReferenceBody(NamedTuple):
    media: str
    type: Markup


class ReferenceAnswer(NamedTuple):
    status: str
    description: str
    bodies: tuple[ReferenceBody, ...]
    headers: tuple[str, ...]


class ReferenceOperation(NamedTuple):
    id: str
    method: str
    path: str
    summary: str
    description: str
    scopes: tuple[str, ...]
    """Of the key; empty where none is needed."""
    parameters: tuple[ReferenceField, ...]
    body: str
    """What is told of the body."""
    bodies: tuple[ReferenceBody, ...]
    answers: tuple[ReferenceAnswer, ...]
    problems: tuple[ReferenceAnswer, ...]


class ReferenceSchema(NamedTuple):
    """A body that several operations may have in common."""

    name: str
    description: str
    fields: tuple[ReferenceField, ...]
    type: Markup


def operations_by_tag(document: Mapping[str, Any]) -> dict[str, list[ReferenceOperation]]:
    """In the order of the document."""
    found: dict[str, list[ReferenceOperation]] = {}
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            found.setdefault(said["tags"][0], []).append(_operation(path, method, said, document))
    return found


def _operation(path: str, method: str, said: Mapping[str, Any], document: Mapping[str, Any]) -> ReferenceOperation:
    body = said.get("requestBody", {})
    answers = [_answer(status, one, document) for status, one in said["responses"].items()]
    good = tuple(sorted(one for one in answers if one.status.startswith(("2", "3"))))
    return ReferenceOperation(
        id=said["operationId"],
        method=method.upper(),
        path=path,
        summary=said["summary"],
        description=said["description"],
        scopes=tuple(scope for one in said.get("security", ()) for scopes in one.values() for scope in scopes),
        parameters=tuple(
            ReferenceField(
                one["name"], one["in"], type_in_words(one["schema"]), one["required"], one.get("description", "")
            )
            for one in said.get("parameters", ())
        ),
        body=body.get("description", ""),
        bodies=tuple(_bodies(body)),
        answers=good,
        problems=tuple(one for one in answers if one not in good),
    )


def _answer(status: str, said: Mapping[str, Any], document: Mapping[str, Any]) -> ReferenceAnswer:
    if "$ref" in said:
        said = document["components"]["responses"][_name(said["$ref"])]
    return ReferenceAnswer(status, said["description"], tuple(_bodies(said)), tuple(said.get("headers", ())))


def _bodies(said: Mapping[str, Any]) -> Iterator[ReferenceBody]:
    for media, one in said.get("content", {}).items():
        yield ReferenceBody(media, type_in_words(one.get("schema", {})))


def _schemas(document: Mapping[str, Any]) -> list[ReferenceSchema]:
    return [
        ReferenceSchema(name, said.get("description", ""), tuple(_properties(said)), type_in_words(said))
        for name, said in sorted(document["components"]["schemas"].items())
    ]


def _properties(said: Mapping[str, Any]) -> Iterator[ReferenceField]:
    for name, one in said.get("properties", {}).items():
        yield ReferenceField(name, "", type_in_words(one), name in said.get("required", ()), one.get("description", ""))


def type_in_words(schema: Mapping[str, Any]) -> Markup:
    """What a value may be; what has a name of its own is a link to its description on the page."""
    said = _kind(schema)
    told = [words.format(schema[key]) for key, words in _LIMITS.items() if key in schema]
    if schema.get("default") is not None:
        told.append(f"default {json.dumps(schema['default'])}")
    return Markup(", ").join([said, *map(escape, told)])


def _kind(schema: Mapping[str, Any]) -> Markup:
    if "$ref" in schema:
        return Markup('<a href="#schema-{0}">{0}</a>').format(_name(schema["$ref"]))
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return Markup(" or ").join(type_in_words(one) for one in schema[several])
    if "const" in schema or "enum" in schema:
        return escape(", ".join(json.dumps(one) for one in schema.get("enum", [schema.get("const")])))
    return _plain_kind(schema)


def _plain_kind(schema: Mapping[str, Any]) -> Markup:
    match schema.get("type", "anything"):
        case "array" if "prefixItems" in schema:
            return Markup("a list: {}").format(Markup(", ").join(map(type_in_words, schema["prefixItems"])))
        case "array":
            return Markup("a list of {}").format(type_in_words(schema.get("items", {})))
        case "object" if isinstance(schema.get("additionalProperties"), Mapping):
            return Markup("an object of {}").format(type_in_words(schema["additionalProperties"]))
        case kind:
            return escape(f"{kind} ({schema['format']})" if "format" in schema else kind)


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


class _Style(NamedTuple):
    css: Markup
    hash: str


@cache
def _style() -> _Style:
    """The page's own, and the hash under which its policy allows it."""
    css = f"{stylesheet('report.css')[0]}\n{(files('orchestrator.api.pages') / 'reference.css').read_text('utf-8')}"
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return _Style(Markup(css), f"sha256-{digest}")  # noqa: S704


def reference_html(document: Mapping[str, Any]) -> str:
    source = (files("orchestrator.api.pages") / "reference.html").read_text("utf-8")
    template = _environment().from_string(source)
    return template.render(
        css=_style().css,
        info=document["info"],
        groups=operations_by_tag(document),
        schemas=_schemas(document),
        scheme=document["components"]["securitySchemes"]["apiKey"]["description"],
    )


@cache
def _environment() -> Environment:
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
