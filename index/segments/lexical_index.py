"""Inverted index for a segment's lexical weights: for each token, the rows that contain it and its weight in each.

The index is in memory-mapped arrays, so a query reads only the rows of its own tokens. Rows are sorted by publication
date, so a cutoff is a prefix of each token's rows. All rows that share a token with a query are scored exactly. Sums
are always computed in token order, so that results do not depend on other queries in a batch."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from assayer.ports import LexicalWeights
from index.arrays import create_memory_map, load_array
from index.segments.lexical_rows import LexicalRows, LexicalSpool
from index.segments.row_filter import RowFilter

_TOKENS, _OFFSETS, _ROWS, _WEIGHTS = (f"lexical-{name}.npy" for name in ("tokens", "offsets", "rows", "weights"))


class LexicalMatches(NamedTuple):
    """Rows and their scores, best first. Equal scores are ordered by row."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]


class LexicalIndex:
    """Index of lexical weights. Its files are opened when they are first needed."""

    def __init__(self, directory: Path, rows: int) -> None:
        """Create the index. `rows` is the number of rows in the segment."""
        self._directory = directory
        self._count = rows

    def __len__(self) -> int:
        return self._count

    def find_nearest(self, query: LexicalWeights, limit: int, row_filter: RowFilter) -> LexicalMatches:
        """Return the best allowed rows that share a token with the query."""
        scores = self._compute_all_scores(query, row_filter.rows)
        if row_filter.mask is not None:
            scores[~row_filter.mask[: row_filter.rows]] = 0.0
        rows = np.flatnonzero(scores)
        if len(rows) > limit > 0:
            min_score = np.partition(scores[rows], -limit)[-limit]
            rows = rows[scores[rows] >= min_score]
        order = np.lexsort((rows, -scores[rows]))[:limit]
        return LexicalMatches(rows[order].astype(np.int64), scores[rows[order]])

    def compute_scores(self, query: LexicalWeights, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return each row's score, in the order of `rows`; 0 for rows that share no token with the query."""
        order = np.argsort(rows)
        scores = np.zeros(len(rows))
        for first, last, weight in self._find_known_tokens(query):
            token_rows = self._rows[first:last]
            places = np.searchsorted(token_rows, rows[order])
            is_present = places < len(token_rows)
            is_present[is_present] = token_rows[places[is_present]] == rows[order][is_present]
            scores[order[is_present]] += self._multiply_weights(first + places[is_present], weight)
        return _round_scores(scores)

    def read_by_row(self) -> LexicalRows:
        """Return all weights, arranged by row. Reads the whole index."""
        values = np.asarray(self._weights).view(
            np.int16
        )  # SciPy does not support half precision; values are only moved
        # Columns are the distinct tokens, in ascending order.
        matrix = csc_array((values, self._rows, self._offsets), shape=(self._count, len(self._tokens))).tocsr()
        weights: NDArray[np.float16] = matrix.data.view(np.float16)
        return LexicalRows(matrix.indptr.astype(np.int64), self._tokens[matrix.indices], weights)

    def _compute_all_scores(self, query: LexicalWeights, rows: int) -> NDArray[np.float64]:
        """Return the scores of the first `rows` rows."""
        scores = np.zeros(rows)
        for first, last, weight in self._find_known_tokens(query):
            token_rows = slice(first, first + int(np.searchsorted(self._rows[first:last], rows)))
            scores[self._rows[token_rows]] += self._multiply_weights(token_rows, weight)
        return _round_scores(scores)

    def _find_known_tokens(self, query: LexicalWeights) -> Iterable[tuple[int, int, float]]:
        """Yield, for each of the query's tokens that is in the index, the start and end of its rows and its weight in
        the query."""
        places = np.searchsorted(self._tokens, query.tokens)
        for token, place, weight in zip(query.tokens.tolist(), places.tolist(), query.weights.tolist(), strict=True):
            if place < len(self._tokens) and int(self._tokens[place]) == token:
                yield int(self._offsets[place]), int(self._offsets[place + 1]), weight

    def _multiply_weights(self, places: slice | NDArray[np.int64], weight: float) -> NDArray[np.float64]:
        products: NDArray[np.float64] = self._weights[places].astype(np.float64) * weight
        return products

    @cached_property
    def _tokens(self) -> NDArray[np.int32]:
        return load_array(self._directory / _TOKENS, None)

    @cached_property
    def _offsets(self) -> NDArray[np.int64]:
        return load_array(self._directory / _OFFSETS, None)

    @cached_property
    def _rows(self) -> NDArray[np.int32]:
        return load_array(self._directory / _ROWS)

    @cached_property
    def _weights(self) -> NDArray[np.float16]:
        return load_array(self._directory / _WEIGHTS)


def _round_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round scores to six decimals, like cosines."""
    return np.round(scores, 6)


def write_lexical_index(directory: Path, spool: LexicalSpool) -> None:
    """Write the index for all rows in the spool. The spool is read twice, block by block, so that memory use does not
    grow with the number of rows."""
    counts: dict[int, int] = {}
    for block in spool.read_blocks():
        distinct, times = np.unique(block.tokens, return_counts=True)
        for token, count in zip(distinct.tolist(), times.tolist(), strict=True):
            counts[token] = counts.get(token, 0) + count
    tokens = np.array(sorted(counts), np.int32)
    offsets = np.concatenate([[0], np.cumsum([counts[token] for token in tokens.tolist()], dtype=np.int64)])
    offsets = offsets.astype(np.int64)
    np.save(directory / _TOKENS, tokens)
    np.save(directory / _OFFSETS, offsets)
    rows = _create_file(directory / _ROWS, np.dtype(np.int32), int(offsets[-1]))
    weights = _create_file(directory / _WEIGHTS, np.dtype(np.float16), int(offsets[-1]))
    next_free, start = offsets[:-1].copy(), 0
    for block in spool.read_blocks():
        row_numbers = start + np.repeat(np.arange(len(block.offsets) - 1, dtype=np.int32), np.diff(block.offsets))
        columns = np.searchsorted(tokens, block.tokens)
        order = np.argsort(columns, kind="stable")  # rows of a token stay in their order
        columns = columns[order]
        distinct, first, times = np.unique(columns, return_index=True, return_counts=True)
        places = np.repeat(next_free[distinct] - first, times) + np.arange(len(columns))
        rows[places], weights[places] = row_numbers[order], block.weights[order]
        next_free[distinct] += times
        start += len(block.offsets) - 1


def _create_file(path: Path, kind: np.dtype[Any], entries: int) -> NDArray[Any]:
    if not entries:
        np.save(path, np.empty(0, kind))
        return np.empty(0, kind)
    return create_memory_map(path, kind, (entries,))
