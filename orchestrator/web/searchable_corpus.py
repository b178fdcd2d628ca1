"""The interface through which the API searches the corpus. It imports no web framework, because the packages that
implement it do not depend on one."""

from collections.abc import Sequence
from typing import Protocol

from assayer.models import Filters, Hit, Passage
from assayer.ports import Literature


class SearchableCorpus(Literature, Protocol):
    """One version of the corpus, for searching. All methods raise LiteratureError if the search fails."""

    async def find(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Hit]]: ...

    async def find_passages(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Passage]]: ...


class SearchableCorpora(Protocol):
    async def current(self) -> SearchableCorpus:
        """Return the current version, which must be used for the entire request. Raises CorpusError if there is
        none."""
        ...
