"""Survey one commit of a repository: its README, its files, and the Python code near the top level."""

import asyncio
from typing import Literal, cast, get_args

from pydantic import TypeAdapter

from assayer.errors import Unreadable
from assayer.models import Codebase, Definition, Frozen, SourceFile, UnreadableCause
from assayer.text.sanitise import clean_text, sanitise
from workers.code.commits import Commit, validate_repository_name
from workers.code.settings import CodeSettings
from workers.fetching.content_types import ContentKind
from workers.fetching.downloader import Downloader
from workers.literature_apis.record_fields import parse_date
from workers.sandbox.runner import Refused, parse_in_sandbox

_MAX_FLAGS = 60
_ARCHIVE_KINDS: tuple[ContentKind, ...] = ("gzip",)


class _RepositoryFiles(Frozen):
    paths: tuple[str, ...]
    files: int
    readme: str
    sources: dict[str, str]
    definitions: tuple[tuple[str, int, Literal["function", "class"], str, str, tuple[str, ...]], ...]
    left_out: tuple[str, ...]


_ANSWER = TypeAdapter(_RepositoryFiles)


class RepositorySurveyor:
    """Downloads archives of commits, and reads them in sandboxed child processes."""

    def __init__(self, downloader: Downloader, settings: CodeSettings) -> None:
        self._downloader = downloader
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.at_once)

    async def survey(self, name: str, commit: Commit) -> Codebase:
        """Return a commit's survey. Raises FullTextError if its archive cannot be fetched or read, and InputError if
        the name is invalid."""
        settings = self._settings
        url = f"{settings.archive_url}/{validate_repository_name(name)}/tar.gz/{commit.sha}"
        async with self._slots:
            _, archive = await self._downloader.read(url, _ARCHIVE_KINDS, settings.download)
            try:
                files = await self._read(archive, definitions=True)
            except Refused:  # perhaps by a Python file that crashes the parser
                files = await self._read_or_raise(archive, name)
        return _build_codebase(name, commit, files)

    async def _read_or_raise(self, archive: bytes, name: str) -> _RepositoryFiles:
        try:
            return await self._read(archive, definitions=False)
        except Refused as refused:
            cause = refused.cause if refused.cause in get_args(UnreadableCause) else "damaged"
            raise Unreadable(f"The archive of {name} cannot be read.", "", cast(UnreadableCause, cause)) from None

    async def _read(self, archive: bytes, *, definitions: bool) -> _RepositoryFiles:
        settings = self._settings
        return await parse_in_sandbox(
            "workers.sandbox.repository_files:read_repository",
            archive,
            settings,
            _ANSWER,
            paths=settings.paths,
            sources=settings.sources,
            file_bytes=settings.file_bytes,
            definitions=definitions,
        )


def _build_codebase(name: str, commit: Commit, files: _RepositoryFiles) -> Codebase:
    readme, flags = sanitise(files.readme)
    sources: list[SourceFile] = []
    for path, text in files.sources.items():
        clean_source, more_flags = sanitise(text)
        sources.append(SourceFile(path=clean_text(path), text=clean_source))
        flags += more_flags
    return Codebase(
        name=name,
        commit=commit.sha,
        committed=parse_date(commit.date),
        tree=tuple(map(clean_text, files.paths)),
        files=files.files,
        readme=readme.strip(),
        sources=tuple(sources),
        definitions=tuple(_make_definition(*definition) for definition in files.definitions),
        left_out=tuple(map(clean_text, files.left_out)),
        flags=flags[:_MAX_FLAGS],
    )


def _make_definition(
    path: str, line: int, kind: Literal["function", "class"], name: str, doc: str, calls: tuple[str, ...]
) -> Definition:
    words = [clean_text(call) for call in calls]
    return Definition(
        path=clean_text(path), line=line, kind=kind, name=clean_text(name), doc=clean_text(doc), calls=tuple(words)
    )
