"""Implementation of `assayer.ports.Code` for one evaluation: searches repositories, reads them and caches the
results."""

from collections.abc import Mapping, Sequence

from assayer.errors import FullTextError, InputError, SourceError
from assayer.models import Absent, Codebase, Repository, Window
from assayer.run.concurrency import gather_all
from workers.code.commits import Commit
from workers.code.github import GitHub
from workers.code.repository_survey import RepositorySurveyor
from workers.code.settings import CodeSettings
from workers.file_cache import FileCache
from workers.outbound.source_requests import RequestContext, SourceFetcher


class CodeAdapter:
    def __init__(
        self,
        remote: SourceFetcher,
        surveyor: RepositorySurveyor,
        cache: FileCache[Codebase],
        settings: CodeSettings,
        context: RequestContext,
    ) -> None:
        self._github = GitHub(remote)
        self._surveyor = surveyor
        self._cache = cache
        self._settings = settings
        self._context = context

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Repository]]:
        return await gather_all(self._github.search(query, limit, window, self._context) for query in queries)

    async def read(self, repositories: Sequence[str], window: Window) -> Mapping[str, Codebase | Absent]:
        distinct = list(dict.fromkeys(repositories))
        codebases = await gather_all(self._read_or_absent(name, window) for name in distinct)
        return dict(zip(distinct, codebases, strict=True))

    async def _read_or_absent(self, name: str, window: Window) -> Codebase | Absent:
        try:
            return await self._read_cached(name, window)
        except (SourceError, FullTextError, InputError) as error:
            return Absent(reason=error.reason)

    async def _read_cached(self, name: str, window: Window) -> Codebase | Absent:
        commit = await self._github.fetch_last_commit(name, window, self._context)
        if commit is None:
            return Absent(reason="the repository does not exist or is empty")
        key = self._build_cache_key(name, commit)
        cached = await self._cache.get(key)
        if cached is None:
            cached = await self._survey_or_absent(name, commit)
            await self._cache.put(key, cached)
        return cached

    def _build_cache_key(self, name: str, commit: Commit) -> str:
        """Return the cache key. It contains everything on which a survey depends."""
        reading_settings = self._settings.model_dump_json(include={"paths", "file_bytes", "sources"})
        return f"{name} {commit.sha} {reading_settings}"

    async def _survey_or_absent(self, name: str, commit: Commit) -> Codebase | Absent:
        """Return a repository's survey, or why it cannot be read."""
        try:
            return await self._surveyor.survey(name, commit)
        except FullTextError as error:
            return Absent(reason=error.reason)
