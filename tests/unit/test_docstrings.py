"""Docstrings stand alone, and loop variables are named after what they hold."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("assayer", "workers", "index", "orchestrator", "cluster", "client", "simulator")
PACKAGES = (*PRODUCT, "benchmarks", "tests")

DEPENDENT_FIRST_WORDS = frozenset(
    [
        "As",
        "At",
        "By",
        "For",
        "How",
        "In",
        "Nobody",
        "Of",
        "On",
        "Somebody",
        "Such",
        "That",
        "Those",
        "What",
        "Who",
        "Whom",
        "Whose",
        "With",
    ]
)
"""First words that make a line depend on the name above it, which a reader of generated help does not see."""

VAGUE_NAMES = frozenset({"one", "ones"})


def iterate_docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and text of each docstring, those of attributes included."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.lineno, value.value


def iterate_bound_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of each variable and parameter that functions bind, without fields of classes."""
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    fields = {item.target for node in classes for item in node.body if isinstance(item, ast.AnnAssign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def iterate_dependent_docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield a sentence for each docstring that does not stand alone."""
    for line, text in iterate_docstrings(tree):
        first = text.split(maxsplit=1)[0].rstrip(",:;") if text.strip() else ""
        if first in DEPENDENT_FIRST_WORDS:
            yield f"line {line}: the docstring begins with {first!r}"


def iterate_vague_names(tree: ast.Module) -> Iterator[str]:
    """Yield a sentence for each name that does not say what it holds."""
    for line, name in iterate_bound_names(tree):
        if name in VAGUE_NAMES:
            yield f"line {line}: {name!r} does not say what it holds"


def list_faults(package: str, rule: Callable[[ast.Module], Iterator[str]]) -> list[str]:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    return [
        f"{file.relative_to(ROOT)}, {fault}" for file in files for fault in rule(ast.parse(file.read_text("utf-8")))
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_do_not_depend_on_the_name_above(package: str) -> None:
    faults = list_faults(package, iterate_dependent_docstrings)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("package", PRODUCT)
def test_variable_names_are_descriptive(package: str) -> None:
    faults = list_faults(package, iterate_vague_names)
    assert not faults, "\n".join(faults)


def test_dependent_docstring_and_vague_variable_name_are_detected() -> None:
    source = '"""Of a module."""\n\n\ndef first(one: int) -> int:\n    """Return it."""\n    return one\n'
    tree = ast.parse(source)
    assert list(iterate_dependent_docstrings(tree)) == ["line 1: the docstring begins with 'Of'"]
    assert list(iterate_vague_names(tree)) == ["line 4: 'one' does not say what it holds"]
