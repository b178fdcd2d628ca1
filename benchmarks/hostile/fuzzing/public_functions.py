"""Public functions of the product that take a text, and those of them that need no other argument.

The sources are parsed, because importing all modules takes a minute."""

import ast
import importlib
import re
from collections.abc import Callable, Container, Iterator
from functools import cache
from pathlib import Path

from benchmarks.hostile.fuzzing.exempt import EXEMPT

_ROOT = Path(__file__).parents[3]
_PACKAGES = ("assayer", "workers", "orchestrator", "index", "cluster", "client/assayer_client")
_TEXT_TYPES = {"str", "bytes", "BinaryIO"}
_TEXT_ARGUMENTS = {
    "abstract",
    "body",
    "content",
    "data",
    "document",
    "html",
    "idea",
    "passage",
    "pdf",
    "tei",
    "text",
    "words",
}
"""Names of arguments that contain a text in any position."""
_STRAY_BYTE = re.compile("([\uf780-\uf7ff])")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def encode_text(text: str) -> bytes:
    """Encode as UTF-8, except that U+F780 to U+F7FF become the bytes 0x80 to 0xFF, which are invalid UTF-8."""
    pieces = _STRAY_BYTE.split(text)
    return b"".join(
        bytes([ord(piece) - 0xF700]) if _STRAY_BYTE.fullmatch(piece) else piece.encode() for piece in pieces
    )


@cache
def find_text_functions() -> dict[str, _Function]:
    """Return by full name the public functions that take a text or bytes, first or as one of `_TEXT_ARGUMENTS`."""
    return {
        f"{module}.{node.name}": node
        for module, tree in _parse_modules()
        for node in tree.body
        if isinstance(node, _Function) and node.name in _list_exports(tree) and _takes_text(node)
    }


def is_exempt(function: str) -> bool:
    """Return whether the function is exempt, by its own name, its module, or a package around it."""
    parts = function.split(".")
    return any(".".join(parts[:length]) in EXEMPT for length in range(1, len(parts) + 1))


def build_readers(known_names: Container[str]) -> dict[str, Callable[[str], object]]:
    """Return the functions that need one text or bytes and nothing else, without those that are known or exempt."""
    return {
        name: _build_reader(name, kind)
        for name, node in find_text_functions().items()
        if name not in known_names and not is_exempt(name) and (kind := _get_only_argument(node))
    }


def _build_reader(name: str, kind: str) -> Callable[[str], object]:
    module, _, function = name.rpartition(".")
    read = getattr(importlib.import_module(module), function)

    def read_fully(text: str) -> object:
        result = read(encode_text(text) if kind == "bytes" else text)
        return list(result) if isinstance(result, Iterator) else result

    return read_fully


def _get_only_argument(function: _Function) -> str | None:
    """Return the type of the only required argument if it is `str` or `bytes`, otherwise None."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    required_count = (
        len(arguments) - len(function.args.defaults) + sum(default is None for default in function.args.kw_defaults)
    )
    annotation = arguments[0].annotation if arguments else None
    if isinstance(function, ast.AsyncFunctionDef) or required_count != 1 or not isinstance(annotation, ast.Name):
        return None
    return annotation.id if annotation.id in {"str", "bytes"} else None


def _parse_modules() -> Iterator[tuple[str, ast.Module]]:
    for package in _PACKAGES:
        for path in sorted((_ROOT / package).rglob("*.py")):
            parts = path.relative_to((_ROOT / package).parent).with_suffix("").parts
            yield ".".join(parts).removesuffix(".__init__"), ast.parse(path.read_text("utf-8"))


def _list_exports(tree: ast.Module) -> set[str]:
    """Return the names in `__all__`; of a module without it, the functions without a leading underscore."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return set(ast.literal_eval(node.value))
    functions = (node for node in tree.body if isinstance(node, _Function))
    return {function.name for function in functions if not function.name.startswith("_")}


def _takes_text(function: _Function) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return any(
        _is_text(argument) and (position == 0 or argument.arg in _TEXT_ARGUMENTS)
        for position, argument in enumerate(arguments)
    )


def _is_text(argument: ast.arg) -> bool:
    """Return whether the argument is a text, bytes or a sequence of texts, but not a mapping or a function."""
    parts = list(ast.walk(argument.annotation)) if argument.annotation else []
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return bool(names & _TEXT_TYPES) and not names & {"Mapping", "Callable", "dict"}
