"""Find candidate papers and passages for queries in all segments of one version: by cosine, BM25 and, if the corpus
stores them, lexical weights.

Merging the segments' results loses nothing: cosines and lexical scores are comparable across segments, and all segments
share one BM25 index."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assayer.models import Filters
from assayer.ports import LexicalWeights, Vectors
from index.search.hybrid_ranking import HybridMatches, QueryCandidates
from index.segments.bm25_index import Bm25Index, Bm25Matches
from index.segments.gpus import Gpus
from index.segments.lexical_index import LexicalIndex, LexicalMatches
from index.segments.segment import PAPERS_FOLDER, PASSAGES_FOLDER, Segment
from index.segments.vector_index import VectorMatches

Units = NDArray[np.int64]
_NO_UNITS: Units = np.empty(0, np.int64)


class WeighedQuery(NamedTuple):
    text: str
    lexical: LexicalWeights


Query: TypeAlias = str | WeighedQuery
"""Query text, with its lexical weights if the corpus stores lexical weights. Without them, only cosine and BM25 are
used."""


class UnitNumbers:
    """Numbering of papers and passages across segments. A number is called a unit. The papers of all segments come
    first, in segment order, then the passages of all segments."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.papers = np.array([0, *accumulate(len(segment) for segment in segments)], np.int64)
        """Unit of each segment's first paper, and last the total number of papers."""
        passages = np.array([0, *accumulate(len(segment.passage_locations) for segment in segments)], np.int64)
        self.passages = self.papers[-1] + passages
        self._paper_starts: list[int] = self.papers.tolist()
        self._passage_starts: list[int] = self.passages.tolist()

    def is_paper(self, unit: int) -> bool:
        return unit < self._paper_starts[-1]

    def locate(self, unit: int) -> tuple[int, int]:
        """Return a unit's segment number and its row in that segment."""
        starts = self._paper_starts if self.is_paper(unit) else self._passage_starts
        number = bisect_right(starts, unit) - 1
        return number, unit - starts[number]


class HybridSearch:
    def __init__(self, segments: Sequence[Segment], bm25_folder: Path) -> None:
        self._segments = segments
        self.units = UnitNumbers(segments)
        self._paper_bm25, self._passage_bm25 = (
            Bm25Index(bm25_folder / PAPERS_FOLDER),
            Bm25Index(bm25_folder / PASSAGES_FOLDER),
        )

    @cached_property
    def _segment_by_ordinal(self) -> dict[int, int]:
        return {segment.entry.ordinal: number for number, segment in enumerate(self._segments)}

    def move_to(self, gpus: Gpus) -> None:
        """Copy all vectors to the GPUs. Raises ConfigurationError if they do not fit."""
        for segment in self._segments:
            for index in (segment.papers, segment.passages):
                if index is not None:
                    index.move_to(gpus)

    def nearest_papers(
        self, vectors: Vectors, limit: int, filters: Filters, excluded: Iterable[int]
    ) -> list[VectorMatches]:
        """Return, for each vector, the nearest papers as units, among those that pass the filters and are not in
        `excluded`."""
        excluded_units = np.array(sorted(excluded), np.int64)
        each = [
            segment.papers.nearest(vectors, limit + len(excluded_units), segment.row_filter(filters))
            for segment in self._segments
        ]
        return _merge_matches(each, self.units.papers, limit, len(vectors), excluded_units)

    def similarities(self, query: NDArray[np.float32], units: Sequence[int]) -> list[float]:
        """Return the cosine between a query and each unit, in the order of `units`."""
        asked = np.asarray(units, np.int64)
        cosines = np.zeros(len(asked))
        for number, segment in enumerate(self._segments):
            for starts, index in ((self.units.papers, segment.papers), (self.units.passages, segment.passages)):
                here = (asked >= starts[number]) & (asked < starts[number + 1])
                if index is not None and here.any():
                    cosines[here] = index.similarities(query, asked[here] - starts[number])
        values: list[float] = cosines.tolist()
        return values

    def candidates(
        self,
        queries: Sequence[Query],
        vectors: Vectors,
        depth: int,
        filters: Filters,
        excluded: frozenset[int],
        with_passages: bool,
    ) -> list[QueryCandidates]:
        """Return the candidates for each query before fusion: up to `depth` from each ranking, without the units in
        `excluded`."""
        nearest = self.nearest_papers(vectors, depth, filters, excluded)
        papers = [
            self._matches(self._paper_bm25, near, query, depth, filters, excluded)
            for query, near in zip(queries, nearest, strict=True)
        ]
        passages: Sequence[HybridMatches | None] = [None] * len(queries)
        if with_passages and self.units.passages[-1] > self.units.passages[0]:
            nearest = self._nearest_passages(vectors, depth, filters, excluded)
            passages = [
                self._matches(self._passage_bm25, near, query, depth, filters, excluded)
                for query, near in zip(queries, nearest, strict=True)
            ]
        all_candidates = []
        for query, vector, first, second in zip(queries, vectors, papers, passages, strict=True):
            named = _collect_units((first, second))
            cosines = dict(zip(named, self.similarities(vector, named), strict=True))
            all_candidates.append(QueryCandidates(first, second, depth, cosines, self._lexical_scores(query, named)))
        return all_candidates

    def _matches(
        self,
        index: Bm25Index,
        near: VectorMatches,
        query: Query,
        depth: int,
        filters: Filters,
        excluded: frozenset[int],
    ) -> HybridMatches:
        text = query if isinstance(query, str) else query.text
        by_bm25 = self._bm25_matches(index, text, depth, filters, excluded)
        if isinstance(query, str):
            return HybridMatches(near, by_bm25)
        passages = index is self._passage_bm25
        return HybridMatches(near, by_bm25, self._lexical_matches(passages, query.lexical, depth, filters, excluded))

    def _lexical_matches(
        self, passages: bool, query: LexicalWeights, depth: int, filters: Filters, excluded: frozenset[int]
    ) -> LexicalMatches:
        """Search the lexical indexes of papers or passages, and return the matches as units."""
        excluded_units = self._passages_of(excluded) if passages else np.array(sorted(excluded), np.int64)
        units, scores = [_NO_UNITS], [np.empty(0)]
        for start, index, segment in self._lexical_indexes(passages):
            allowed = segment.passage_row_filter(filters) if passages else segment.row_filter(filters)
            nearest = index.nearest(query, depth + len(excluded_units), allowed)
            units.append(nearest.rows + start)
            scores.append(nearest.scores)
        all_units, all_scores = np.concatenate(units), np.concatenate(scores)
        kept = np.flatnonzero(~np.isin(all_units, excluded_units))
        order = kept[np.lexsort((all_units[kept], -all_scores[kept]))][:depth]
        return LexicalMatches(all_units[order], all_scores[order])

    def _lexical_scores(self, query: Query, units: Sequence[int]) -> dict[int, float]:
        """Return the lexical score of each unit; empty if the query has no weights."""
        if isinstance(query, str):
            return {}
        asked = np.asarray(units, np.int64)
        scores = np.zeros(len(asked))
        for passages in (False, True):
            for start, index, _ in self._lexical_indexes(passages):
                here = (asked >= start) & (asked < start + len(index))
                if here.any():
                    scores[here] = index.scores(query.lexical, asked[here] - start)
        return dict(zip(units, scores.tolist(), strict=True))

    def _lexical_indexes(self, passages: bool) -> Iterator[tuple[int, LexicalIndex, Segment]]:
        """Yield each lexical index with its first unit and its segment."""
        starts = self.units.passages if passages else self.units.papers
        for start, segment in zip(starts.tolist(), self._segments, strict=False):
            index = segment.passage_weights if passages else segment.paper_weights
            if index is not None:
                yield start, index, segment

    def _nearest_passages(
        self, vectors: Vectors, limit: int, filters: Filters, excluded: frozenset[int]
    ) -> list[VectorMatches]:
        excluded_units = self._passages_of(excluded)
        each = [
            segment.passages.nearest(vectors, limit + len(excluded_units), segment.passage_row_filter(filters))
            if segment.passages
            else []
            for segment in self._segments
        ]
        return _merge_matches(each, self.units.passages, limit, len(vectors), excluded_units)

    def _bm25_matches(
        self, index: Bm25Index, query: str, depth: int, filters: Filters, excluded: frozenset[int]
    ) -> Bm25Matches:
        """Search a BM25 index, and return the matches as units."""
        starts = self.units.papers if index is self._paper_bm25 else self.units.passages
        excluded_units = (
            np.array(sorted(excluded), np.int64) if index is self._paper_bm25 else self._passages_of(excluded)
        )
        hits = index.search(query, depth + len(excluded_units), filters)
        numbers = [self._segment_by_ordinal[item >> 32] for item in hits.documents.tolist()]
        units = starts[numbers] + (hits.documents & 0xFFFFFFFF) if numbers else _NO_UNITS
        if len(excluded_units):
            kept = ~np.isin(units, excluded_units)
            return Bm25Matches(units[kept][:depth], hits.scores[kept][:depth])
        return Bm25Matches(units[:depth], hits.scores[:depth])

    def _passages_of(self, papers: Iterable[int]) -> Units:
        units = [_NO_UNITS]
        for unit in sorted(papers):
            number, row = self.units.locate(unit)
            units.append(self.units.passages[number] + self._segments[number].passages_of(np.array([row])))
        return np.concatenate(units)


def _collect_units(each: Sequence[HybridMatches | None]) -> list[int]:
    """Return the distinct units in all rankings, in order of appearance."""
    named = dict[int, None]()
    for matches in each:
        if matches is not None:
            lexical = matches.by_lexical.rows.tolist() if matches.by_lexical else ()
            named |= dict.fromkeys((*matches.by_vector.rows.tolist(), *matches.by_bm25.documents.tolist(), *lexical))
    return list(named)


def _merge_matches(
    each: Sequence[Sequence[VectorMatches]], starts: Units, limit: int, queries: int, excluded: Units
) -> list[VectorMatches]:
    """Merge the segments' matches for each query, and return the best as units."""
    merged = []
    for query in range(queries):
        parts = [(matches[query], start) for matches, start in zip(each, starts, strict=False) if matches]
        units = np.concatenate([_NO_UNITS, *(part.rows + start for part, start in parts)])
        similarities = np.concatenate([np.empty(0), *(part.similarities for part, _ in parts)])
        if len(excluded):
            kept = ~np.isin(units, excluded)
            units, similarities = units[kept], similarities[kept]
        if len(parts) > 1:
            order = np.lexsort((units, -similarities))
            units, similarities = units[order], similarities[order]
        merged.append(VectorMatches(units[:limit], similarities[:limit]))
    return merged
