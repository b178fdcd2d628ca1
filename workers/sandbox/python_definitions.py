"""Find the functions and classes in untrusted Python files without importing them. Runs in the sandboxed process,
because deep nesting can crash the parser."""

import ast
import warnings
from collections.abc import Iterator, Mapping
from typing import Literal

_MAX_DEFINITIONS = 2_000
_MAX_CALLS = 40
_MAX_SUMMARY_CHARS = 400

FoundDefinition = tuple[str, int, Literal["function", "class"], str, str, tuple[str, ...]]


def find_definitions(path: str, text: str) -> Iterator[FoundDefinition]:
    """Yield definitions in line order. Raises SyntaxError, ValueError, RecursionError or MemoryError if the file cannot
    be parsed."""
    yield from _find_definitions(ast.parse(text), path, "")


def _find_definitions(node: ast.AST, path: str, prefix: str) -> Iterator[FoundDefinition]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield path, child.lineno, "function", prefix + child.name, _get_summary(child), _list_calls(child)
            yield from _find_definitions(child, path, f"{prefix}{child.name}.")
        elif isinstance(child, ast.ClassDef):
            yield path, child.lineno, "class", prefix + child.name, _get_summary(child), ()
            yield from _find_definitions(child, path, f"{prefix}{child.name}.")
        elif not isinstance(child, ast.expr):
            yield from _find_definitions(child, path, prefix)


def _get_summary(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """Return a docstring's first paragraph on one line, at most `_MAX_SUMMARY_CHARS` characters long."""
    words = (ast.get_docstring(node) or "").split("\n\n", 1)[0]
    return " ".join(words.split())[:_MAX_SUMMARY_CHARS]


def _list_calls(function: ast.AST) -> tuple[str, ...]:
    names = (_format_dotted_name(node.func) for node in ast.walk(function) if isinstance(node, ast.Call))
    return tuple(dict.fromkeys(name for name in names if name))[:_MAX_CALLS]


def _format_dotted_name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ""


def read_definitions(sources: Mapping[str, str]) -> tuple[list[FoundDefinition], list[str]]:
    """Return the definitions in the files, and the paths of files that are not valid Python. The files' contents are
    keyed by path."""
    warnings.simplefilter("ignore")
    definitions: list[FoundDefinition] = []
    unparsed: list[str] = []
    for path, text in sources.items():
        try:
            definitions += find_definitions(path, text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            unparsed.append(path)
    return definitions[:_MAX_DEFINITIONS], unparsed
