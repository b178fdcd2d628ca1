"""Cache of results for recent queries, because evaluation methods repeat queries."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Row = TypeVar("Row")


class QueryMemo(Generic[Row]):
    def __init__(self, size: int) -> None:
        """Create a cache for the results of at most `size` queries. The least recently used are evicted first."""
        self._size = size
        self._rows: OrderedDict[str, Row] = OrderedDict()

    async def get_or_compute(
        self, queries: Sequence[str], compute: Callable[[list[str]], Awaitable[list[Row]]]
    ) -> list[Row]:
        """Return one row per query, in order. `compute` is called once, with the queries that are not cached."""
        known_rows = {query: self._rows[query] for query in queries if query in self._rows}
        missing = list(dict.fromkeys(query for query in queries if query not in known_rows))
        if missing:
            known_rows |= zip(missing, await compute(missing), strict=True)
        self._remember(known_rows)
        return [known_rows[query] for query in queries]

    def _remember(self, rows: dict[str, Row]) -> None:
        for query, row in rows.items():
            self._rows[query] = row
            self._rows.move_to_end(query)
        while len(self._rows) > self._size:
            self._rows.popitem(last=False)
