"""The adapter of `assayer.ports.Datasets` for one evaluation: one catalogue, searched for several queries at once."""

from collections.abc import Sequence
from typing import Protocol

from assayer.models import Dataset, Window
from assayer.run.structured_concurrency import together
from workers.remote.request import RequestContext

__all__ = ["DatasetSource", "DatasetsAdapter"]


class DatasetSource(Protocol):
    @property
    def name(self) -> str: ...

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Dataset]:
        """By title and description, best first, each once. Dated ones lie in the window. Raises SourceError."""
        ...


class DatasetsAdapter:
    def __init__(self, source: DatasetSource, context: RequestContext) -> None:
        self._source = source
        self._context = context

    @property
    def source(self) -> str:
        return self._source.name

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Dataset]]:
        return await together(self._source.search(query, limit, window, self._context) for query in queries)
