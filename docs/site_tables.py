"""Tables and lists that the site makes of the code and the pages: routes of the API, settings, decisions.

A hook of mkdocs. A page asks for one by a comment: `<!-- routes -->`, `<!-- settings -->` or `<!-- decisions -->`.
"""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic_core import PydanticUndefined

from cluster.operator_settings import AUDIENCES, build_variable_name, find_setting_field, list_section_paths

__all__ = ["on_page_markdown"]


def on_page_markdown(markdown: str, **_event: Any) -> str:
    """Return the page's text with its tables in place."""
    tables = {"<!-- routes -->": _routes, "<!-- settings -->": _settings, "<!-- decisions -->": _decisions}
    for mark, table in tables.items():
        if mark in markdown:
            markdown = markdown.replace(mark, "\n".join(table()))
    return markdown


def _routes() -> Iterator[str]:
    document = json.loads(Path(__file__).with_name("openapi.json").read_text("utf-8"))
    yield "| request | what it does |"
    yield "|---|---|"
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            summary = " ".join(operation.get("summary", "").split()).replace("|", "\\|")
            yield f"| `{method.upper()} {path}` | {summary} |"


def _decisions() -> Iterator[str]:
    for page in sorted(Path(__file__).parent.glob("adr/0*.md")):
        title = page.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        yield f"- [{title}]({page.name})"


def _settings() -> Iterator[str]:
    for audience, sections in AUDIENCES.items():
        yield f"\n## {audience}\n"
        yield "| variable | default | meaning |"
        yield "|---|---|---|"
        for path in list_section_paths(sections):
            field = find_setting_field(path)[1]
            default = _default(field.get_default(call_default_factory=False))
            yield f"| `{build_variable_name(path)}` | {default} | {_cell(meaning(path))} |"


def meaning(path: Sequence[str]) -> str:
    """Return the docstring of a setting."""
    return _field_docstrings(find_setting_field(path)[0]).get(path[-1], "")


def _default(value: object) -> str:
    if value is PydanticUndefined or isinstance(value, SecretStr):
        return ""
    return "none" if value is None or value in ("", (), {}) else f"`{_cell(str(value))}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _field_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The string literals below fields, of the model and of the models that it extends."""
    found: dict[str, str] = {}
    for item in reversed(model.__mro__):
        if not issubclass(item, BaseModel) or item is BaseModel or item.__module__.startswith("pydantic"):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(item))).body[0]
        statements = body.body if isinstance(body, ast.ClassDef) else []
        for field, below in pairwise(statements):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
                and isinstance(below.value.value, str)
            ):
                found[field.target.id] = below.value.value
    return found
