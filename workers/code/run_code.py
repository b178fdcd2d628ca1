"""Code as one run asks for it: implements assayer.ports.Code."""

import datetime as dt
from collections.abc import Mapping, Sequence

from assayer.errors import FullTextError, InputError, SourceError
from assayer.flow import together
from assayer.models import Absent, Codebase, Repository
from workers.code.checkout import Commit
from workers.code.cloning import Cloner
from workers.code.github import ApiCheckout, GitHub
from workers.code.settings import CodeSettings
from workers.code.survey import survey
from workers.keeping import Keeper
from workers.remote.call import Ask, Remote
from workers.sources.source import Window

__all__ = ["RunCode"]


class RunCode:
    def __init__(
        self, remote: Remote, cloner: Cloner | None, kept: Keeper[Codebase], settings: CodeSettings, ask: Ask
    ) -> None:
        """Without a cloner, repositories are read through the API."""
        self._remote = remote
        self._github = GitHub(remote, settings.least_stars)
        self._cloner = cloner
        self._kept = kept
        self._settings = settings
        self._ask = ask

    async def search(
        self, queries: Sequence[str], limit: int, after: dt.date | None, before: dt.date | None
    ) -> list[list[Repository]]:
        window = Window(after, before)
        return await together(self._github.search(query, limit, window, self._ask) for query in queries)

    async def read(self, repositories: Sequence[str], before: dt.date | None) -> Mapping[str, Codebase | Absent]:
        distinct = list(dict.fromkeys(repositories))
        read = await together(self._attempt(name, before) for name in distinct)
        return dict(zip(distinct, read, strict=True))

    async def _attempt(self, name: str, before: dt.date | None) -> Codebase | Absent:
        try:
            return await self._read(name, before)
        except (SourceError, FullTextError, InputError) as error:
            return Absent(reason=error.reason)

    async def _read(self, name: str, before: dt.date | None) -> Codebase | Absent:
        commit = await self._github.commit(name, before, self._ask)
        if commit is None:
            return Absent(reason="no such repository, or nothing in it yet")
        key = self._key(name, commit)
        found = await self._kept.get(key)
        if found is None:
            found = await self._surveyed(name, commit)
            await self._kept.put(key, found)
        return found

    def _key(self, name: str, commit: Commit) -> str:
        """All that an account of a repository depends on."""
        read = self._settings.model_dump_json(include={"paths", "file_bytes", "sources", "sources_over_api"})
        return f"{name} {commit.sha} {'api' if self._cloner is None else 'git'} {read}"

    async def _surveyed(self, name: str, commit: Commit) -> Codebase | Absent:
        """What the repository itself does not give is an answer too; a source that does not answer is none."""
        try:
            return await self._survey(name, commit)
        except FullTextError as error:
            return Absent(reason=error.reason)

    async def _survey(self, name: str, commit: Commit) -> Codebase:
        settings = self._settings
        if self._cloner is None:
            checkout = ApiCheckout(self._remote, name, commit, self._ask)
            return await survey(name, commit, checkout, settings, settings.sources_over_api)
        async with self._cloner.fetched(name, commit) as clone:
            return await survey(name, commit, clone, settings, settings.sources)
