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

    def find_nearest_papers(
        self, vectors: Vectors, limit: int, filters: Filters, excluded: Iterable[int]
    ) -> list[VectorMatches]:
        """Return, for each vector, the nearest papers as units, among those that pass the filters and are not in
        `excluded`."""
        excluded_units = np.array(sorted(excluded), np.int64)
        matches_by_segment = [
            segment.papers.find_nearest(vectors, limit + len(excluded_units), segment.get_row_filter(filters))
            for segment in self._segments
        ]
        return _merge_matches(matches_by_segment, self.units.papers, limit, len(vectors), excluded_units)

    def compute_similarities(self, query: NDArray[np.float32], units: Sequence[int]) -> list[float]:
        """Return the cosine between a query and each unit, in the order of `units`."""
        unit_array = np.asarray(units, np.int64)
        cosines = np.zeros(len(unit_array))
        for number, segment in enumerate(self._segments):
            for starts, index in ((self.units.papers, segment.papers), (self.units.passages, segment.passages)):
                in_segment = (unit_array >= starts[number]) & (unit_array < starts[number + 1])
                if index is not None and in_segment.any():
                    cosines[in_segment] = index.compute_similarities(query, unit_array[in_segment] - starts[number])
        values: list[float] = cosines.tolist()
        return values

    def find_candidates(
        self,
        queries: Sequence[Query],
        vectors: Vectors,
        depth: int,
        filters: Filters,
        excluded_units: frozenset[int],
        with_passages: bool,
    ) -> list[QueryCandidates]:
        """Return the candidates for each query before fusion: up to `depth` from each ranking, without the units in
        `excluded_units`."""
        nearest = self.find_nearest_papers(vectors, depth, filters, excluded_units)
        papers = [
            self._find_matches(self._paper_bm25, vector_matches, query, depth, filters, excluded_units)
            for query, vector_matches in zip(queries, nearest, strict=True)
        ]
        passages: Sequence[HybridMatches | None] = [None] * len(queries)
        if with_passages and self.units.passages[-1] > self.units.passages[0]:
            nearest = self._find_nearest_passages(vectors, depth, filters, excluded_units)
            passages = [
                self._find_matches(self._passage_bm25, vector_matches, query, depth, filters, excluded_units)
                for query, vector_matches in zip(queries, nearest, strict=True)
            ]
        all_candidates = []
        for query, vector, paper_matches, passage_matches in zip(queries, vectors, papers, passages, strict=True):
            unit_list = _collect_units((paper_matches, passage_matches))
            cosines = dict(zip(unit_list, self.compute_similarities(vector, unit_list), strict=True))
            all_candidates.append(
                QueryCandidates(
                    paper_matches, passage_matches, depth, cosines, self._compute_lexical_scores(query, unit_list)
                )
            )
        return all_candidates

    def _find_matches(
        self,
        index: Bm25Index,
        vector_matches: VectorMatches,
        query: Query,
        depth: int,
        filters: Filters,
        excluded: frozenset[int],
    ) -> HybridMatches:
        text = query if isinstance(query, str) else query.text
        by_bm25 = self._find_bm25_matches(index, text, depth, filters, excluded)
        if isinstance(query, str):
            return HybridMatches(vector_matches, by_bm25)
        passages = index is self._passage_bm25
        return HybridMatches(
            vector_matches, by_bm25, self._find_lexical_matches(passages, query.lexical, depth, filters, excluded)
        )

    def _find_lexical_matches(
        self, in_passages: bool, query: LexicalWeights, depth: int, filters: Filters, excluded: frozenset[int]
    ) -> LexicalMatches:
        """Search the lexical indexes of papers or passages, and return the matches as units."""
        excluded_units = self._list_passages_of(excluded) if in_passages else np.array(sorted(excluded), np.int64)
        units, scores = [_NO_UNITS], [np.empty(0)]
        for start, index, segment in self._list_lexical_indexes(in_passages):
            row_filter = segment.get_passage_row_filter(filters) if in_passages else segment.get_row_filter(filters)
            matches = index.find_nearest(query, depth + len(excluded_units), row_filter)
            units.append(matches.rows + start)
            scores.append(matches.scores)
        all_units, all_scores = np.concatenate(units), np.concatenate(scores)
        kept_positions = np.flatnonzero(~np.isin(all_units, excluded_units))
        order = kept_positions[np.lexsort((all_units[kept_positions], -all_scores[kept_positions]))][:depth]
        return LexicalMatches(all_units[order], all_scores[order])

    def _compute_lexical_scores(self, query: Query, units: Sequence[int]) -> dict[int, float]:
        """Return the lexical score of each unit; empty if the query has no weights."""
        if isinstance(query, str):
            return {}
        unit_array = np.asarray(units, np.int64)
        scores = np.zeros(len(unit_array))
        for in_passages in (False, True):
            for start, index, _ in self._list_lexical_indexes(in_passages):
                in_index = (unit_array >= start) & (unit_array < start + len(index))
                if in_index.any():
                    scores[in_index] = index.compute_scores(query.lexical, unit_array[in_index] - start)
        return dict(zip(units, scores.tolist(), strict=True))

    def _list_lexical_indexes(self, in_passages: bool) -> Iterator[tuple[int, LexicalIndex, Segment]]:
        """Yield each lexical index with its first unit and its segment."""
        starts = self.units.passages if in_passages else self.units.papers
        for start, segment in zip(starts.tolist(), self._segments, strict=False):
            index = segment.passage_weights if in_passages else segment.paper_weights
            if index is not None:
                yield start, index, segment

    def _find_nearest_passages(
        self, vectors: Vectors, limit: int, filters: Filters, excluded: frozenset[int]
    ) -> list[VectorMatches]:
        excluded_units = self._list_passages_of(excluded)
        matches_by_segment = [
            segment.passages.find_nearest(vectors, limit + len(excluded_units), segment.get_passage_row_filter(filters))
            if segment.passages
            else []
            for segment in self._segments
        ]
        return _merge_matches(matches_by_segment, self.units.passages, limit, len(vectors), excluded_units)

    def _find_bm25_matches(
        self, index: Bm25Index, query: str, depth: int, filters: Filters, excluded: frozenset[int]
    ) -> Bm25Matches:
        """Search a BM25 index, and return the matches as units."""
        starts = self.units.papers if index is self._paper_bm25 else self.units.passages
        excluded_units = (
            np.array(sorted(excluded), np.int64) if index is self._paper_bm25 else self._list_passages_of(excluded)
        )
        hits = index.search(query, depth + len(excluded_units), filters)
        numbers = [self._segment_by_ordinal[document >> 32] for document in hits.documents.tolist()]
        units = starts[numbers] + (hits.documents & 0xFFFFFFFF) if numbers else _NO_UNITS
        if len(excluded_units):
            is_kept = ~np.isin(units, excluded_units)
            return Bm25Matches(units[is_kept][:depth], hits.scores[is_kept][:depth])
        return Bm25Matches(units[:depth], hits.scores[:depth])

    def _list_passages_of(self, papers: Iterable[int]) -> Units:
        units = [_NO_UNITS]
        for unit in sorted(papers):
            number, row = self.units.locate(unit)
            units.append(self.units.passages[number] + self._segments[number].find_passage_rows(np.array([row])))
        return np.concatenate(units)


def _collect_units(matches_by_ranking: Sequence[HybridMatches | None]) -> list[int]:
    """Return the distinct units in all rankings, in order of appearance."""
    units = dict[int, None]()
    for matches in matches_by_ranking:
        if matches is not None:
            lexical = matches.by_lexical.rows.tolist() if matches.by_lexical else ()
            units |= dict.fromkeys((*matches.by_vector.rows.tolist(), *matches.by_bm25.documents.tolist(), *lexical))
    return list(units)


def _merge_matches(
    matches_by_segment: Sequence[Sequence[VectorMatches]], starts: Units, limit: int, queries: int, excluded: Units
) -> list[VectorMatches]:
    """Merge the segments' matches for each query, and return the best as units."""
    merged = []
    for query in range(queries):
        parts = [(matches[query], start) for matches, start in zip(matches_by_segment, starts, strict=False) if matches]
        units = np.concatenate([_NO_UNITS, *(part.rows + start for part, start in parts)])
        similarities = np.concatenate([np.empty(0), *(part.similarities for part, _ in parts)])
        if len(excluded):
            is_kept = ~np.isin(units, excluded)
            units, similarities = units[is_kept], similarities[is_kept]
        if len(parts) > 1:
            order = np.lexsort((units, -similarities))
            units, similarities = units[order], similarities[order]
        merged.append(VectorMatches(units[:limit], similarities[:limit]))
    return merged
