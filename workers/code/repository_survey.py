"""Survey one commit of a repository: its README, its files, and the Python code near the top level."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from assayer.errors import InputError
from assayer.models import Codebase, Definition, Frozen, SourceFile
from assayer.text.decoding import decode_text
from assayer.text.sanitise import clean_text, sanitise
from workers.code.checkout import Checkout, Commit, TreeEntry
from workers.code.settings import CodeSettings
from workers.documents.limits import ParserLimits
from workers.literature_apis.record_fields import parse_date
from workers.sandbox.runner import Refused, parse_in_sandbox

_README = ("readme.md", "readme.rst", "readme.txt", "readme", "readme.markdown")
_ASIDE = frozenset({"test", "tests", "testing", "doc", "docs", "example", "examples", "third_party", "vendor", "build"})
_MOST_LEFT_OUT = 200
_MOST_FLAGS = 60


class SelectedFiles(NamedTuple):
    readme: TreeEntry | None
    sources: list[TreeEntry]
    left_out: list[str]
    """Paths of links and submodules, and of READMEs and Python files over the size limit."""


class _Definitions(Frozen):
    definitions: list[tuple[str, int, Literal["function", "class"], str, str, tuple[str, ...]]]
    unparsed: list[str]


def select_files(entries: Sequence[TreeEntry], most_sources: int, file_bytes: int) -> SelectedFiles:
    """Select the files to read: the top-level README and Python files. Tests, examples and similar files come last,
    and otherwise files near the top level first."""
    by_name = {entry.path.lower(): entry for entry in reversed(entries) if "/" not in entry.path}
    readmes = [by_name[name] for name in _README if name in by_name]
    sources = sorted((entry for entry in entries if entry.path.endswith(".py")), key=_reading_order)
    readable = [entry for entry in readmes if _fits(entry, file_bytes)][:1]
    chosen = [entry for entry in sources if _fits(entry, file_bytes) and entry.size][:most_sources]
    links = [entry.path for entry in entries if not entry.is_file]
    large = [entry.path for entry in (*readmes, *sources) if entry.is_file and entry.size > file_bytes]
    return SelectedFiles(readable[0] if readable else None, chosen, sorted({*links, *large}))


def _fits(entry: TreeEntry, file_bytes: int) -> bool:
    return entry.is_file and entry.size <= file_bytes


def _reading_order(entry: TreeEntry) -> tuple[bool, int, str]:
    folders = entry.path.lower().split("/")
    aside = bool(_ASIDE & set(folders[:-1])) or folders[-1].startswith("test_")
    return aside, len(folders), entry.path


async def survey_repository(
    name: str, commit: Commit, checkout: Checkout, settings: CodeSettings, most_sources: int
) -> Codebase:
    """Return the survey of a commit. Raises SourceError or FullTextError."""
    entries = await checkout.entries()
    choice = select_files(entries, most_sources, settings.file_bytes)
    asked = [*([choice.readme] if choice.readme else []), *choice.sources]
    texts, no_texts = _decoded(await checkout.contents(asked) if asked else {})
    sources = {entry.path: texts[entry.path] for entry in choice.sources if entry.path in texts}
    found = await _definitions(sources, settings)
    readme, flags = sanitise(texts.get(choice.readme.path, "") if choice.readme else "")
    clean: list[SourceFile] = []
    for path, text in sources.items():
        cleaned, more = sanitise(text)
        clean.append(SourceFile(path=clean_text(path), text=cleaned))
        flags += more
    paths = sorted(clean_text(entry.path) for entry in entries)
    left_out = dict.fromkeys([*choice.left_out, *no_texts, *found.unparsed])
    return Codebase(
        name=name,
        commit=commit.sha,
        committed=parse_date(commit.date),
        tree=tuple(paths[: settings.paths]),
        files=len(entries),
        readme=readme.strip(),
        sources=tuple(clean),
        definitions=tuple(_definition(*definition) for definition in found.definitions),
        left_out=tuple(clean_text(path) for path in left_out)[:_MOST_LEFT_OUT],
        flags=flags[:_MOST_FLAGS],
    )


def _decoded(contents: Mapping[str, bytes]) -> tuple[dict[str, str], list[str]]:
    """Return the decoded texts, and the paths of files that are not text."""
    texts: dict[str, str] = {}
    others: list[str] = []
    for path, data in contents.items():
        try:
            texts[path] = decode_text(data, path)
        except InputError:
            others.append(path)
    return texts, others


async def _definitions(sources: Mapping[str, str], settings: CodeSettings) -> _Definitions:
    """Return the definitions in the Python files. If the parser crashes, no definitions are returned, and all files
    count as unparsed."""
    if not sources:
        return _Definitions(definitions=[], unparsed=[])
    try:
        return await parse_in_sandbox(
            "workers.sandbox.python_definitions:read_definitions",
            json.dumps(dict(sources)).encode(),
            ParserLimits(
                memory_bytes=settings.memory_bytes,
                cpu_seconds=settings.cpu_seconds,
                wall_seconds=float(settings.cpu_seconds),
            ),
            TypeAdapter(_Definitions),
        )
    except Refused:
        return _Definitions(definitions=[], unparsed=list(sources))


def _definition(
    path: str, line: int, kind: Literal["function", "class"], name: str, doc: str, calls: tuple[str, ...]
) -> Definition:
    words = [clean_text(call) for call in calls]
    return Definition(
        path=clean_text(path), line=line, kind=kind, name=clean_text(name), doc=clean_text(doc), calls=tuple(words)
    )
