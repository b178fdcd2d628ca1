"""What a search in the corpus stands on."""

from collections.abc import Sequence
from typing import Protocol

from assayer.models import Filters, Hit, Passage

__all__ = ["SearchedCorpora", "SearchedCorpus"]


class SearchedCorpus(Protocol):
    """One version. All raise LiteratureError."""

    @property
    def version(self) -> str: ...

    async def find(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Hit]]: ...

    async def find_passages(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Passage]]: ...


class SearchedCorpora(Protocol):
    async def current(self) -> SearchedCorpus:
        """The version that answers one request, all of it. Raises CorpusError when there is none."""
        ...
