"""The web as one run asks it: implements assayer.ports.Web."""

import datetime as dt
from collections.abc import Mapping, Sequence

from assayer.errors import FullTextError
from assayer.flow import together
from assayer.models import Absent, Page, WebResult
from workers.remote import Ask
from workers.sources.source import Window
from workers.web.reading import PageReader
from workers.web.search import WebSearch

__all__ = ["RunWeb"]


class RunWeb:
    def __init__(self, search: WebSearch, reader: PageReader, ask: Ask) -> None:
        self._search = search
        self._reader = reader
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
            return await self._reader.read(url)
        except FullTextError as error:
            return Absent(reason=error.reason)
