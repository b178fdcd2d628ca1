"""Look up the papers that many papers cite, or that cite them, at once: in arrays, without reading records."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.models import Filters, PaperId
from index.hashing import Hashes
from index.segments.segment import Segment

Units = NDArray[np.int64]
"""Numbers of papers within a version, counted across all its segments."""


class CitationSteps:
    """Looks up citations in all segments of a version."""

    def __init__(
        self, segments: Sequence[Segment], first_units: Units, filters: Filters, excluded_units: Collection[int]
    ) -> None:
        """Restrict results to papers that pass the filters and are not in `excluded_units`. A unit is a paper's number
        within the version; `first_units` contains the unit of each segment's first paper."""
        self._segments = [(int(start), segment) for start, segment in zip(first_units, segments, strict=False)]
        self._filters = filters
        self._excluded_units = np.array(sorted(excluded_units), np.int64)

    def find_cited(self, lists: Sequence[Hashes], limit: int) -> list[Units]:
        """Return the papers for each list of hashed ids: up to `limit` distinct papers, in list order."""
        hashes = np.concatenate([np.empty(0, np.uint64), *lists])
        owners = np.repeat(np.arange(len(lists)), [len(id_hashes) for id_hashes in lists])
        matches = [self._find_hashed(hashes, start, segment) for start, segment in self._segments]
        places = np.concatenate([np.empty(0, np.int64), *(matched_places for matched_places, _ in matches)])
        units = np.concatenate([np.empty(0, np.int64), *(matched_units for _, matched_units in matches)])
        order = np.argsort(places, kind="stable")
        owners, units = owners[places[order]], units[order]
        _, first = np.unique(np.stack([owners, units]), axis=1, return_index=True) if len(units) else (None, owners)
        kept_positions = np.sort(first)
        ends = np.searchsorted(owners[kept_positions], np.arange(1, len(lists)))
        return [part[:limit] for part in np.split(units[kept_positions], ends)] if lists else []

    def find_citing(self, hashes: Hashes, limit: int) -> list[Units]:
        """Return, for each hashed id, up to `limit` papers that cite it, newest first and undated papers last."""
        units_by_place: list[list[Units]] = [[] for _ in hashes]
        days: list[list[NDArray[np.int32]]] = [[] for _ in hashes]
        for start, segment in self._segments:
            first, last = segment.citations.citing_rows.find_ranges(hashes)
            for place in np.flatnonzero(last > first).tolist():
                rows = segment.find_newest_citing(int(hashes[place]), limit + len(self._excluded_units), self._filters)
                units = self._drop_excluded(rows + start)
                units_by_place[place].append(units)
                days[place].append(segment.store.get_day_numbers(units - start))
        return [_merge_newest(units, unit_days, limit) for units, unit_days in zip(units_by_place, days, strict=True)]

    def get_paper_ids(self, units: Units) -> list[PaperId]:
        """Return the papers' ids, in the order of `units`."""
        distinct, places = np.unique(units, return_inverse=True)
        paper_ids: list[PaperId] = []
        for start, segment in self._segments:
            first, last = np.searchsorted(distinct, [start, start + len(segment)])
            paper_ids += segment.store.get_paper_ids(distinct[first:last] - start)
        return [paper_ids[place] for place in places.tolist()]

    def _find_hashed(self, hashes: Hashes, start: int, segment: Segment) -> tuple[Units, Units]:
        """Return positions in `hashes`, and the unit found for each."""
        places, rows = segment.store.by_hash.find_matches(hashes)
        row_filter = segment.get_row_filter(self._filters)
        passes = row_filter.allows(rows)
        units = rows[passes] + start
        is_kept = ~np.isin(units, self._excluded_units)
        return places[passes][is_kept], units[is_kept]

    def _drop_excluded(self, units: Units) -> Units:
        return units[~np.isin(units, self._excluded_units)] if len(self._excluded_units) else units


def _merge_newest(units: Sequence[Units], days: Sequence[NDArray[np.int32]], limit: int) -> Units:
    """Merge units from several segments, each newest first, and return the newest `limit`."""
    if len(units) <= 1:
        return units[0][:limit] if units else np.empty(0, np.int64)
    all_units = np.concatenate(units)
    return all_units[np.lexsort((-all_units, -np.concatenate(days).astype(np.int64)))][:limit]
