"""Works that each passage in a segment cites, as keys in memory-mapped arrays."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.models import PaperId
from index.arrays import load_array
from index.records.paper_record import CitedInText
from index.segments.paper_keys import KEYS_OF_WORK, NO_KEY, compute_keys_of_work
from index.segments.paper_store import PaperStore
from index.segments.passages import PassageLocation

_STARTS, _KEYS = "cited-starts.npy", "cited-keys.npy"

CitedKeys = Sequence[Sequence[int]]
"""Keys of each cited work, as returned by `compute_keys_of_work`."""


def write_passage_citations(store: PaperStore, places: NDArray[np.int32], directory: Path) -> None:
    """Write the works that each passage cites. `places` must be the passage locations, with the columns of
    PassageLocation, sorted by paper. If no text cites a work, no file is written."""
    citing_rows = store.rows_citing_in_text
    if not len(citing_rows):
        return
    keys_by_passage: dict[int, NDArray[np.uint64]] = {}
    for row in citing_rows.tolist():
        first, last = np.searchsorted(places[:, 0], [row, row + 1]).tolist()
        works = store.get_cited_in_text(row)
        for passage, numbers in _group_works_by_passage(works, places[first:last]).items():
            keys_by_passage[first + passage] = np.stack([compute_keys_of_work(works[number]) for number in numbers])
    counts = np.zeros(len(places), np.int64)
    counts[list(keys_by_passage)] = [len(keys) for keys in keys_by_passage.values()]
    np.save(directory / _STARTS, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    np.save(directory / _KEYS, np.concatenate([np.empty((0, KEYS_OF_WORK), np.uint64), *keys_by_passage.values()]))


def _group_works_by_passage(works: Sequence[CitedInText], places: NDArray[np.int32]) -> dict[int, list[int]]:
    """Return, for each of a paper's passages that cites any, the positions in `works` of the works that it cites, in
    text order."""
    starts = [(spot.section, spot.start) for spot in (PassageLocation(*columns) for columns in places.tolist())]
    marks = sorted((tuple(place), number) for number, work in enumerate(works) for place in work.at)
    works_of: dict[int, dict[int, None]] = {}
    for (section, character), number in marks:
        passage = bisect_right(starts, (section, character)) - 1
        if passage >= 0 and starts[passage][0] == section:
            works_of.setdefault(passage, {})[number] = None
    return {passage: list(works_of[passage]) for passage in sorted(works_of)}


class PassageCitations:
    def __init__(self, directory: Path) -> None:
        """Open the passage citations. If the files do not exist, there are none."""
        self._starts: NDArray[np.int64] | None = None
        if (directory / _STARTS).is_file():
            self._starts = load_array(directory / _STARTS)
            self._keys: NDArray[np.uint64] = load_array(directory / _KEYS)

    def get_cited_keys(self, passage: int) -> list[list[int]]:
        """Return the keys of the works that a passage cites, in text order."""
        if self._starts is None:
            return []
        works: list[list[int]] = self._keys[self._starts[passage] : self._starts[passage + 1]].tolist()
        return works


def collect_keys(passages: Iterable[CitedKeys]) -> set[int]:
    """Return the keys of all works that the passages cite."""
    return {key for works in passages for keys in works for key in keys if key != NO_KEY}


def find_cited_papers(works: CitedKeys, papers_by_key: Mapping[int, Sequence[PaperId]]) -> tuple[PaperId, ...]:
    """Return the distinct papers that match the works. A work is matched by its most reliable key in `papers_by_key`;
    if several papers have that key, the work matches none."""
    papers: dict[PaperId, None] = {}
    for keys in works:
        candidates = next((papers_by_key[key] for key in keys if key != NO_KEY and papers_by_key.get(key)), ())
        if len(candidates) == 1:
            papers[candidates[0]] = None
    return tuple(papers)
