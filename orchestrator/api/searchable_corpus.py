"""The corpus as the API searches it; known without a web framework, as those who provide it have none."""

from collections.abc import Sequence
from typing import Protocol

from assayer.models import Filters, Hit, Passage
from assayer.ports import Literature

__all__ = ["SearchableCorpora", "SearchableCorpus"]


class SearchableCorpus(Literature, Protocol):
    """One version. All raise LiteratureError."""

    async def find(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Hit]]: ...

    async def find_passages(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Passage]]: ...


class SearchableCorpora(Protocol):
    async def current(self) -> SearchableCorpus:
        """The version that answers one request, all of it. Raises CorpusError when there is none."""
        ...
