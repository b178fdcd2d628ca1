"""The web as one run asks it: implements assayer.ports.Web."""

import datetime as dt
from collections.abc import Mapping, Sequence

from assayer.errors import FullTextError
from assayer.flow import together
from assayer.models import Absent, Page, WebResult
from workers.keeping import Keeper
from workers.remote.call import Ask
from workers.sources.source import Window
from workers.web.reading import PageReader
from workers.web.search import WebSearch

__all__ = ["RunWeb"]


class RunWeb:
    def __init__(self, search: WebSearch, reader: PageReader, kept: Keeper[Page], ask: Ask) -> None:
        self._search = search
        self._reader = reader
        self._kept = kept
        self._ask = ask

    async def search(
        self, queries: Sequence[str], limit: int, after: dt.date | None, before: dt.date | None
    ) -> list[list[WebResult]]:
        window = Window(after, before)
        return await together(self._search.search(query, limit, window, self._ask) for query in queries)

    async def read(self, urls: Sequence[str]) -> Mapping[str, Page | Absent]:
        distinct = list(dict.fromkeys(urls))
        return dict(zip(distinct, await together(map(self._page, distinct)), strict=True))

    async def _page(self, url: str) -> Page | Absent:
        try:
            found = await self._kept.get(url)
            if found is None:
                found = await self._read(url)
                await self._kept.put(url, found)
        except FullTextError as error:  # of the storage
            return Absent(reason=error.reason)
        return found

    async def _read(self, url: str) -> Page | Absent:
        try:
            return await self._reader.read(url)
        except FullTextError as error:
            return Absent(reason=error.reason)
