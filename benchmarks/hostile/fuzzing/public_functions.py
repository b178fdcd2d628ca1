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
_TEXTS = {"str", "bytes", "BinaryIO"}
_NAMES = {"abstract", "body", "content", "data", "document", "html", "idea", "passage", "pdf", "tei", "text", "words"}
"""Names of arguments that contain a text in any position."""
_STRAY = re.compile("([\uf780-\uf7ff])")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def bytes_of(text: str) -> bytes:
    """Encode as UTF-8, except that U+F780 to U+F7FF become the bytes 0x80 to 0xFF, which are invalid UTF-8."""
    pieces = _STRAY.split(text)
    return b"".join(bytes([ord(piece) - 0xF700]) if _STRAY.fullmatch(piece) else piece.encode() for piece in pieces)


@cache
def public_functions_of_texts() -> dict[str, _Function]:
    """Return the public functions that take a text or bytes first, or under a name in `_NAMES`, by full name."""
    return {
        f"{module}.{node.name}": node
        for module, tree in _modules()
        for node in tree.body
        if isinstance(node, _Function) and node.name in _exports(tree) and _takes(node)
    }


def is_exempt(function: str) -> bool:
    """Return whether the function is exempt, by its own name, its module, or a package around it."""
    parts = function.split(".")
    return any(".".join(parts[:length]) in EXEMPT for length in range(1, len(parts) + 1))


def readers_of_one_text(known_names: Container[str]) -> dict[str, Callable[[str], object]]:
    """Return the functions that need one text or bytes and nothing else, without those that are known or exempt."""
    return {
        name: _reader(name, kind)
        for name, node in public_functions_of_texts().items()
        if name not in known_names and not is_exempt(name) and (kind := _only_argument(node))
    }


def _reader(name: str, kind: str) -> Callable[[str], object]:
    module, _, function = name.rpartition(".")
    read = getattr(importlib.import_module(module), function)

    def whole(text: str) -> object:
        result = read(bytes_of(text) if kind == "bytes" else text)
        return list(result) if isinstance(result, Iterator) else result

    return whole


def _only_argument(function: _Function) -> str | None:
    """Return the type of the only required argument if it is `str` or `bytes`, otherwise None."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    required_count = (
        len(arguments) - len(function.args.defaults) + sum(item is None for item in function.args.kw_defaults)
    )
    annotation = arguments[0].annotation if arguments else None
    if isinstance(function, ast.AsyncFunctionDef) or required_count != 1 or not isinstance(annotation, ast.Name):
        return None
    return annotation.id if annotation.id in {"str", "bytes"} else None


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for package in _PACKAGES:
        for path in sorted((_ROOT / package).rglob("*.py")):
            parts = path.relative_to((_ROOT / package).parent).with_suffix("").parts
            yield ".".join(parts).removesuffix(".__init__"), ast.parse(path.read_text("utf-8"))


def _exports(tree: ast.Module) -> set[str]:
    """Return the names in `__all__`; of a module without it, the functions without a leading underscore."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return set(ast.literal_eval(node.value))
    functions = (node for node in tree.body if isinstance(node, _Function))
    return {function.name for function in functions if not function.name.startswith("_")}


def _takes(function: _Function) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return any(_is_text(item) and (place == 0 or item.arg in _NAMES) for place, item in enumerate(arguments))


def _is_text(argument: ast.arg) -> bool:
    """Return whether the argument is a text, bytes or a sequence of texts, but not a mapping or a function."""
    parts = list(ast.walk(argument.annotation)) if argument.annotation else []
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return bool(names & _TEXTS) and not names & {"Mapping", "Callable", "dict"}
