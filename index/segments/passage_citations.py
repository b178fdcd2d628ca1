"""What each passage of a segment cites, as the keys of the cited works in memory-mapped arrays."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.models import PaperId
from index.records.paper_record import CitedInText
from index.segments.paper_keys import KEYS_OF_WORK, NO_KEY, keys_of_work
from index.segments.paper_store import PaperStore
from index.segments.passages import PassageLocation

__all__ = ["CitedKeys", "PassageCitations", "keys_in", "papers_cited", "write_passage_citations"]

_STARTS, _KEYS = "cited-starts.npy", "cited-keys.npy"

CitedKeys = Sequence[Sequence[int]]
"""Of each cited work its keys, as `keys_of_work` gives them."""


def write_passage_citations(store: PaperStore, places: NDArray[np.int32], directory: Path) -> None:
    """`places` with columns as in PassageLocation, sorted by paper. Nothing is written where no text cites anything."""
    citing = store.rows_citing_in_text
    if not len(citing):
        return
    cited: dict[int, NDArray[np.uint64]] = {}
    for row in citing.tolist():
        first, last = np.searchsorted(places[:, 0], [row, row + 1]).tolist()
        works = store.cited_in_text(row)
        for passage, numbers in _works_by_passage(works, places[first:last]).items():
            cited[first + passage] = np.stack([keys_of_work(works[number]) for number in numbers])
    counts = np.zeros(len(places), np.int64)
    counts[list(cited)] = [len(keys) for keys in cited.values()]
    np.save(directory / _STARTS, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    np.save(directory / _KEYS, np.concatenate([np.empty((0, KEYS_OF_WORK), np.uint64), *cited.values()]))


def _works_by_passage(works: Sequence[CitedInText], places: NDArray[np.int32]) -> dict[int, list[int]]:
    """Numbers of works, in the order of the text, by the passage of one paper; passages in their order."""
    starts = [(spot.section, spot.start) for spot in (PassageLocation(*columns) for columns in places.tolist())]
    marks = sorted((tuple(place), number) for number, work in enumerate(works) for place in work.at)
    found: dict[int, dict[int, None]] = {}
    for (section, character), number in marks:
        passage = bisect_right(starts, (section, character)) - 1
        if passage >= 0 and starts[passage][0] == section:
            found.setdefault(passage, {})[number] = None
    return {passage: list(found[passage]) for passage in sorted(found)}


class PassageCitations:
    def __init__(self, directory: Path) -> None:
        """Nothing is cited where the files are not there."""
        self._starts: NDArray[np.int64] | None = None
        if (directory / _STARTS).is_file():
            self._starts = np.asarray(np.load(directory / _STARTS, mmap_mode="r"))
            self._keys: NDArray[np.uint64] = np.asarray(np.load(directory / _KEYS, mmap_mode="r"))

    def cited(self, passage: int) -> list[list[int]]:
        """Of one passage, in the order of its text."""
        if self._starts is None:
            return []
        found: list[list[int]] = self._keys[self._starts[passage] : self._starts[passage + 1]].tolist()
        return found


def keys_in(passages: Iterable[CitedKeys]) -> set[int]:
    """All keys of all works that some passages cite."""
    return {key for works in passages for keys in works for key in keys if key != NO_KEY}


def papers_cited(works: CitedKeys, found: Mapping[int, Sequence[PaperId]]) -> tuple[PaperId, ...]:
    """Of each work the one paper that its surest key leads to, each paper once. A key that leads to several papers
    tells none of them."""
    papers: dict[PaperId, None] = {}
    for keys in works:
        known = next((found[key] for key in keys if key != NO_KEY and found.get(key)), ())
        if len(known) == 1:
            papers[known[0]] = None
    return tuple(papers)
