"""A repository as a reviewer would skim it: README, structure, what calls what, and the code that matters."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set

from assayer.methods.innoeval.excerpts import excerpt, words_of
from assayer.models import Codebase, Definition

__all__ = ["account_of"]

_PATHS = 30
_DEFINITIONS = 12
_SHOWN_WHOLE = 2
_LINES = 25
"""Of a definition that is shown whole."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_./]")


def account_of(code: Codebase, about: Set[str], limit: int) -> str:
    """At most `limit` characters; each block is a paragraph of its own."""
    chosen = _telling(code.definitions, about)
    rest = [_structure(code), _files(code.definitions), _calls(code.definitions, chosen), *_bodies(code, chosen)]
    blocks = [block for block in rest if block]
    readme = excerpt([code.readme], about, max(limit // 2, limit - sum(len(block) + 2 for block in blocks)))
    text = readme
    for block in blocks:
        if len(text) + len(block) + 2 <= limit:
            text = f"{text}\n\n{block}".strip()
    return text


def _words(name: str) -> frozenset[str]:
    return words_of(_CAMEL.sub(" ", name))


def _telling(definitions: Sequence[Definition], about: Set[str]) -> list[Definition]:
    """Those that share most words with the idea, and of these the ones that do most."""

    def rank(one: Definition) -> tuple[int, int, str, int]:
        shared = len((_words(one.name) | _words(one.path) | words_of(one.doc)) & about)
        return -shared, -len(one.calls), one.path, one.line

    return sorted(definitions, key=rank)[:_DEFINITIONS]


def _structure(code: Codebase) -> str:
    if not code.tree:
        return ""
    shallow = sorted(code.tree, key=lambda path: (path.count("/"), path))[:_PATHS]
    return f"Structure ({code.files} files): {', '.join(shallow)}"


def _known(definitions: Iterable[Definition]) -> dict[str, str]:
    """The file in which each name is defined; names that several files define tell nothing."""
    files: dict[str, set[str]] = {}
    for one in definitions:
        files.setdefault(one.name.rpartition(".")[2], set()).add(one.path)
    return {name: next(iter(paths)) for name, paths in files.items() if len(paths) == 1}


def _targets(one: Definition, known: Mapping[str, str]) -> list[str]:
    last = (call.rpartition(".")[2] for call in one.calls)
    return [name for name in dict.fromkeys(last) if name in known and name != one.name.rpartition(".")[2]]


def _files(definitions: Sequence[Definition]) -> str:
    known = _known(definitions)
    edges = {(one.path, known[name]) for one in definitions for name in _targets(one, known) if known[name] != one.path}
    if not edges:
        return ""
    return "Files that use files: " + "; ".join(f"{user} → {used}" for user, used in sorted(edges)[:_PATHS])


def _calls(definitions: Sequence[Definition], chosen: Sequence[Definition]) -> str:
    known = _known(definitions)
    lines = []
    for one in chosen:
        targets = ", ".join(_targets(one, known))
        doc = " ".join(one.doc.split())[:120]
        lines.append(f"{one.path}: {one.name}{doc and ' — '}{doc}{targets and ' → '}{targets}")
    return "Definitions and what they call:\n" + "\n".join(lines) if lines else ""


def _bodies(code: Codebase, chosen: Sequence[Definition]) -> list[str]:
    sources = {source.path: source.text.split("\n") for source in code.sources}
    functions = [one for one in chosen if one.kind == "function" and one.path in sources][:_SHOWN_WHOLE]
    return [_body(one, sources[one.path]) for one in functions]


def _body(one: Definition, lines: Sequence[str]) -> str:
    shown = [line.rstrip() for line in lines[one.line - 1 : one.line - 1 + _LINES] if line.strip()]
    return f"{one.path}, line {one.line}:\n" + "\n".join(shown)
