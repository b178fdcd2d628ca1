"""Descriptions for wire models in the OpenAPI document, taken from the docstrings below their fields.

Pydantic can do this when a class is created (`use_attribute_docstrings`), but that doubles the client's import time.
The document is built once per process, so the docstrings are read then."""

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.routing import BaseRoute

from assayer_client.resources import Body, Resource


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
            descriptions = {
                name: text
                for model_descriptions in _find_query_descriptions(route.dependant)
                for name, text in model_descriptions.items()
            }
            for method in route.methods or ():
                operation = document["paths"][route.path_format].get(method.lower(), {})
                for parameter in operation.get("parameters", ()):
                    if parameter["in"] == "query" and parameter["name"] in descriptions:
                        parameter.setdefault("description", descriptions[parameter["name"]])
        elif (router := getattr(route, "original_router", None)) is not None:
            describe_parameters(document, router.routes)


def _find_query_descriptions(dependant: Dependant) -> Iterator[dict[str, str]]:
    for field in dependant.query_params:
        model = field.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            yield _read_field_descriptions(model)
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
