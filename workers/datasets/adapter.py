"""Implementation of `assayer.ports.Datasets` for one evaluation: sends several queries to one catalogue
concurrently."""

from collections.abc import Sequence
from typing import Protocol

from assayer.models import Dataset, Window
from assayer.run.concurrency import gather_all
from workers.outbound.source_requests import RequestContext


class DatasetSource(Protocol):
    @property
    def name(self) -> str: ...

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Dataset]:
        """Search title and description, and return distinct data sets, best matches first. Dated data sets are within
        the window; undated ones are included. Raises SourceError if the catalogue does not answer."""
        ...


class DatasetsAdapter:
    def __init__(self, source: DatasetSource, context: RequestContext) -> None:
        self._source = source
        self._context = context

    @property
    def source(self) -> str:
        return self._source.name

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Dataset]]:
        return await gather_all(self._source.search(query, limit, window, self._context) for query in queries)
