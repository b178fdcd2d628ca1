"""Route `/docs`: the OpenAPI document as a readable page. It loads no other resources and runs no scripts, so it works
offline."""

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, Template
from markupsafe import Markup, escape

from assayer.reports.html import load_stylesheet

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
async def get_reference_page(request: Request) -> HTMLResponse:
    # The OpenAPI document does not change while the process runs, so the page is rendered once.
    state = request.app.state
    if not hasattr(state, "reference_page"):
        state.reference_page = render_reference(request.app.openapi())
    headers = {
        "Content-Security-Policy": (
            f"default-src 'none'; style-src '{_load_style().hash}'; img-src data:; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'"
        ),
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-cache",
    }
    return HTMLResponse(state.reference_page, headers=headers)


def describe_type(schema: Mapping[str, Any]) -> Markup:
    """Return a schema's type in words. A named type links to its description on the page."""
    kind = _describe_kind(schema)
    limits = [words.format(schema[key]) for key, words in _LIMITS.items() if key in schema]
    if schema.get("default") is not None:
        limits.append(f"default {json.dumps(schema['default'])}")
    return Markup(", ").join([kind, *map(escape, limits)])


def _describe_kind(schema: Mapping[str, Any]) -> Markup:
    if "$ref" in schema:
        return Markup('<a href="#schema-{0}">{0}</a>').format(schema["$ref"].rpartition("/")[2])
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            return Markup(" or ").join(describe_type(item) for item in schema[keyword])
    if "const" in schema or "enum" in schema:
        return escape(", ".join(json.dumps(item) for item in schema.get("enum", [schema.get("const")])))
    return _describe_plain_kind(schema)


def _describe_plain_kind(schema: Mapping[str, Any]) -> Markup:
    match schema.get("type", "anything"):
        case "array" if "prefixItems" in schema:
            return Markup("a list: {}").format(Markup(", ").join(map(describe_type, schema["prefixItems"])))
        case "array":
            return Markup("a list of {}").format(describe_type(schema.get("items", {})))
        case "object" if isinstance(schema.get("additionalProperties"), Mapping):
            return Markup("an object of {}").format(describe_type(schema["additionalProperties"]))
        case kind:
            return escape(f"{kind} ({schema['format']})" if "format" in schema else kind)


class _Style(NamedTuple):
    css: Markup
    hash: str


@cache
def _load_style() -> _Style:
    """Return the page's style sheet, and the hash that allows it in the Content Security Policy."""
    css = (
        f"{load_stylesheet('report.css')[0]}\n{(files('orchestrator.api.pages') / 'reference.css').read_text('utf-8')}"
    )
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return _Style(Markup(css), f"sha256-{digest}")  # noqa: S704


def render_reference(document: Mapping[str, Any]) -> str:
    groups: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            groups.setdefault(operation["tags"][0], []).append((path, method, operation))
    return _load_template().render(css=_load_style().css, document=document, groups=groups)


@cache
def _load_template() -> Template:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["words"] = describe_type
    return environment.from_string((files("orchestrator.api.pages") / "reference.html").read_text("utf-8"))
