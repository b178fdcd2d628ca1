"""Implementation of `assayer.ports.Web` for one evaluation: searches through an API, and reads and caches pages."""

from collections.abc import Mapping, Sequence

from assayer.errors import FullTextError
from assayer.models import Absent, WebPage, WebResult, Window
from assayer.run.concurrency import gather_all
from workers.file_cache import FileCache
from workers.outbound.source_requests import RequestContext
from workers.web.page_reader import PageReader
from workers.web.search import WebSearch


class WebAdapter:
    def __init__(
        self, search: WebSearch, reader: PageReader, cache: FileCache[WebPage], context: RequestContext
    ) -> None:
        self._search = search
        self._reader = reader
        self._cache = cache
        self._context = context

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[WebResult]]:
        return await gather_all(self._search.search(query, limit, window, self._context) for query in queries)

    async def read(self, urls: Sequence[str]) -> Mapping[str, WebPage | Absent]:
        distinct = list(dict.fromkeys(urls))
        return dict(zip(distinct, await gather_all(map(self._read_cached, distinct)), strict=True))

    async def _read_cached(self, url: str) -> WebPage | Absent:
        try:
            page = await self._cache.get(url)
            if page is None:
                page = await self._read(url)
                await self._cache.put(url, page)
        except FullTextError as error:  # from the cache's storage
            return Absent(reason=error.reason)
        return page

    async def _read(self, url: str) -> WebPage | Absent:
        try:
            return await self._reader.read(url)
        except FullTextError as error:
            return Absent(reason=error.reason)
